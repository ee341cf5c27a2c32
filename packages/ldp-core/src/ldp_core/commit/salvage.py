"""What is left of a pipeline's keys when its ledger cannot be trusted: what main shows, and what is in doubt.

Nothing here guesses. A key is known when a snapshot that main shows carries it, or when a ledger holds it
whose anchor main shows; it is free when main certainly lacks every snapshot that carries it; all else is in
doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ldp_core.commit.absorb import UNKNOWN, in_order, owner, with_told
from ldp_core.commit.intervals import windows
from ldp_core.commit.ledger import (
    PREFIX,
    VERSION_PROPERTY,
    Ledger,
    LedgerBroken,
    Publish,
    Who,
    property_of,
    read,
    read_all,
)
from ldp_core.commit.lineage import Point, on_main, with_history
from ldp_core.commit.lookup import absorbed
from ldp_core.commit.owner import Owner
from ldp_core.commit.summaries import aside, on_line, tells_all
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.errors import LDPError
from ldp_core.tables.view import TableView


@dataclass(frozen=True)
class Salvage:
    """What can be known.

    Attributes:
        ledger: The keys that main shows for certain.
        why: What is wrong with the ledger as it stands; None when nothing is.
        certain: How each part of it is known, a line each.
        doubts: Publishes of which nobody can tell whether main shows them.
        whole: Whether nothing else can have been published.
    """

    ledger: Ledger
    why: str | None
    certain: tuple[str, ...]
    doubts: tuple[Publish, ...] = ()
    whole: bool = True


def salvage(view: TableView, who: Owner) -> Salvage:
    """Find out what main shows of a pipeline's keys.

    Args:
        view: The table.
        who: The pipeline.

    Raises:
        LDPError: A newer version wrote the ledger.
    """
    view, old, why = _readable(view, who)
    if why is None:
        try:
            sound = absorbed(view, verified(view, who.pipeline) or who.blank(view.uuid))
            return Salvage(sound, None, (f"main shows all that the ledger holds: {counted(sound)}",))
        except KeysUnknown as error:
            why = error.message
    return _salvaged(view, who, old, why)


def counted(ledger: Ledger) -> str:
    """``24 windows and 1 other key``."""
    tiles = sum(1 for item in ledger.windows for _ in windows(item))
    own = len(ledger.keys) + sum(1 for item in ledger.recent if not ledger.derived(item))
    tiles += len(ledger.recent) - sum(1 for item in ledger.recent if not ledger.derived(item))
    return f"{plural(tiles, 'window')} and {plural(own, 'other key')}"


def plural(count: int, word: str) -> str:
    """``1 window``, ``2 windows``."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def ledgers(view: TableView) -> Iterator[tuple[str, Ledger | LedgerBroken]]:
    """Every pipeline's keys by their property; of those that are broken the error.

    Raises:
        LDPError: A newer version wrote them.
    """
    version = {name: value for name, value in view.properties.items() if name == VERSION_PROPERTY}
    for name, value in sorted(view.properties.items()):
        if name.startswith(PREFIX) and name != VERSION_PROPERTY:
            try:
                yield name, read_all({**version, name: value})[0]
            except LedgerBroken as error:
                yield name, error


def readable(view: TableView) -> TableView:
    """The view without broken ledgers."""
    broken = {name for name, ledger in ledgers(view) if isinstance(ledger, LedgerBroken)}
    return replace(view, properties={k: v for k, v in view.properties.items() if k not in broken})


def _readable(view: TableView, who: Owner) -> tuple[TableView, Ledger | None, str | None]:
    """The view without broken ledgers, the pipeline's own in it, and why that cannot stand."""
    own = dict(ledgers(view)).get(property_of(who.pipeline))
    view = readable(view)
    return view, read(view.properties, who.pipeline), own.message if isinstance(own, LedgerBroken) else None


def _salvaged(view: TableView, who: Owner, old: Ledger | None, why: str) -> Salvage:
    if view.head is None:
        nothing = "the table has no snapshot, so nothing is published"
        return Salvage(who.blank(view.uuid), why, (nothing,))
    whole = with_history(view)
    others = [item for item in read_all(view.properties) if item.pipeline != who.pipeline]
    ledger, certain, complete = _proven(view, who)
    trusted = old is not None and old.uuid == view.uuid
    ledger, doubts, more = _singles(view, ledger, old, trusted)
    before = counted(ledger)
    ledger = with_told(ledger, reversed(list(on_line(whole))), others)
    if counted(ledger) != before:
        certain.append(f"with what the snapshots that main shows say themselves: {counted(ledger)}")
    if old is not None:
        ledger, unsure, folded = _folded(view, ledger, old)
        doubts, more = [*doubts, *unsure], [*more, *folded]
    ledger, unsure = _aside(view, ledger, others)
    open_ = [item for item in (*doubts, *unsure) if owner(ledger, item.key, item.window) is None]
    if not complete and _complete(whole, ledger):
        complete = True
        certain.append("the history is whole: no snapshot is missing that could carry another key")
    ledger = replace(ledger, lost=_lost(view, old))
    return Salvage(ledger, why, (*certain, *more), _joined(open_), complete)


def _lost(view: TableView, old: Ledger | None) -> tuple[Point, ...]:
    """Where main would show keys that are not known any more: each line off main, by its first snapshot."""
    line = {snap.id for snap in view.ancestors()}
    rest = {snap.id: snap for snap in view.snapshots.values() if snap.id not in line}
    points = [Point(snap.id, snap.sequence) for snap in rest.values() if snap.parent not in rest]
    if old is not None and old.uuid == view.uuid:
        points += [*old.lost, *((old.folded,) if old.folded else ())]
    return tuple(point for point in dict.fromkeys(points) if not on_main(view, point))


def _joined(found: list[Publish]) -> tuple[Publish, ...]:
    """One publish a key, with every snapshot that carries it."""
    joined: dict[str, Publish] = {}
    for item in found:
        before = joined.setdefault(item.key, item)
        points = dict.fromkeys((*before.points, *item.points))
        joined[item.key] = replace(before, points=tuple(points))
    return tuple(joined.values())


def _proven(view: TableView, who: Owner) -> tuple[Ledger, list[str], bool]:
    """The newest ledger of the pipeline that is verified (then it holds all), or whose anchor main shows."""
    try:
        known = verified(view, who.pipeline)
        if known is not None and known.uuid == view.uuid:
            return known, [f"main shows all that the ledger holds: {counted(known)}"], True
    except KeysUnknown:
        pass
    for older in view.older():
        try:
            known = read(older.properties, who.pipeline)
        except LDPError:
            continue
        if known is None or known.anchor is None or known.uuid != view.uuid:
            continue
        if on_main(view, known.anchor):
            line = (
                f"an older metadata file tells the keys up to snapshot {known.anchor.snapshot}, which main "
                f"shows: {counted(known)}"
            )
            return replace(known, off=(), lost=()), [line], False
    return who.blank(view.uuid), [], False


def _singles(
    view: TableView, ledger: Ledger, old: Ledger | None, trusted: bool
) -> tuple[Ledger, list[Publish], list[str]]:
    """The publishes that stood singly: on main, off it, or in doubt."""
    doubts: list[Publish] = []
    on: list[Publish] = []
    off: list[Publish] = []
    for item in (*old.recent, *old.off) if old is not None else ():
        if owner(ledger, item.key, item.window) is not None:
            continue
        answers = [on_main(view, point) for point in item.points]
        ledger, number = _numbered(ledger, old, item.who)
        item = replace(item, who=number)
        if True in answers:
            shown = item.points[answers.index(True)]
            rest = tuple(point for point in item.points if point != shown)
            on.append(replace(item, points=(*rest, shown)))
        elif trusted and None not in answers:
            off.append(item)
        else:
            # Points of another table say nothing of this one, later no more than now.
            doubts.append(item if trusted else replace(item, points=()))
    held = {item.key for item in on}
    off = [item for item in off if item.key not in held]
    lines = [f"{plural(len(on), 'publish')} of the ledger as it stands: on main"] if on else []
    lines += [f"{plural(len(off), 'publish')} of it: off main, so free"] if off else []
    after = replace(ledger, recent=in_order((*ledger.recent, *on)), off=(*ledger.off, *off))
    return after, [item for item in doubts if item.key not in held], lines


def _folded(view: TableView, ledger: Ledger, old: Ledger) -> tuple[Ledger, list[Publish], list[str]]:
    """What was folded: on main with the snapshot that stands for it, or in doubt one by one."""
    shown = old.folded is not None and bool(on_main(view, old.folded))
    found: list[Publish] = []
    for item in _unfolded(old):
        if owner(ledger, item.key, item.window) is None:
            ledger, number = _numbered(ledger, old, item.who)
            found.append(replace(item, who=number))
    if not found:
        return ledger, [], []
    if not shown or old.folded is None:
        return ledger, found, []
    made = [replace(item, points=(old.folded,)) for item in found]
    line = f"{plural(len(made), 'key')} folded at snapshot {old.folded.snapshot}, which main shows"
    return replace(ledger, recent=in_order((*ledger.recent, *made))), [], [line]


def _unfolded(ledger: Ledger) -> Iterator[Publish]:
    for item in ledger.windows:
        for window in windows(item):
            yield Publish(ledger.key_of(window), window, (), item.who)
    for own in ledger.keys:
        yield Publish(own.key, own.window, (), own.who, at=own.at)


def _aside(view: TableView, ledger: Ledger, others: list[Ledger]) -> tuple[Ledger, list[Publish]]:
    """Snapshots that no link from main leads to and that carry a key nobody knows."""
    cut, doubts = [], []
    known = {
        (item.key, point) for known in (ledger, *others) for item in _points(known) for point in item.points
    }
    for told in aside(view):
        elsewhere = any(other.folded_owner(told.key, told.window) is not None for other in (ledger, *others))
        if elsewhere or (told.key, told.point) in known:
            continue
        answer = on_main(view, told.point)
        if answer:
            cut.append(told)
        elif answer is None:
            window = told.window if told.window and ledger.key_of(told.window) == told.key else None
            doubts.append(Publish(told.key, window, (told.point,), UNKNOWN, at=told.at))
    return with_told(ledger, cut, others), doubts


def _points(ledger: Ledger) -> tuple[Publish, ...]:
    return (*ledger.recent, *ledger.off)


def _numbered(ledger: Ledger, old: Ledger | None, number: int) -> tuple[Ledger, int]:
    """A config of one ledger as another numbers it."""
    who: Who | None = old.who[number] if old is not None and 0 <= number < len(old.who) else None
    return ledger.number(who) if who is not None else (ledger, UNKNOWN)


def _complete(whole: TableView, ledger: Ledger) -> bool:
    """Whether snapshots tell everything, or everything since a ledger that knew it all."""
    if ledger.anchor is None:
        return tells_all(whole)
    return any(snap.id == ledger.anchor.snapshot for snap in whole.ancestors()) or tells_all(whole)
