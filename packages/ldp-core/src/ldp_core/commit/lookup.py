"""Was a key published? Yes, no, or an error that says why nobody can tell; never a guess.

The rule holds under expiry by any engine, rollback, tags, cherry-pick and restore: ``docs/exactly-once.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ldp_core.commit.absorb import owner, with_told
from ldp_core.commit.ledger import Ledger, read, read_all
from ldp_core.commit.summaries import Told, aside, in_summaries, since
from ldp_core.commit.verify import sure, verified
from ldp_core.tables.view import TableView
from ldp_core.window.model import Window


@dataclass(frozen=True)
class Found:
    """A published key.

    Attributes:
        snapshot: The snapshot that carries it; None when it is folded.
        who: The config that published it, in ``ledger.who``; None when only a summary tells of it.
        ledger: The ledger that it was found in.
    """

    snapshot: int | None
    who: int | None = None
    ledger: Ledger | None = None


def find(view: TableView, pipeline: str, key: str, window: Window | None = None) -> Found | None:
    """Look for a key among what main shows.

    Args:
        view: The table.
        pipeline: The identifier of the config.
        key: The key.
        window: The window that gives it, if one does.

    Returns:
        None when it is free.

    Raises:
        KeysUnknown: What is left of the history does not tell.
    """
    point = in_summaries(view, key)
    if point is not None:
        own = read(view.properties, pipeline)
        return Found(point.snapshot, owner(own, key, window) if own else None, own)
    for ledger in read_all(view.properties):
        given = window if ledger.pipeline == pipeline else None
        if owner(ledger, key, given) is not None or any(item.key == key for item in ledger.off):
            known = verified(view, ledger.pipeline)
            who = owner(known, key, given) if known else None
            if known is not None and who is not None:
                single = known.single(key)
                return Found(single.points[-1].snapshot if single else None, who, known)
    for told in aside(view):
        if told.key == key and not _knows(view, told) and sure(view, told.point, pipeline):
            return Found(told.point.snapshot)
    own = read(view.properties, pipeline)
    if own is not None and (own.lost or own.uuid != view.uuid):
        verified(view, pipeline)  # Keys may be missing in it; that one is does not say that it is free.
    if own is not None and window is not None and (former := own.key_of(window)) != key:
        return find(view, pipeline, former, window)  # The table was renamed: its windows had other keys.
    return None


def absorbed(view: TableView, ledger: Ledger) -> Ledger:
    """The ledger with the keys that only summaries tell of; another pipeline's stay in its own ledger.

    What the anchor and its ancestors tell was taken in when it was published.

    Raises:
        KeysUnknown: Nobody can tell whether main shows a snapshot that carries one.
    """
    others = [item for item in read_all(view.properties) if item.pipeline != ledger.pipeline]
    cut = [told for told in aside(view) if not _knows(view, told) and sure(view, told.point, ledger.pipeline)]
    return with_told(ledger, (*cut, *reversed(since(view, ledger.anchor))), others)


def _knows(view: TableView, told: Told) -> bool:
    """Whether a ledger knows a snapshot to be on main, or off it."""
    for ledger in read_all(view.properties):
        for item in (*ledger.recent, *ledger.off):
            if told.key == item.key and told.point in item.points:
                return True
        if ledger.folded_owner(told.key, told.window) is not None:
            return True
    return False
