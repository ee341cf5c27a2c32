"""Fences: tags that keep an older attempt of a run from publishing, however late it wakes up.

``ldp_r<32 hex of the run>_a<attempt>_fenced`` stands for an attempt that may not publish any more; a publish
asserts that its own is absent. Private branches of an attempt are called ``ldp_r<hex>_a<attempt>_<n>``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ldp_core.commit.ledger import read_all
from ldp_core.commit.summaries import ATTEMPT, RUN
from ldp_core.errors import CommitConflict
from ldp_core.ids import run_hex
from ldp_core.tables.view import TableView

if TYPE_CHECKING:
    from pyiceberg.table.update import TableUpdate

KEEP_MS = 7 * 24 * 60 * 60 * 1000
"""How long a fence pins its snapshot at most, when the run has no next attempt."""
_BRANCH = re.compile(r"ldp_r([0-9a-f]{32})_a(\d+)_(\d+)")


class Superseded(CommitConflict):
    """A newer attempt of the run is at work; this one must stop."""

    code = "superseded"
    retriable = False


def fence_prefix(run_id: str) -> str:
    """What the branches and tags of a run begin with."""
    return f"ldp_r{run_hex(run_id)}_a"


def fence_name(run_id: str, attempt: int) -> str:
    """The tag that fences an attempt."""
    return f"{fence_prefix(run_id)}{attempt}_fenced"


def branch_name(view: TableView, run_id: str, attempt: int) -> str:
    """The next private branch of an attempt."""
    number = 1
    while (name := f"ldp_r{run_hex(run_id)}_a{attempt}_{number}") in view.refs:
        number += 1
    return name


def superseded(view: TableView, run_id: str, attempt: int) -> None:
    """Stop an attempt that is not the newest.

    Raises:
        Superseded: A fence stands against it, or a snapshot or ledger entry of its run has a higher attempt.
    """
    hex_ = run_hex(run_id)
    fenced = fence_name(run_id, attempt) in view.refs
    snaps = (snap.summary for snap in view.snapshots.values())
    published = [int(item.get(ATTEMPT, "1")) for item in snaps if item.get(RUN) == run_id]
    for ledger in read_all(view.properties):
        published += [item.attempt for item in ledger.recent if item.run == hex_]
    if fenced or max(published, default=0) > attempt:
        raise Superseded(f"attempt {attempt} of run {run_id} was fenced by a newer attempt; stopping")


def older_branches(view: TableView, run_id: str, attempt: int) -> tuple[str, ...]:
    """Private branches that older attempts of a run left behind."""
    hex_ = run_hex(run_id)
    matches = (_BRANCH.fullmatch(name) for name in view.refs)
    return tuple(found[0] for found in matches if found and found[1] == hex_ and int(found[2]) < attempt)


def missing_fences(view: TableView, run_id: str, attempt: int) -> tuple[str, ...]:
    """The fences that an attempt has to put up before it begins."""
    names = (fence_name(run_id, older) for older in range(1, attempt))
    return tuple(name for name in names if name not in view.refs)


def fence_updates(
    snapshot_id: int, names: tuple[str, ...], branches: tuple[str, ...]
) -> tuple[TableUpdate, ...]:
    """The updates that put fences on a snapshot and remove branches."""
    from pyiceberg.table.update import RemoveSnapshotRefUpdate, SetSnapshotRefUpdate

    tags: list[Any] = [
        SetSnapshotRefUpdate.model_validate(
            {"ref-name": name, "type": "tag", "snapshot-id": snapshot_id, "max-ref-age-ms": KEEP_MS}
        )
        for name in names
    ]
    return (*tags, *(RemoveSnapshotRefUpdate.model_validate({"ref-name": name}) for name in branches))
