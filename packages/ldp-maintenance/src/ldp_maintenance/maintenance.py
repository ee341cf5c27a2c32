"""One table, all that is due: the operations in their order, each for itself, within a budget."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from ldp_core.errors import CatalogError, CommitConflict, CommitUnknown, LDPError, UsageError

from ldp_maintenance.errors import Unsupported
from ldp_maintenance.model import OPERATIONS, Doing, Operation, Outcome, Target
from ldp_maintenance.policy import Policy

if TYPE_CHECKING:
    from pathlib import Path

    from ldp_core.config import Config
    from pyiceberg.table import Table

    from ldp_maintenance.addressing import Neighbours
    from ldp_maintenance.layout import Layout
    from ldp_maintenance.telling import Audit

logger = logging.getLogger("ldp")

HOMES: Mapping[Operation, tuple[str, str]] = {
    "apply-properties": ("properties", "apply_properties"),
    "evolve-partitions": ("evolve.run", "evolve_partitions"),
    "rewrite-data-files": ("rewrite.run", "rewrite_data_files"),
    "remove-dangling-deletes": ("dangling", "remove_dangling_deletes"),
    "rewrite-manifests": ("manifests", "rewrite_manifests"),
    "expire-snapshots": ("expire", "expire_snapshots"),
    "remove-orphans": ("orphans.run", "remove_orphans"),
}
"""Where each operation is, when this process does it."""
_DELETES: frozenset[Operation] = frozenset({"expire-snapshots", "remove-orphans"})
_SWITCHES: Mapping[Operation, str] = {
    "evolve-partitions": "evolution",
    "remove-dangling-deletes": "dangling_deletes",
    "rewrite-manifests": "manifests.enabled",
    "expire-snapshots": "expire.enabled",
    "remove-orphans": "orphans.enabled",
}
"""The setting that turns an operation off."""


@dataclass(frozen=True)
class Maintained:
    """What a run did to a table, or would do.

    Attributes:
        table: ``namespace.table``.
        dry_run: Whether it was a preview.
        outcomes: Of each operation, in their order.
        before: The table's numbers before.
        after: And after; None where nothing changed.
        notes: Lines that a person should know.
        uuid: The table's.
    """

    table: str
    dry_run: bool
    outcomes: tuple[Outcome, ...] = ()
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    uuid: str | None = None

    @property
    def changed(self) -> bool:
        """Whether anything took effect; an operation that failed may have committed a part of its work."""
        return not self.dry_run and any(one.status == "done" or one.snapshots for one in self.outcomes)

    @property
    def errors(self) -> tuple[Outcome, ...]:
        """The operations that were refused or failed."""
        return tuple(one for one in self.outcomes if one.status in ("refused", "failed"))

    def of(self, operation: Operation) -> Outcome | None:
        """What became of an operation; None where it was not asked for."""
        return next((one for one in self.outcomes if one.operation == operation), None)

    def lines(self) -> tuple[str, ...]:
        """For people: each operation, then the numbers before and after."""
        from ldp_maintenance.shown import lines_of

        return tuple(lines_of(self))

    def to_dict(self) -> dict[str, Any]:
        """As JSON; snapshot ids are text."""
        found: dict[str, Any] = {
            "table": self.table,
            "dry_run": self.dry_run,
            "operations": [one.to_dict() for one in self.outcomes],
            "before": self.before,
            "after": self.after,
        }
        if self.notes:
            found["notes"] = list(self.notes)
        if self.errors:
            found["error"] = self.errors[0].to_dict().get("error")
        return found


@dataclass(frozen=True)
class Described:
    """A table as maintenance sees it.

    Attributes:
        table: ``namespace.table``.
        layout: Its numbers; None where it cannot be measured.
        blockers: What keeps operations from running on it, a line each.
    """

    table: str
    layout: Layout | None
    blockers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Maintenance:
    """Looks after one table.

    Attributes:
        target: The table; a pyiceberg ``Table`` will do.
        policy: The settings; by default the target's, and for a ``Table`` those of its own properties.
        engine: Who does the work.
        neighbours: Where the other tables of the catalog are; asked of the catalog by default.
        config: The config that addressed the table: the event of a run and the audit of deleted files are
            written beside it, unless a run says otherwise.
    """

    target: Target | Table
    policy: Policy | None = None
    engine: str = "local"
    neighbours: Neighbours | None = field(default=None, repr=False)
    config: Config | None = None

    @classmethod
    def of_config(cls, path: str | Path, env: str | None = None, *, table_config: str | None = None) -> Self:
        """The table that a config loads, with the settings that hold for it.

        Args:
            path: The config.
            env: The environment of ``ldp.yaml``.
            table_config: A table-config file of version 2.

        Raises:
            ConfigError: A file is not right.
            TableNotFound: The table is not there.
        """
        from ldp_maintenance.addressing import Address, find

        found = find(Address(str(path), table_config=table_config, env=env))
        return cls(found.target(found.identifiers[0]), config=found.config)

    @classmethod
    def of_table(
        cls, name: str, catalog: str, env: str | None = None, *, table_config: str | None = None
    ) -> Self:
        """A table of a catalog, with the settings that hold for it.

        Args:
            name: ``namespace.table``.
            catalog: A name of ``ldp.yaml`` or of pyiceberg's configuration, or a file that holds a catalog.
            env: The environment of ``ldp.yaml``.
            table_config: A table-config file of version 2.

        Raises:
            ConfigError: Nobody knows the catalog, or a file is not right.
            TableNotFound: The table is not there.
        """
        from ldp_maintenance.addressing import Address, find

        found = find(Address(name, catalog=catalog, table_config=table_config, env=env))
        return cls(found.target(found.identifiers[0]))

    @property
    def _target(self) -> Target:
        """The table with its settings."""
        target = self.target
        if not isinstance(target, Target):
            from ldp_maintenance.config.resolve import resolve

            *space, name = target.name()
            own = self.policy or resolve(properties=target.properties, name=".".join(target.name()))
            return Target(target.catalog, (".".join(space), name), own)
        return replace(target, policy=self.policy) if self.policy is not None else target

    def describe(self) -> Described:
        """The table's numbers, and what cannot be done to it. Changes nothing.

        Raises:
            TableNotFound: It does not exist.
        """
        from ldp_maintenance.layout import measure

        target = self._target
        found = self.plan()
        layout = measure(target) if found.before is not None else None
        blockers = tuple(f"{one.operation}: {one.reason}" for one in found.errors)
        return Described(target.name, layout, blockers)

    def plan(
        self, operations: Iterable[Operation] | None = None, *, doing: Doing | None = None
    ) -> Maintained:
        """What a run would do. Changes nothing; see ``run``."""
        return self.run(operations, doing=doing)

    def run(
        self,
        operations: Iterable[Operation] | None = None,
        *,
        commit: bool = False,
        doing: Doing | None = None,
        tell: Callable[[Maintained], object] | None = None,
    ) -> Maintained:
        """Do all that is due, or some operations, always in the same order.

        An operation that is refused or fails does not keep the later ones from running, but for this: nothing
        is deleted once nobody knows whether a commit took effect.

        Args:
            operations: Which; all that the policy has turned on by default.
            commit: Whether they take effect; a preview else.
            doing: How they run; its own ``commit`` does not count.
            tell: Told of the run when it changed something, also where it was interrupted afterwards; by
                default the ledger beside the config and the sinks of the config are.

        Raises:
            TableNotFound: The table does not exist.
            UsageError: There is no such operation.
        """
        from ldp_maintenance.addressing import Neighbours
        from ldp_maintenance.inventory import ManifestCache

        target = self._target
        how = replace(doing or Doing(), commit=commit)
        begun = how.clock()
        base = target.base()
        uuid = str(base.metadata.table_uuid)
        target = replace(target, read=ManifestCache(base.io))
        before, note = _layout(target)
        tell = tell or self._tell
        audit = self._audit(how)
        if audit is not None:
            how = replace(how, audit=audit)
        found = Maintained(target.name, not commit, before=before, notes=(note,) if note else (), uuid=uuid)
        chosen = _chosen(operations)
        around = replace(self, neighbours=self.neighbours or Neighbours(target.catalog))
        try:
            for operation in chosen:
                spent = (how.clock() - begun).total_seconds()
                outcome = around._one(
                    target, operation, _rest(how, spent, found), found, named=operations is not None
                )
                found = replace(found, outcomes=(*found.outcomes, outcome))
            if found.changed:
                after, note = _layout(target)
                found = replace(found, after=after, notes=(*found.notes, *([note] if note else [])))
        finally:
            if audit is not None:
                audit.close()
            if found.changed:
                tell(found)
        return found

    def _tell(self, found: Maintained) -> None:
        """Write the event beside the config, where there is one."""
        from ldp_maintenance.telling import tell

        if self.config is not None:
            tell(found, self.config, warn=logger.warning)

    def _audit(self, how: Doing) -> Audit | None:
        """What writes the deleted files down beside the config, where a run does not say otherwise."""
        from ldp_maintenance.telling import audit_of

        wanted = how.commit and how.audit is None and self.config is not None
        return audit_of(self.config) if wanted else None

    def _one(
        self, target: Target, operation: Operation, how: Doing, so_far: Maintained, *, named: bool
    ) -> Outcome:
        """One operation: its outcome, whatever becomes of it."""
        from ldp_maintenance.engines import operation_on

        lines: tuple[str, ...] = ()
        try:
            why = _skipped(target, operation, how, so_far, named=named)
            if why is not None:
                return Outcome(operation, "skipped", why)
            if operation in _DELETES:
                target, lines = self._with_neighbours(target, operation)
            outcome = operation_on(self.engine, operation, commit=how.commit)(target, how)
        except Unsupported as error:
            if not named:  # What is due is what can be done; the others are told of.
                return Outcome(operation, "skipped", error.message, hint=error.hint)
            return _wrong(operation, "refused", error)
        except LDPError as error:
            failed = isinstance(error, CommitConflict | CommitUnknown | CatalogError)
            return _wrong(operation, "failed" if failed else "refused", error)
        except Exception as error:
            logger.debug("%s", "".join(traceback.format_exception(error)))
            return _wrong(operation, "failed", _as_ldp_error(error))
        unwell = [one.operation for one in so_far.errors]
        if unwell and operation in _DELETES:
            lines += (f"it went on although {' and '.join(unwell)} did not work: it does not rest on that",)
        return replace(outcome, lines=(*outcome.lines, *lines)) if lines else outcome

    def _with_neighbours(self, target: Target, operation: Operation) -> tuple[Target, tuple[str, ...]]:
        """The target with what an operation that deletes has to know of the other tables, and notes."""
        from ldp_maintenance.expire import collected

        base = target.base()
        if self.neighbours is None or not collected(base):
            return target, ()
        try:
            if operation == "expire-snapshots":
                unknown = self.neighbours.refuse_other_names(target.identifier, base.metadata.location)
                return target, _unseen(unknown)
            others = target.others or self.neighbours.of(target.identifier)
            return replace(target, others=others), ()
        except CatalogError as error:
            if "nobody can tell" in error.message:
                raise LDPError(
                    error.message, hint="mend or drop that table: its files may lie in this table's folder"
                ) from error
            return target, (
                f"catalog {target.catalog.name} does not list its tables: nobody looked whether another one "
                "lies in this table's folder",
            )


def _unseen(tables: tuple[str, ...]) -> tuple[str, ...]:
    """A note on tables of which nobody can tell whether they are this one under another name."""
    if not tables:
        return ()
    lie = "lies" if len(tables) == 1 else f"and {len(tables) - 1} more lie"
    return (f"nobody can tell where {tables[0]} {lie}: it may be this table under another name",)


def _chosen(operations: Iterable[Operation] | None) -> tuple[Operation, ...]:
    wanted = OPERATIONS if operations is None else tuple(operations)
    for name in wanted:
        if name not in OPERATIONS:
            raise UsageError(f"no operation is called {name!r}; there are {', '.join(OPERATIONS)}")
    return tuple(name for name in OPERATIONS if name in wanted)


def _skipped(
    target: Target, operation: Operation, how: Doing, so_far: Maintained, *, named: bool
) -> str | None:
    """Why an operation does not run; None where it does."""
    from ldp_maintenance.expire import collected

    place = _SWITCHES.get(operation)
    if place is not None and not _on(target.policy, place):
        return f"turned off by {target.policy.origins.get(place, 'defaults')}"
    if operation == "apply-properties" and not named and not target.policy.properties:
        return "no properties are wanted"
    if operation in _DELETES and any(one.code == CommitUnknown.code for one in so_far.outcomes):
        return "nobody knows whether a commit before it took effect; run it again"
    if operation in _DELETES and not named and not collected(target.base()):
        return "the table's property gc.enabled is not true"
    if how.branch not in (None, "main") and not named and operation not in _OF_BRANCHES:
        return f"it works on main, and the branch is {how.branch}"
    if how.budget_seconds is not None and how.budget_seconds <= 0:
        return "the budget of seconds is used up; the next run goes on"
    return None


_OF_BRANCHES: frozenset[Operation] = frozenset({"rewrite-data-files", "rewrite-manifests"})


def _on(policy: Policy, place: str) -> bool:
    value: Any = policy
    for name in place.split("."):
        value = getattr(value, name)
    return bool(value)


def _rest(how: Doing, spent: float, so_far: Maintained) -> Doing:
    """What is left of the budgets."""
    seconds = None if how.budget_seconds is None else how.budget_seconds - spent
    size = how.budget_bytes
    if size is not None:
        size = max(size - sum(int(one.detail.get("rewritten_bytes") or 0) for one in so_far.outcomes), 0)
    return replace(how, budget_seconds=seconds, budget_bytes=size)


def _wrong(operation: Operation, status: Any, error: LDPError) -> Outcome:
    return Outcome(operation, status, error.message, error.code, error.hint, error=error)


def _as_ldp_error(error: Exception) -> LDPError:
    from ldp_core.config.secrets import mask

    first = (str(error).strip().splitlines() or [""])[0]
    return LDPError(mask(f"{type(error).__name__}: {first}" if first else type(error).__name__))


def _layout(target: Target) -> tuple[dict[str, Any] | None, str | None]:
    """The table's numbers, or why there are none; that is for the operations to refuse."""
    from ldp_maintenance.layout import layout_of

    try:
        return layout_of(target), None
    except Exception as error:
        return None, f"the table cannot be measured: {_as_ldp_error(error).message}"
