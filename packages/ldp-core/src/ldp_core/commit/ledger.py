"""The key ledger: which keys a pipeline has published, kept in the table's own properties.

One property ``ldp.keys.<first 12 hex of sha256(identifier)>`` a pipeline, and ``ldp.keys.version``. The
newest publishes stand singly, with their snapshots; older ones are folded into intervals of windows, and into
a list for keys that no window gives. It is changed by commits that move main, and by no others. Its claim:
when ``anchor`` was main's head, main showed every key in it, and none of those in ``off``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

from ldp_core.commit.intervals import Interval, merged, moment, one, ticks
from ldp_core.commit.lineage import Point
from ldp_core.config.canonical import idempotency_key
from ldp_core.errors import ConfigError, LDPError
from ldp_core.window.calendar import zone_of
from ldp_core.window.model import Window

PREFIX = "ldp.keys."
VERSION_PROPERTY = "ldp.keys.version"
VERSION = 1
SINGLE = 20
"""Publishes that stand singly."""
_MOST_POINTS = 5
"""Snapshots that are remembered of one key."""
MOST_KEYS = 2_000
"""Keys that no window gives; more are refused."""
T = TypeVar("T")


class LedgerBroken(LDPError):
    """A property that holds keys cannot be read."""

    code = "ledger_broken"


@dataclass(frozen=True)
class Who:
    """What config published: its identity, and where it was.

    Attributes:
        format: Of its source.
        source: The name of its source.
        id: ``metadata.id``; empty when it has none.
        path: The config file, for messages alone.
    """

    format: str
    source: str
    id: str = ""
    path: str = field(default="", compare=False)


@dataclass(frozen=True)
class Publish:
    """One publish that stands singly.

    Attributes:
        key: The idempotency key.
        window: Its window, if it has one.
        points: The snapshots that carry it (a cherry-pick makes another).
        who: The config, as ``Ledger.who`` numbers them.
        run: The run, as branch names spell it.
        attempt: From 1.
        at: When, in milliseconds since 1970; 0 where nobody said. Kept of keys that no window gives.
    """

    key: str
    window: Window | None
    points: tuple[Point, ...]
    who: int = 0
    run: str = ""
    attempt: int = 1
    at: int = 0


class OwnKey(NamedTuple):
    """A folded key that no window gives.

    Attributes:
        key: The key.
        who: The config, as ``Ledger.who`` numbers them.
        at: When it was published, as ``Publish.at``.
        window: What was loaded under it, if that was a window: an append may not overlap it.
    """

    key: str
    who: int
    at: int
    window: Window | None = None


@dataclass(frozen=True)
class Ledger:
    """The keys of one pipeline.

    Attributes:
        pipeline: The identifier.
        target: ``namespace.table``, of which its keys are made.
        uuid: The table's uuid.
        anchor: The snapshot that was main's head when all this was on main.
        recent: The newest publishes, oldest first.
        folded: The last publish that was folded.
        windows: The windows of folded keys.
        keys: Folded keys that no window gives, each with its owner and the time of its publish.
        who: The configs.
        zone: The zone of its windows.
        off: Publishes that a rollback took off main; main may be moved forward to them again.
        lost: Where main was when a rollback took off keys that were folded already.
    """

    pipeline: str
    target: str
    uuid: str
    anchor: Point | None = None
    recent: tuple[Publish, ...] = ()
    folded: Point | None = None
    windows: tuple[Interval, ...] = ()
    keys: tuple[OwnKey, ...] = ()
    who: tuple[Who, ...] = ()
    zone: str = "UTC"
    off: tuple[Publish, ...] = ()
    lost: tuple[Point, ...] = ()

    def key_of(self, window: Window) -> str:
        """The key of a window of this pipeline."""
        return idempotency_key(self.pipeline, self.target, window.start, window.end)

    def single(self, key: str) -> Publish | None:
        """The publish of a key that stands singly."""
        return next((publish for publish in reversed(self.recent) if publish.key == key), None)

    def folded_owner(self, key: str, window: Window | None) -> int | None:
        """Who published a folded key; None when it is not folded."""
        if window is not None and self.key_of(window) == key:
            return next((item.who for item in self.windows if item.holds(window)), None)
        return next((own.who for own in self.keys if own.key == key), None)

    def overlapping(self, window: Window) -> Iterator[Window]:
        """Published windows that share time with a window and are not equal to it."""
        singly = [one.window for one in self.recent] + [own.window for own in self.keys]
        for other in singly:
            if other is not None and other != window and other.overlaps(window):
                yield other
        for item in self.windows:
            if item.overlaps(window) and not item.holds(window):
                yield item.touched(window)

    def number(self, who: Who) -> tuple[Ledger, int]:
        """The ledger that knows a config, and its number there; the path it has now is kept."""
        if who in self.who:
            at = self.who.index(who)
            return replace(self, who=(*self.who[:at], who, *self.who[at + 1 :])), at
        return replace(self, who=(*self.who, who)), len(self.who)

    def recorded(self, publish: Publish, uuid: str) -> Ledger:
        """The ledger after a publish, which becomes the anchor; all that is in it must be on main.

        Raises:
            LDPError: There are too many keys that no window gives.
        """
        before = next((item.points for item in (*self.off, *self.recent) if item.key == publish.key), ())
        publish = replace(publish, points=(*before, *publish.points)[-_MOST_POINTS:])
        recent = (*_without(self.recent, publish.key), publish)
        off = _without(self.off, publish.key)
        after = replace(self, recent=recent, off=off, anchor=publish.points[-1], uuid=uuid)
        return few_enough(folded(after, SINGLE))

    def derived(self, publish: Publish) -> bool:
        """Whether the window of a publish gives its key."""
        return publish.window is not None and self.key_of(publish.window) == publish.key


def _without(publishes: tuple[Publish, ...], key: str) -> tuple[Publish, ...]:
    return tuple(item for item in publishes if item.key != key)


def property_of(pipeline: str) -> str:
    """The property that holds the keys of a pipeline."""
    return PREFIX + hashlib.sha256(pipeline.encode()).hexdigest()[:12]


def read_all(properties: Mapping[str, str]) -> list[Ledger]:
    """Every pipeline's keys in the properties of a table.

    Raises:
        LDPError: A newer version wrote them, or they are broken.
    """
    _check_version(properties)
    names = sorted(name for name in properties if name.startswith(PREFIX) and name != VERSION_PROPERTY)
    return [_read(name, properties[name]) for name in names]


def read(properties: Mapping[str, str], pipeline: str) -> Ledger | None:
    """The keys of one pipeline, or None.

    Raises:
        LDPError: A newer version wrote them, or they are broken.
    """
    _check_version(properties)
    name = property_of(pipeline)
    return _read(name, properties[name]) if name in properties else None


def written(ledger: Ledger) -> dict[str, str]:
    """The properties that hold a ledger."""
    body = {
        "pipeline": ledger.pipeline,
        "target": ledger.target,
        "uuid": ledger.uuid,
        "zone": ledger.zone,
        "anchor": _point(ledger.anchor),
        "who": [[who.format, who.source, who.id, who.path] for who in ledger.who],
        "recent": [_single(ledger, publish) for publish in ledger.recent],
        "off": [_single(ledger, publish) for publish in ledger.off],
        "lost": [_point(point) for point in ledger.lost],
        "folded": _point(ledger.folded),
        "windows": [[item.start, item.end, item.step, item.zone, item.who] for item in ledger.windows],
        "keys": [[*own[:3], *([_bounds(own.window)] if own.window else [])] for own in ledger.keys],
    }
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return {VERSION_PROPERTY: str(VERSION), property_of(ledger.pipeline): text}


def folded(ledger: Ledger, keep: int) -> Ledger:
    """The ledger with all but the newest publishes folded: by the order of main, so the last stands for all.

    Args:
        ledger: The keys.
        keep: How many stand singly.
    """
    surplus = ledger.recent[: max(0, len(ledger.recent) - keep)]
    if not surplus:
        return ledger
    derived = [item for item in surplus if ledger.derived(item)]
    others = [OwnKey(item.key, item.who, item.at, item.window) for item in surplus if item not in derived]
    known = {own.key for own in ledger.keys}
    return replace(
        ledger,
        recent=ledger.recent[len(surplus) :],
        folded=surplus[-1].points[-1],
        windows=merged([*ledger.windows, *(one(i.window, ledger.zone, i.who) for i in derived if i.window)]),
        keys=(*ledger.keys, *(own for own in others if own.key not in known)),
    )


def few_enough(ledger: Ledger) -> Ledger:
    """The ledger itself.

    Raises:
        LDPError: There are too many keys that no window gives.
    """
    if len(ledger.keys) > MOST_KEYS:
        raise LDPError(
            f"{ledger.pipeline} has published more than {MOST_KEYS} keys that no window gives",
            hint="ldp keys compact CONFIG --before DATE forgets the oldest",
        )
    return ledger


def _check_version(properties: Mapping[str, str]) -> None:
    version = properties.get(VERSION_PROPERTY)
    if version not in (None, str(VERSION)):
        raise LDPError(
            f"the keys of the table are kept in version {version}, this LDP knows version {VERSION}",
            hint="install a newer ldp-core",
        )


@lru_cache(maxsize=8)
def _read(name: str, text: str) -> Ledger:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise _broken(name, "it is not JSON") from error
    if not isinstance(body, dict):
        raise _broken(name, "it is no JSON object")

    def part(key: str, made: Callable[[Any], T]) -> T:
        if key not in body:
            raise _broken(name, f"its part {key} is missing")
        try:
            return made(body[key])
        except (ArithmeticError, AttributeError, ConfigError, LookupError, TypeError, ValueError) as error:
            raise _broken(name, f"its part {key} is not what LDP writes there") from error

    ledger = Ledger(
        pipeline=part("pipeline", _text),
        target=part("target", _text),
        uuid=part("uuid", _text),
        anchor=part("anchor", _point_of),
        folded=part("folded", _point_of),
        windows=part("windows", _each(_interval)),
        keys=part("keys", _each(_own)),
        who=part("who", _each(_who)),
        zone=part("zone", _zone),
    )
    publishes = _each(partial(_publish, ledger))
    return replace(
        ledger,
        recent=part("recent", publishes),
        off=part("off", publishes),
        lost=part("lost", _each(_known_point)),
    )


def _broken(name: str, why: str) -> LedgerBroken:
    return LedgerBroken(
        f"the table property {name} is no ledger of keys: {why}",
        hint="ldp keys rebuild CONFIG --yes writes it anew from the table's history",
    )


def _each(made: Callable[[Any], T]) -> Callable[[list[Any]], tuple[T, ...]]:
    return lambda items: tuple(map(made, items))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _zone(value: Any) -> str:
    if value != "":
        zone_of(_text(value))
    return str(value)


def _point(point: Point | None) -> list[Any] | None:
    return None if point is None else [str(point.snapshot), point.sequence]


def _point_of(item: list[Any] | None) -> Point | None:
    return None if item is None else _known_point(item)


def _known_point(item: list[Any]) -> Point:
    return Point(int(item[0]), int(item[1]))


def _single(ledger: Ledger, publish: Publish) -> list[Any]:
    """The key is left out where the window gives it, and its time with it."""
    window = publish.window
    derived = ledger.derived(publish)
    return [
        None if derived else publish.key,
        _bounds(window),
        [_point(point) for point in publish.points],
        publish.who,
        publish.run,
        publish.attempt,
        *([] if derived else [publish.at]),
    ]


def _own(item: list[Any]) -> OwnKey:
    key, who, at, *bounds = item
    return OwnKey(_text(key), int(who), int(at), *map(_window, bounds))


def _who(item: list[Any]) -> Who:
    return Who(*map(_text, item))


def _interval(item: list[Any]) -> Interval:
    start, end, step, zone, who = item
    made = Interval(int(start), int(end), int(step), _zone(zone), int(who))
    tiled = made.zone or 0 < made.step <= made.end - made.start
    if not tiled or moment(made.start) >= moment(made.end):
        raise ValueError(item)  # no windows lie end to end in it
    return made


def _bounds(window: Window | None) -> list[int] | None:
    return [ticks(window.start), ticks(window.end)] if window else None


def _window(bounds: list[int] | None) -> Window | None:
    return Window(moment(bounds[0]), moment(bounds[1])) if bounds else None


def _publish(ledger: Ledger, item: list[Any]) -> Publish:
    key, bounds, points, who, run, attempt, *at = item
    window = _window(bounds)
    made = ledger.key_of(window) if window is not None and key is None else _text(key)
    first, *rest = map(_known_point, points)  # its order and its answer hang on a point
    return Publish(made, window, (first, *rest), int(who), _text(run), int(attempt), *map(int, at))
