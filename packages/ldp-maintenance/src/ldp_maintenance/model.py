"""The values that the parts of this package hand each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ldp_core.clock import Clock, system_clock

from ldp_maintenance.policy import Policy

if TYPE_CHECKING:
    from ldp_core.commit.change import Base
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO

    from ldp_maintenance.inventory import ManifestCache

Operation = Literal[
    "apply-properties",
    "evolve-partitions",
    "rewrite-data-files",
    "remove-dangling-deletes",
    "rewrite-manifests",
    "expire-snapshots",
    "remove-orphans",
]
OPERATIONS: tuple[Operation, ...] = (
    "apply-properties",
    "evolve-partitions",
    "rewrite-data-files",
    "remove-dangling-deletes",
    "rewrite-manifests",
    "expire-snapshots",
    "remove-orphans",
)
"""In the order in which they run: each works on what those before it left."""

Status = Literal["done", "preview", "nothing", "refused", "failed", "skipped"]
"""``preview``: there is work, and it was not asked to do it; ``skipped``: the policy or a budget says no."""


@dataclass(frozen=True)
class Target:
    """A table to look after.

    Attributes:
        catalog: Its catalog, open.
        identifier: ``(namespace, table)``; a namespace of several levels is dotted.
        policy: The settings that hold for it.
        others: Locations of the other tables of the catalog, where known: nothing in them is touched.
        read: Manifests that were read, where several operations share them.
    """

    catalog: Catalog
    identifier: tuple[str, str]
    policy: Policy = field(default_factory=Policy)
    others: tuple[str, ...] = ()
    read: ManifestCache | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """``namespace.table``."""
        return ".".join(self.identifier)

    def base(self) -> Base:
        """The table as it is now.

        Raises:
            TableNotFound: It does not exist.
            CatalogError: The catalog does not answer.
        """
        from ldp_core.commit.base import load_base

        return load_base(self.catalog, self.identifier)

    def cache(self, io: FileIO) -> ManifestCache:
        """What keeps the manifests that are read: that of the run, or a new one.

        Args:
            io: Opens them from now on; credentials that a catalog hands out do not last.
        """
        from ldp_maintenance.inventory import ManifestCache

        found = self.read or ManifestCache(io)
        found.io = io
        return found


@dataclass(frozen=True)
class Doing:
    """How operations run.

    Attributes:
        commit: Whether they take effect; a preview else.
        jobs: Groups that are rewritten at the same time, and files that are deleted at the same time.
        memory_limit: The engine's memory, such as ``400MB``; that of ldp-core by default.
        clock: The time.
        progress: Told (operation, done, total, unit) as work goes on; unit is ``files`` or ``bytes``.
        audit: Told of each deleted file: ``{ts, table, operation, path, bytes, reason}``.
        deletes_per_second: At most so many files are deleted a second; None for no bound.
        branch: The branch that is read and rewritten; main else. Only ``rewrite-data-files`` and
            ``rewrite-manifests`` work on another.
        budget_seconds: Work that has not begun when they are over is left for the next run.
        budget_bytes: Data files of at most so many bytes are read in all.
        written_out: Whether zero ages and counts were written out on a command line.
    """

    commit: bool = False
    jobs: int = 1
    memory_limit: str | None = None
    clock: Clock = system_clock
    progress: Callable[[str, int, int, str], None] | None = None
    audit: Callable[[Mapping[str, Any]], None] | None = None
    deletes_per_second: float | None = None
    branch: str | None = None
    budget_seconds: float | None = None
    budget_bytes: int | None = None
    written_out: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one operation did, or would do.

    Attributes:
        operation: Which.
        status: How it ended.
        reason: Why it did nothing, was refused, or failed; one line.
        code: What kind of error it was, for machines: ``safety_abort``.
        hint: What to do about it.
        detail: Counts and ids, as JSON: keys are the operation's own and are documented.
        lines: What a person is told besides, one line each.
        snapshots: The snapshots that it made.
        error: What it failed with.
    """

    operation: Operation
    status: Status
    reason: str | None = None
    code: str | None = None
    hint: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()
    error: Exception | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; snapshot ids are text."""
        found: dict[str, Any] = {"operation": self.operation, "status": self.status, **self.detail}
        if self.reason is not None:
            found["reason"] = self.reason
        if self.code is not None:
            found["error"] = {"code": self.code, "message": self.reason, "hint": self.hint}
        if self.snapshots:
            found["snapshot_ids"] = [str(item) for item in self.snapshots]
        return found


Run = Callable[[Target, Doing], Outcome]
"""An operation. It raises ``LDPError`` where it cannot go on; the caller makes an outcome of it."""
