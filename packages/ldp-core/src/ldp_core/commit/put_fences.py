"""The first commit of a retry: it fences every older attempt of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.catalogs.tables import load
from ldp_core.commit.base import from_table
from ldp_core.commit.change import Base, Change
from ldp_core.commit.fence import fence_name, fence_updates, missing_fences, older_branches, superseded
from ldp_core.commit.lineage import Point
from ldp_core.commit.retry import APPEND, RetryPolicy, is_conflict, is_unknown
from ldp_core.commit.send import send
from ldp_core.errors import CommitConflict
from ldp_core.tables.view import TableView, of_metadata

if TYPE_CHECKING:
    from pyiceberg.table.update import TableRequirement

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
    try:
        for turn in policy.retrying(_Again):
            with turn:
                base = _once(base, run_id, attempt)
    except _Again as error:
        raise CommitConflict(
            f"older attempts of run {run_id} could not be fenced on {'.'.join(base.identifier)}: {error}"
        ) from error.__cause__
    return base


def _once(base: Base, run_id: str, attempt: int) -> Base:
    base = _loaded(base)
    view = of_metadata(base.metadata, base.io)
    superseded(view, run_id, attempt)
    names = missing_fences(view, run_id, attempt)
    branches = older_branches(view, run_id, attempt)
    if not names and not branches:
        return base
    if view.head is None:
        _on_an_empty_snapshot(base, run_id, attempt)
        return _loaded(base)
    files: list[str] = []
    try:
        send(base, _requirements(base, run_id, attempt), fence_updates(view.head, names, branches), files)
    except Exception as error:
        if is_conflict(error) or is_unknown(error):
            raise _Again(str(error)) from error
        raise
    return _loaded(base)


def _on_an_empty_snapshot(base: Base, run_id: str, attempt: int) -> None:
    from ldp_core.commit.claim import Extra
    from ldp_core.commit.publish import publish

    def guard(view: TableView, point: Point) -> Extra:
        del point
        superseded(view, run_id, attempt)
        return Extra(tags=missing_fences(view, run_id, attempt))

    publish(base, lambda fresh: Change("append"), guard=guard)


def _requirements(base: Base, run_id: str, attempt: int) -> tuple[TableRequirement, ...]:
    from pyiceberg.table.update import AssertRefSnapshotId, AssertTableUUID

    own = {"ref": fence_name(run_id, attempt), "snapshot-id": None}
    return (AssertTableUUID(uuid=base.metadata.table_uuid), AssertRefSnapshotId.model_validate(own))


def _loaded(base: Base) -> Base:
    return from_table(base.catalog, base.identifier, load(base.catalog, base.identifier))
