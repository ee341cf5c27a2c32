"""The keys that snapshot summaries tell of: those of this system, of earlier ones, and of picked copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ldp_core.commit.lineage import Point
from ldp_core.tables.view import Snap, TableView
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window

KEY = "ldp.idempotency-key"
WINDOW = "ldp.logical-window"
RUN = "ldp.run-id"
ATTEMPT = "ldp.attempt"
_PICKED = "source-snapshot-id"


@dataclass(frozen=True)
class Told:
    """A snapshot that carries a key.

    Attributes:
        key: The key.
        point: The snapshot.
        window: The window that its summary names.
        at: When it was committed, in milliseconds since 1970.
    """

    key: str
    point: Point
    window: Window | None
    at: int = 0


def told(view: TableView, snap: Snap) -> Told | None:
    """What a snapshot says of its key, or the one says that it was picked from."""
    for origin in _origins(view, snap):
        summary = origin.summary
        if summary.get(KEY):
            bounds = summary.get(WINDOW)
            window = parse_window(bounds) if bounds else None
            return Told(summary[KEY], Point(snap.id, snap.sequence), window, snap.at)
    return None


def _origins(view: TableView, snap: Snap) -> Iterator[Snap]:
    """A snapshot, and the snapshots that it is a copy of, while they are in the metadata."""
    at: Snap | None = snap
    seen: set[int] = set()
    while at is not None and at.id not in seen:
        seen.add(at.id)
        yield at
        picked = at.summary.get(_PICKED, "")
        at = view.snapshots.get(int(picked)) if picked.isdigit() else None


def on_line(view: TableView) -> Iterator[Told]:
    """The keys of main's head and its ancestors, newest first, as far as the metadata goes."""
    return (found for snap in view.ancestors() if (found := told(view, snap)))


def aside(view: TableView) -> Iterator[Told]:
    """The keys of snapshots that no link from main leads to: rolled back, or cut off by an expiry."""
    line = {snap.id for snap in view.ancestors()}
    rest = (snap for snap in view.snapshots.values() if snap.id not in line)
    return (found for snap in rest if (found := told(view, snap)))


def in_summaries(view: TableView, key: str) -> Point | None:
    """The ancestor of main that carries a key."""
    return next((found.point for found in on_line(view) if found.key == key), None)
