"""The keys that snapshot summaries tell of: those of this system, of earlier ones, and of picked copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ldp_core.commit.lineage import Point
from ldp_core.tables.view import Snap, TableView
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window

KEY = "ldp.idempotency-key"
WINDOW = "ldp.logical-window"
RUN = "ldp.run-id"
ATTEMPT = "ldp.attempt"
PIPELINE = "ldp.pipeline"
REQUEUED = "ldp.requeued-batch"
"""The batch of the quarantine whose rows the snapshot brought back."""
REPLACED = "ldp.replaced"
"""In an overwrite: whether it replaced the rows of the ``table``, or those of its ``window``."""
REWRITTEN = "ldp.keys-rewritten"
"""In a snapshot that changes no row: what wrote the ledger, and whose."""
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
    summary = _keyed(view, snap)
    if summary is None:
        return None
    bounds = summary.get(WINDOW)
    window = parse_window(bounds) if bounds else None
    return Told(summary[KEY], Point(snap.id, snap.sequence), window, snap.at)


def _keyed(view: TableView, snap: Snap) -> Mapping[str, str] | None:
    """The summary that tells the key of a snapshot."""
    if snap.summary.get(KEY):
        return snap.summary
    return next((origin.summary for origin in _origins(view, snap) if origin.summary.get(KEY)), None)


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


def picked_from(view: TableView, snapshot: int) -> frozenset[int]:
    """The snapshots that one is a copy of, by cherry-picks, as far as summaries tell."""
    start = view.snapshots.get(snapshot)
    told = [] if start is None else [snap.summary.get(_PICKED, "") for snap in _origins(view, start)]
    return frozenset(int(text) for text in told if text.isdigit())


def aside(view: TableView) -> Iterator[Told]:
    """The keys of snapshots that no link from main leads to: rolled back, or cut off by an expiry."""
    line = {snap.id for snap in view.ancestors()}
    rest = (snap for snap in view.snapshots.values() if snap.id not in line)
    return (found for snap in rest if (found := told(view, snap)))


def in_summaries(view: TableView, key: str) -> Point | None:
    """The ancestor of main that carries a key; the newest where several do."""
    found: dict[str, Point] | None = view.memory.get(KEY)
    if found is None:
        found = {}
        for snap in view.ancestors():
            summary = _keyed(view, snap)
            if summary is not None:
                found.setdefault(summary[KEY], Point(snap.id, snap.sequence))
        view.memory[KEY] = found
    return found.get(key)


def since(view: TableView, anchor: Point | None) -> list[Told]:
    """The keys of main's head and its ancestors down to a snapshot, newest first.

    Args:
        view: The table.
        anchor: Where to stop: what it and its ancestors tell is known. None goes as far as the metadata does.
    """
    found: list[Told] = []
    for snap in view.ancestors():
        if anchor is not None and snap.id == anchor.snapshot:
            break
        item = told(view, snap)
        if item is not None:
            found.append(item)
    return found


def tells_all(view: TableView) -> bool:
    """Whether main's ancestors are known back to the table's first snapshot, and no key is known but by them.

    A copy tells nothing once its origin has gone, and a ledger that was rebuilt may hold what a user said.
    """
    line = list(view.ancestors())
    if not line or line[-1].sequence != 1:
        return view.head is None
    copies = (snap for snap in line if snap.summary.get(_PICKED))
    return all(told(view, snap) for snap in copies) and not any(snap.summary.get(REWRITTEN) for snap in line)
