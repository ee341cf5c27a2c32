"""The first commit of a retry: it fences every older attempt of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ldp_core._signals import uninterrupted
from ldp_core.catalogs.tables import load
from ldp_core.commit._tidy import delete_quietly, trim_metadata
from ldp_core.commit.base import from_table
from ldp_core.commit.change import Base, Change
from ldp_core.commit.fence import fence_name, fence_updates, missing_fences, older_branches, superseded
from ldp_core.commit.lineage import Point
from ldp_core.commit.retry import APPEND, RetryPolicy, is_conflict, is_unknown
from ldp_core.commit.send import send
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict
from ldp_core.tables.view import TableView, of_metadata

if TYPE_CHECKING:
    from pyiceberg.table.update import TableRequirement, TableUpdate

    from ldp_core.commit.claim import Extra


class _Again(Exception):
    """The table moved, or nobody can say whether the commit took effect: look again."""


def put_fences(base: Base, run_id: str, attempt: int, *, policy: RetryPolicy = APPEND) -> Base:
    """Fence the older attempts of a run, in one commit; afterwards none of them can publish.

    A table without snapshots gets an empty one for the tags to stand on. Where the table does not exist
    nothing is done: its creation lets one attempt win.

    Args:
        base: The table.
        run_id: The run.
        attempt: This attempt; fences go up for those below it.
        policy: How often a lost race is tried again.

    Returns:
        The table as it is then.

    Raises:
        Superseded: A newer attempt has fenced this one.
        CommitConflict: The races were all lost.
    """
    if attempt <= 1 or not base.exists:
        return base
    view = of_metadata(base.metadata, base.io)
    superseded(view, run_id, attempt)
    if not missing_fences(view, run_id, attempt) and not older_branches(view, run_id, attempt):
        return base
    job = _Job(run_id, attempt)
    with Stage(base, run_id, attempt) as stage:
        try:
            for turn in policy.retrying(_Again):
                with turn:
                    base = job.once(base, stage)
            job.settle(base)
        except _Again as error:
            raise CommitConflict(
                f"older attempts of run {run_id} could not be fenced on {'.'.join(base.identifier)}: {error}"
            ) from error.__cause__
        finally:
            if job.written or job.left:
                stage.abandon()
    return base


@dataclass
class _Job:
    """One call of ``put_fences``.

    Attributes:
        run_id: The run.
        attempt: The attempt.
        written: Metadata files of commits that are not known to be in the table, each with its base.
        left: How many files could not be deleted.
    """

    run_id: str
    attempt: int
    written: dict[str, Base] = field(default_factory=dict)
    left: int = 0

    def once(self, base: Base, stage: Stage) -> Base:
        """One try: look, send."""
        base = _loaded(base)
        self.settle(base)
        view = of_metadata(base.metadata, base.io)
        superseded(view, self.run_id, self.attempt)
        names = missing_fences(view, self.run_id, self.attempt)
        branches = older_branches(view, self.run_id, self.attempt)
        if not names and not branches:
            return base
        if view.head is None:
            _on_an_empty_snapshot(base, self.run_id, self.attempt, stage)
            return _loaded(base)
        self.send(base, fence_updates(view.head, names, branches))
        return _loaded(base)

    def send(self, base: Base, updates: tuple[TableUpdate, ...]) -> None:
        """Commit; the metadata file that it pushed out of the log, or that of a lost race, goes."""
        files: list[str] = []
        try:
            with uninterrupted():
                done = send(base, _requirements(base, self.run_id, self.attempt), updates, files)
                self.left += trim_metadata(base, done.metadata, done.metadata_location)
        except BaseException as error:
            self.written.update(dict.fromkeys(files, base))
            if isinstance(error, Exception) and (is_conflict(error) or is_unknown(error)):
                raise _Again(str(error)) from error
            raise

    def settle(self, base: Base) -> None:
        """Clean up after commits whose answer was lost, once the table has gone on, with them or without."""
        logged = {base.metadata_location, *(entry.metadata_file for entry in base.metadata.metadata_log)}
        for path, before in list(self.written.items()):
            if before.metadata_location == base.metadata_location:
                continue
            del self.written[path]
            if path in logged:
                self.left += trim_metadata(before, base.metadata, base.metadata_location)
            else:
                self.left += delete_quietly(base.io, [path])


def _on_an_empty_snapshot(base: Base, run_id: str, attempt: int, stage: Stage) -> None:
    from ldp_core.commit.claim import Extra
    from ldp_core.commit.publish import publish

    def guard(view: TableView, point: Point) -> Extra:
        del point
        superseded(view, run_id, attempt)
        return Extra(tags=missing_fences(view, run_id, attempt))

    publish(base, lambda fresh: Change("append"), stage=stage, guard=guard)


def _requirements(base: Base, run_id: str, attempt: int) -> tuple[TableRequirement, ...]:
    from pyiceberg.table.update import AssertRefSnapshotId, AssertTableUUID

    own = {"ref": fence_name(run_id, attempt), "snapshot-id": None}
    return (AssertTableUUID(uuid=base.metadata.table_uuid), AssertRefSnapshotId.model_validate(own))


def _loaded(base: Base) -> Base:
    return from_table(base.catalog, base.identifier, load(base.catalog, base.identifier))
