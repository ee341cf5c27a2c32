"""What an expiry does to idempotency keys: which snapshots alone tell one, whose ledger loses its hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_maintenance.retention import Keyed

if TYPE_CHECKING:
    from ldp_core.commit.ledger import Ledger
    from ldp_core.commit.summaries import Told
    from ldp_core.tables.view import TableView


@dataclass(frozen=True)
class Keys:
    """The keys of a table, as far as an expiry minds.

    Attributes:
        keyed: Snapshots that carry keys, and those that alone tell theirs.
        absorbs: Whether a commit of ours would take those into a ledger, so that they need not stay.
        unsure: Pipelines of whose ledger nobody can tell what main shows: all that carries a key stays.
    """

    keyed: Keyed
    absorbs: bool
    unsure: tuple[str, ...] = ()


def look(view: TableView) -> Keys:
    """Look through the summaries and the ledgers of a table.

    Raises:
        LDPError: A ledger cannot be read: a newer version wrote it, or it is broken.
    """
    from ldp_core.commit.ledger import read_all
    from ldp_core.commit.verify import KeysUnknown, verified

    known: list[Ledger] = []
    unsure: list[str] = []
    for ledger in read_all(view.properties):
        try:
            found = verified(view, ledger.pipeline)
        except KeysUnknown:
            unsure.append(ledger.pipeline)
            continue
        if found is not None:
            known.append(found)
    carries: set[int] = set()
    needed: set[int] = set()
    for told, surely in _told(view):
        carriers = _carriers(view, told)
        carries |= carriers
        if surely is not False and not any(_holds(ledger, told) for ledger in known):
            needed |= carriers
    keyed = Keyed(frozenset(carries), frozenset(carries if unsure else needed))
    anchors = [ledger for ledger in known if ledger.anchor is not None]
    return Keys(keyed, bool(anchors) and not unsure, tuple(unsure))


def cut_anchors(view: TableView, gone: Collection[int]) -> frozenset[int]:
    """The anchors of ledgers that main's line would not lead to any more without some snapshots.

    Catalogs that keep parent links of what they expire would still show an anchor that goes; not all do.
    """
    from ldp_core.commit.ledger import read_all

    if not gone:
        return frozenset()
    line: set[int | None] = set()
    for snap in view.ancestors():
        if snap.id in gone:
            break
        line.add(snap.id)
        if snap.parent not in gone:
            line.add(snap.parent)
    anchors = (ledger.anchor for ledger in read_all(view.properties) if ledger.anchor is not None)
    return frozenset(anchor.snapshot for anchor in anchors if anchor.snapshot not in line)


def _told(view: TableView) -> Iterator[tuple[Told, bool | None]]:
    """Each key that a summary tells, and whether main shows it; None where nobody can tell."""
    from ldp_core.commit.lineage import on_main
    from ldp_core.commit.summaries import aside, on_line

    for told in on_line(view):
        yield told, True
    for told in aside(view):
        yield told, on_main(view, told.point)


def _carriers(view: TableView, told: Told) -> set[int]:
    """The snapshot of a key, and those it was picked from: one of them has the key in its summary."""
    from ldp_core.commit.summaries import KEY, picked_from

    snapshot = told.point.snapshot
    own = view.snapshots[snapshot].summary.get(KEY)
    return {snapshot} if own else {snapshot, *(picked_from(view, snapshot) & set(view.snapshots))}


def _holds(ledger: Ledger, told: Told) -> bool:
    from ldp_core.commit.absorb import owner

    window = told.window if told.window and ledger.key_of(told.window) == told.key else None
    return owner(ledger, told.key, window) is not None
