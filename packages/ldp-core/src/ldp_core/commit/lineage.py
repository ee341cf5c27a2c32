"""Whether a snapshot is part of what main shows, also when its own entry has long expired.

An ancestor that is no longer in the metadata is known by what remains of it: a parent link that names it, a
manifest that it added, older metadata files. A snapshot that was rolled back is known by a parent link that
jumps over its sequence number. Where neither can be seen, nobody can tell, and nobody guesses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ldp_core.tables.view import Snap, TableView


@dataclass(frozen=True)
class Point:
    """A snapshot that was main's head once.

    Attributes:
        snapshot: Its id.
        sequence: Its sequence number; 0 in tables of format version 1.
    """

    snapshot: int
    sequence: int


def on_main(view: TableView, point: Point) -> bool | None:
    """Whether a snapshot is main's head or an ancestor of it.

    Args:
        view: The table.
        point: The snapshot.

    Returns:
        None where nothing that is left tells.
    """
    if view.head is None:
        return False
    met = _walk(view, point)
    if met:
        return True
    if _manifests_name(view, point):
        return True
    if met is not None:
        return met
    for known in _with_older(view):
        met = _walk(known, point)
        if met is not None:
            return met
    return None


def _walk(view: TableView, point: Point) -> bool | None:
    """What the parent links say: met, jumped over, or nothing."""
    child: Snap | None = None
    for snap in view.ancestors():
        if snap.id == point.snapshot:
            return True
        if 0 < snap.sequence <= point.sequence:
            return False  # The chain is older than the point here; it would have been met before.
        child = snap
    return True if child is not None and child.parent == point.snapshot else None


def _manifests_name(view: TableView, point: Point) -> bool:
    head = view.snapshots.get(view.head) if view.head is not None else None
    if head is None or view.names is None or not head.manifest_list:
        return False
    try:
        return point.snapshot in view.names(head.manifest_list)
    except OSError:
        return False


def with_history(view: TableView) -> TableView:
    """The view with all that older metadata files still tell of snapshots and of links between them."""
    return [view, *_with_older(view)][-1]


def _with_older(view: TableView) -> Iterator[TableView]:
    """The view with the snapshots and the links that older metadata files knew, more with each file."""
    snapshots = dict(view.snapshots)
    for old in view.older():
        for snap in old.snapshots.values():
            known = snapshots.get(snap.id)
            if known is None or (known.parent is None and snap.parent is not None):
                snapshots[snap.id] = snap
        yield replace(view, snapshots=dict(snapshots))
