"""A ledger brought up to what main shows: after a rollback some of its keys are free, or published again."""

from __future__ import annotations

from dataclasses import replace

from ldp_core.commit.absorb import in_order, with_told
from ldp_core.commit.ledger import SINGLE, Ledger, Publish, read
from ldp_core.commit.lineage import Point, on_main, with_history
from ldp_core.commit.summaries import in_summaries, on_line, tells_all
from ldp_core.errors import LDPError
from ldp_core.tables.view import TableView


class KeysUnknown(LDPError):
    """Nobody can tell from what is left of the table's history which keys are published."""

    code = "keys_unknown"


def verified(view: TableView, pipeline: str) -> Ledger | None:
    """The ledger of a pipeline without what main no longer shows; None when it has none.

    Raises:
        KeysUnknown: What is left of the history does not tell.
    """
    ledger = read(view.properties, pipeline)
    if ledger is None or ledger.anchor is None:
        return ledger
    if ledger.uuid != view.uuid:
        raise KeysUnknown(
            f"the keys of {pipeline} were written for another table (uuid {ledger.uuid}, not {view.uuid})",
            hint="ldp keys rebuild CONFIG",
        )
    if sure(view, ledger.anchor, pipeline):
        return ledger
    return _after_rollback(view, ledger)


def sure(view: TableView, point: Point, pipeline: str) -> bool:
    """Whether main shows a snapshot.

    Raises:
        KeysUnknown: Nothing that is left tells.
    """
    answer = on_main(view, point)
    if answer is None:
        raise KeysUnknown(
            f"keys of {pipeline} stand and fall with snapshot {point.snapshot}, and nobody can tell whether "
            "the table still holds it: its history was cut and the older metadata files are gone",
            hint="ldp keys rebuild CONFIG",
        )
    return answer


def _after_rollback(view: TableView, ledger: Ledger) -> Ledger:
    """The ledger of a table whose main went back, or forward, to where the anchor is no ancestor."""
    for point in ledger.lost:
        if sure(view, point, ledger.pipeline):
            raise KeysUnknown(
                f"main was moved forward again to snapshot {point.snapshot}, and not all keys of "
                f"{ledger.pipeline} up to there are known any more",
                hint="ldp keys rebuild CONFIG",
            )
    singles = [_standing(view, item, ledger.pipeline) for item in (*ledger.recent, *ledger.off)]
    on = tuple(item for item, stands in singles if stands)
    gone = tuple(item for item, stands in singles if not stands)
    off, dropped = gone[-SINGLE:], gone[:-SINGLE]
    ledger = replace(ledger, lost=(*ledger.lost, *(item.points[-1] for item in dropped)))
    if ledger.folded is None or sure(view, ledger.folded, ledger.pipeline):
        return replace(ledger, recent=in_order(on), off=off)
    then = _then(view, ledger)
    known = {item.key for item in then.recent}
    more = tuple(item for item in on if item.key not in known)
    recent = in_order((*then.recent, *more))
    lost = (*ledger.lost, ledger.folded)
    return replace(then, recent=recent, off=off, lost=lost, who=ledger.who)


def _standing(view: TableView, publish: Publish, pipeline: str) -> tuple[Publish, bool]:
    """Whether main shows a publish; the snapshot that it shows comes last in it."""
    here = in_summaries(view, publish.key)
    for point in () if here else publish.points:
        if sure(view, point, pipeline):
            here = point
            break
    if here is None:
        return publish, False
    rest = tuple(point for point in publish.points if point != here)
    return replace(publish, points=(*rest, here)), True


def _then(view: TableView, ledger: Ledger) -> Ledger:
    """The ledger as it was last when main was on the line that it is on now.

    Raises:
        KeysUnknown: The metadata file of that time is gone.
    """
    whole = with_history(view)
    line = {snap.id for snap in whole.ancestors()}
    for old in view.older():
        known = read(old.properties, ledger.pipeline)
        if known is None and old.head in line:
            known = replace(ledger, recent=(), folded=None, windows=(), keys=(), off=(), lost=())
        elif known is None or known.anchor is None or known.anchor.snapshot not in line:
            continue
        return with_told(known, on_line(whole))
    if tells_all(whole):
        nothing = replace(ledger, recent=(), folded=None, windows=(), keys=(), off=(), lost=())
        return with_told(nothing, reversed(list(on_line(whole))))
    raise KeysUnknown(
        f"main was rolled back further than the newest {SINGLE} keys of {ledger.pipeline}, and the metadata "
        "file of that time is gone",
        hint="ldp keys rebuild CONFIG",
    )
