"""``ldp keys rebuild``: a ledger written anew from what is known, and from what a user vouches for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_core.commit.absorb import owner
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Extra
from ldp_core.commit.intervals import Interval, merged, one, windows
from ldp_core.commit.ledger import Ledger, Publish, folded, written
from ldp_core.commit.lineage import Point, on_main, with_history
from ldp_core.commit.owner import Owner
from ldp_core.commit.salvage import Salvage, plural, salvage
from ldp_core.commit.summaries import REWRITTEN, aside, on_line
from ldp_core.errors import LDPError, UsageError
from ldp_core.window.calendar import SIZES
from ldp_core.window.model import Window

if TYPE_CHECKING:
    from ldp_core.tables.view import TableView


@dataclass(frozen=True)
class Said:
    """What a user vouches for.

    Attributes:
        published: Windows that the table holds.
        free: Windows that it does not hold.
        published_keys: Other keys that it holds.
        free_keys: Other keys that it does not hold.
        rest: ``published`` or ``free``: what all else is that nobody can tell.
    """

    published: tuple[Window, ...] = ()
    free: tuple[Window, ...] = ()
    published_keys: tuple[str, ...] = ()
    free_keys: tuple[str, ...] = ()
    rest: str | None = None


@dataclass(frozen=True)
class Rebuilt:
    """A ledger that was made anew.

    Attributes:
        ledger: It; not fit to be written while something is unsettled.
        why: What was wrong with the one before; None when nothing was.
        certain: What is known, a line each.
        assumed: What only the user's word, or nothing, stands for.
        unsettled: What the user has to say something about: windows as ``--published`` takes them.
        unsettled_keys: Other keys of that kind.
    """

    ledger: Ledger
    why: str | None
    certain: tuple[str, ...]
    assumed: tuple[str, ...]
    unsettled: tuple[str, ...]
    unsettled_keys: tuple[str, ...]


def rebuilt(view: TableView, who: Owner, said: Said = Said(), point: Point | None = None) -> Rebuilt:
    """The ledger of a pipeline from all that is left of the table's history.

    Args:
        view: The table.
        who: The pipeline.
        said: What the user vouches for.
        point: The snapshot that will carry it; None for a preview.

    Raises:
        UsageError: The user says that a key is free which main shows for certain.
        LDPError: A newer version wrote the ledger.
    """
    found = salvage(view, who)
    blank = who.blank(view.uuid)
    yes = {**{blank.key_of(w): w for w in said.published}, **dict.fromkeys(said.published_keys)}
    no = {**{blank.key_of(w): w for w in said.free}, **dict.fromkeys(said.free_keys)}
    if both := next((key for key in yes if key in no), None):
        raise UsageError(f"{yes[both] or both} cannot be published and free")
    _not_on_main(view, no)
    ledger = _without(found.ledger, no)
    taken_out = sum(1 for key, window in no.items() if owner(found.ledger, key, window) is not None)
    ledger, number = ledger.number(who.who)
    vouched: list[Publish] = []
    freed: list[Publish] = []
    unsettled: list[Publish] = []
    for item in found.doubts:
        answer = "published" if item.key in yes else "free" if item.key in no else said.rest
        {"published": vouched, "free": freed}.get(str(answer), unsettled).append(item)
    seen = {item.key for item in vouched}
    new = {k: w for k, w in yes.items() if k not in seen and owner(ledger, k, w) is None}
    vouched += [Publish(key, window, (), number) for key, window in new.items()]
    here = point or Point(0, 0)
    if found.why is None and not vouched and not freed and not taken_out:
        after = ledger
    else:
        after = _at(ledger, vouched, freed, here)
    assumed = _assumed(ledger, vouched, freed, taken_out, found)
    return Rebuilt(
        replace(after, anchor=here, uuid=view.uuid),
        found.why,
        found.certain,
        assumed,
        spans([item.window for item in unsettled if item.window], ledger.zone),
        tuple(item.key for item in unsettled if not item.window),
    )


def commit_rebuilt(base: Base, who: Owner, said: Said) -> Published:
    """Write the ledger anew, in a commit of an empty snapshot that moves main.

    Args:
        base: The table.
        who: The pipeline.
        said: What the user vouches for.

    Raises:
        LDPError: Something is unsettled, or the commit failed.
    """
    from ldp_core.commit.publish import publish

    def guard(view: TableView, point: Point) -> Extra:
        made = rebuilt(view, who, said, point)
        settled(made)
        return Extra(written(made.ledger))

    change = Change("replace", summary={REWRITTEN: f"rebuild {who.pipeline}"})
    return publish(base, lambda fresh: change, guard=guard)


def settled(made: Rebuilt) -> None:
    """Refuse to write a ledger of which something is in doubt.

    Raises:
        LDPError: It is.
    """
    count = len(made.unsettled) + len(made.unsettled_keys)
    if count:
        first = (*made.unsettled, *made.unsettled_keys)[0]
        raise LDPError(
            f"nobody can tell whether {first} is published"
            + (f", and {count - 1} more" if count > 1 else ""),
            hint="look into the table, then say --published or --free for each, or --rest published|free",
        )


def spans(found: Iterable[Window], zone: str) -> tuple[str, ...]:
    """Windows in as few words as ``--published`` takes: ``START/END`` or ``START/END:hour``."""
    kept = merged(one(window, zone, 0) for window in found)
    return tuple(text for item in kept for text in _span(item, zone))


def _span(item: Interval, zone: str) -> list[str]:
    tiles = list(windows(item))
    size = next((name for name, step in SIZES.items() if tiles[0].length == step), None)
    if item.zone:
        size = "day"
    elif size == "day" and zone != "UTC":
        size = None
    if len(tiles) == 1 or size is None:
        return [str(window) for window in tiles]
    return [f"{Window(tiles[0].start, tiles[-1].end)}:{size}"]


def _not_on_main(view: TableView, no: dict[str, Window | None]) -> None:
    whole = with_history(view)
    told = [*on_line(whole), *(item for item in aside(view) if on_main(view, item.point))]
    for item in told:
        if item.key in no:
            raise UsageError(
                f"{no[item.key] or item.key} is not free: main shows snapshot {item.point.snapshot}, "
                "which carries it",
                hint="ldp rollback CONFIG takes publishes back",
            )


def _without(ledger: Ledger, no: dict[str, Window | None]) -> Ledger:
    """The ledger without keys that the user knows to be free."""
    gone = {window for window in no.values() if window is not None}
    tiles: list[Interval] = []
    for item in ledger.windows:
        if not any(item.holds(window) for window in gone):
            tiles.append(item)
            continue
        kept = (window for window in windows(item) if window not in gone)
        tiles += [one(window, item.zone or "UTC", item.who) for window in kept]
    return replace(
        ledger,
        recent=tuple(item for item in ledger.recent if item.key not in no),
        windows=merged(tiles),
        keys=tuple(own for own in ledger.keys if own.key not in no),
    )


def _at(ledger: Ledger, vouched: list[Publish], freed: list[Publish], here: Point) -> Ledger:
    """All folded at the snapshot that carries the new ledger: a rollback past it asks the older ones."""
    new = [replace(item, points=(here,)) for item in vouched]
    off = tuple(item for item in (*ledger.off, *freed) if item.points)
    every = folded(replace(ledger, recent=(*ledger.recent, *new)), 0)
    return replace(every, folded=here, off=off)


def _assumed(
    ledger: Ledger, vouched: list[Publish], freed: list[Publish], taken_out: int, found: Salvage
) -> tuple[str, ...]:
    lines = []
    for items, what in ((vouched, "published"), (freed, "free")):
        texts = (*spans([i.window for i in items if i.window], ledger.zone), *_keys(items))
        if texts:
            lines.append(f"{what}, as you say: {', '.join(texts[:5])}{_more(len(texts) - 5)}")
    if taken_out:
        lines.append(f"{plural(taken_out, 'key')} of the ledger: free, as you say")
    if not found.whole:
        lines.append(
            "free: whatever was published before the oldest snapshot that is known, and is named nowhere"
        )
    return tuple(lines)


def _keys(items: list[Publish]) -> tuple[str, ...]:
    return tuple(f"key {item.key}" for item in items if not item.window)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
