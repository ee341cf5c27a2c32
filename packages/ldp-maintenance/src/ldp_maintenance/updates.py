"""Commits that change metadata only: snapshots and refs removed, statistics dropped, properties set.

What is to be done is worked out anew on the fresh table after every lost race. When nobody can say whether a
commit took effect, the table is asked; it is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ldp_core._signals import uninterrupted
from ldp_core.commit._tidy import delete_quietly, trims
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base
from ldp_core.commit.retry import APPEND, RetryPolicy, is_conflict, is_unknown
from ldp_core.commit.send import send
from ldp_core.errors import CatalogError, CommitConflict, CommitUnknown, LDPError

from ldp_maintenance.errors import Unsupported

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.update import TableRequirement, TableUpdate


class Moved(Exception):
    """The table is not what it was: look at it again. ``build`` may raise it, too."""


@dataclass(frozen=True)
class Step:
    """One commit of metadata.

    Attributes:
        updates: What it does.
        holds: Whether it took effect, by the metadata that is there afterwards.
        info: The builder's own; handed back.
    """

    updates: tuple[TableUpdate, ...]
    holds: Callable[[TableMetadata], bool]
    info: Any = None


@dataclass(frozen=True)
class Landed:
    """A commit that took effect.

    Attributes:
        before: What it was built on.
        after: The metadata that it made, or that was there when one looked whether it had.
        location: The file of that metadata.
        info: Of its step.
        trimmed: Metadata files that it pushed out of the log of a table that wants those deleted.
    """

    before: Base
    after: TableMetadata
    location: str
    info: Any
    trimmed: tuple[str, ...] = ()


def change_metadata(
    base: Base, build: Callable[[Base], Step | None], *, policy: RetryPolicy = APPEND
) -> Landed | None:
    """Commit metadata beside live writers.

    Args:
        base: The table, as it is tried on first.
        build: What to do with the table as it is; None for nothing. Asked again after every lost race.
        policy: How often a lost race is tried again.

    Returns:
        None when there was nothing to do.

    Raises:
        CommitConflict: The races were all lost, or the table was dropped or replaced meanwhile.
        CommitUnknown: Nobody can say whether it took effect.
        CatalogError: The catalog refused it.
    """
    job = _Job(base, build)
    try:
        for attempt in policy.retrying(Moved):
            with attempt:
                return job.once()
    except Moved as error:
        label = ".".join(base.identifier)
        if job.doubt is not None:
            raise CommitUnknown(
                f"nobody can say whether the commit to {label} took effect: {error}",
                hint="run it again: what is done already is not done twice",
            ) from error.__cause__
        raise CommitConflict(
            f"table {label} was changed by others in each of {job.sends} attempts: {error}",
            hint="run it again when fewer writers are at work",
        ) from error.__cause__
    finally:
        job.settle()
    raise AssertionError("the retry loop returns or raises")


def refuse_unwritable(base: Base, operation: str) -> None:
    """Make sure that the catalog's client can write the table's metadata, where it is the one to write it.

    Raises:
        Unsupported: It cannot: pyiceberg does not write every format version that it reads.
    """
    if not writes_itself(base):
        return
    try:
        base.metadata.model_dump_json()
    except NotImplementedError as error:
        raise Unsupported(
            f"{operation} on {'.'.join(base.identifier)}: pyiceberg does not write metadata of "
            f"format version {base.metadata.format_version}, and {base.catalog.name} leaves it to its client",
            hint="reach the table through a REST catalog, whose server writes it",
        ) from error


def writes_itself(base: Base) -> bool:
    """Whether the catalog's client writes metadata files (SQL, Glue, Hive), not its server (REST)."""
    from pyiceberg.catalog import MetastoreCatalog

    return isinstance(base.catalog, MetastoreCatalog)


def requirements(base: Base) -> tuple[TableRequirement, ...]:
    """The table is the same one, and all its refs are where they were.

    Where the client checks, a ref that was made meanwhile is noticed too; a server is only asked about refs
    by name.
    """
    from pyiceberg.table.update import AssertRefSnapshotId, AssertTableUUID

    same: list[Any] = [AssertTableUUID(uuid=base.metadata.table_uuid)]
    for name, ref in base.metadata.refs.items():
        same.append(AssertRefSnapshotId.model_validate({"ref": name, "snapshot-id": ref.snapshot_id}))
    if writes_itself(base):
        from ldp_maintenance._pyiceberg import same_refs

        same.append(same_refs(base.metadata))
    return tuple(same)


@dataclass
class _Job:
    """One call of ``change_metadata``.

    Attributes:
        doubt: The base and the step of a commit of which nobody knows yet whether it took effect.
        written: Metadata files of commits that are not known to be in the table, each with its base.
    """

    base: Base
    build: Callable[[Base], Step | None]
    sends: int = 0
    tried: bool = False
    doubt: tuple[Base, Step] | None = None
    written: dict[str, Base] = field(default_factory=dict)

    def once(self) -> Landed | None:
        """One attempt: look, build, send."""
        if self.tried:
            landed = self.refresh()
            if landed is not None:
                return landed
        self.tried = True
        step = self.build(self.base)
        if step is None:
            return None
        self.sends += 1
        files: list[str] = []
        try:
            with uninterrupted():
                response = send(self.base, requirements(self.base), step.updates, files)
        except BaseException as error:
            self.written.update(dict.fromkeys(files, self.base))
            if not isinstance(error, Exception):
                raise
            if is_conflict(error):
                raise Moved(str(error)) from error
            self.doubt = (self.base, step)
            if is_unknown(error):
                raise Moved(str(error)) from error
            return self.refused(error)
        return self.landed(self.base, step, response.metadata, response.metadata_location)

    def refused(self, error: Exception) -> Landed:
        """An error of the third kind: it took effect and its answer was broken, or it is final."""
        landed = self.refresh()
        if landed is not None:
            return landed
        self.doubt = None
        if isinstance(error, LDPError):
            raise error
        text = " ".join(str(error).split())[:300]
        raise CatalogError(
            f"the commit to {'.'.join(self.base.identifier)} was refused: {type(error).__name__}: {text}"
        ) from error

    def refresh(self) -> Landed | None:
        """Load the table anew; answers when a commit in doubt took effect after all."""
        try:
            fresh = load_base(self.base.catalog, self.base.identifier)
        except CatalogError as error:
            raise Moved(str(error)) from error
        if fresh.metadata.table_uuid != self.base.metadata.table_uuid:
            raise CommitConflict(f"table {'.'.join(self.base.identifier)} was replaced meanwhile")
        if self.doubt is not None:
            before, step = self.doubt
            if step.holds(fresh.metadata):
                self.doubt = None
                return self.landed(before, step, fresh.metadata, fresh.metadata_location)
            if fresh.metadata_location != before.metadata_location:
                self.doubt = None
        self.base = fresh
        return None

    def landed(self, before: Base, step: Step, after: TableMetadata, location: str) -> Landed:
        """The result, once it is known that a commit took effect."""
        self.base = Base(
            before.catalog, before.identifier, after, before.io, True, (), location, before.config
        )
        trimmed: Sequence[str] = ()
        if trims(after):
            was = {entry.metadata_file for entry in before.metadata.metadata_log} | {before.metadata_location}
            kept = {entry.metadata_file for entry in after.metadata_log} | {location}
            trimmed = sorted(was - kept - {""})
        return Landed(before, after, location, step.info, tuple(trimmed))

    def settle(self) -> None:
        """Delete the metadata files of lost races, once the table has gone on without them."""
        logged = {self.base.metadata_location, *(e.metadata_file for e in self.base.metadata.metadata_log)}
        gone = [
            path
            for path, before in self.written.items()
            if path not in logged and before.metadata_location != self.base.metadata_location
        ]
        with uninterrupted():
            delete_quietly(self.base.io, gone)
