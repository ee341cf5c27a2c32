"""Which windows a tick looks at, and which no tick will run. Pure: nothing is read but the arguments."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from ldp_core.errors import ConfigError
from ldp_core.window import Window
from ldp_core.window.calendar import next_start
from ldp_core.window.model import instant

from ldp_orchestration.fires import fires, latest_fire, window_of_fire
from ldp_orchestration.ranges import last_complete

TOO_MANY = 100_000
"""A catch-up over more windows is a start that was mistyped."""

_STEPS = 6
"""How many fires of one window are stepped over before the rest is jumped."""
_SECOND = timedelta(seconds=1)


def due(
    schedule: str,
    zone: str,
    size: str | None,
    catchup: bool,
    start: datetime | None,
    now: datetime,
    limit: int = TOO_MANY,
) -> tuple[Window, ...]:
    """The windows that a tick looks at, each once, oldest first; those that are done are among them.

    Args:
        schedule: The schedule.
        zone: The time zone of its fires and windows.
        size: The size of the windows; None for the intervals between fires.
        catchup: Whether the window of every fire after ``start`` is looked at, and not the latest alone.
        start: No window that begins before it is due; None for no such bound.
        now: The moment of the tick.
        limit: How many windows a catch-up may have.

    Raises:
        ConfigError: It is no schedule, catchup has no start, or the catch-up has too many windows.
    """
    latest = window_of_fire(schedule, zone, size, latest_fire(schedule, zone, now))
    if start is not None and latest.start < start:
        return ()
    if not catchup:
        return (latest,)
    if start is None:
        raise ConfigError("catchup needs a start", key="metadata.start", hint="set it to a date: 2026-08-01")
    return _all(schedule, zone, size, start, now, limit)


def missed(
    schedule: str,
    zone: str,
    size: str | None,
    catchup: bool,
    start: datetime | None,
    since: datetime | None,
    now: datetime,
    limit: int = TOO_MANY,
) -> tuple[Window, ...]:
    """The windows before the latest that no tick runs, each once, oldest first.

    The caller leaves out those that are done: what is left was missed.

    Args:
        schedule: The schedule.
        zone: The time zone of its fires and windows.
        size: The size of the windows; None for the intervals between fires.
        catchup: With it a tick runs every window, so none is missed.
        start: No window that begins before it counts.
        since: Where there is no ``start``, the begin of the first window that the ledger holds; None where
            the ledger holds none, and so nothing is known to have been missed.
        now: The present moment.
        limit: How many windows there may be.

    Raises:
        ConfigError: It is no schedule, or there are too many windows.
    """
    begin = start if start is not None else since
    if catchup or begin is None:
        return ()
    looked_at = set(due(schedule, zone, size, False, start, now))
    return tuple(w for w in _all(schedule, zone, size, begin, now, limit) if w not in looked_at)


def _all(
    schedule: str, zone: str, size: str | None, start: datetime, now: datetime, limit: int
) -> tuple[Window, ...]:
    found: list[Window] = []
    for window in windows_since(schedule, zone, size, start, now):
        found.append(window)
        if len(found) > limit:
            raise ConfigError(
                f"more than {limit:,} windows have come since {instant(start)}",
                key="metadata.start",
                hint="set a later start",
            )
    return tuple(found)


def windows_since(
    schedule: str, zone: str, size: str | None, start: datetime, now: datetime
) -> Iterator[Window]:
    """The windows of the fires up to now that begin at or after an instant, each once, oldest first.

    Raises:
        ConfigError: It is no schedule, or there is no such size or zone.
    """
    found = (
        _intervals(schedule, zone, start, now) if size is None else _sized(schedule, zone, size, start, now)
    )
    return (window for window in found if window.start >= start)


def _intervals(schedule: str, zone: str, start: datetime, now: datetime) -> Iterator[Window]:
    ahead = fires(schedule, zone, start - _SECOND)
    previous = next(ahead)
    while (fire := next(ahead)) <= now:
        yield Window(previous, fire)
        previous = fire


def _sized(schedule: str, zone: str, size: str, start: datetime, now: datetime) -> Iterator[Window]:
    """Of the fires that own one window only the first counts; a long row of the others is jumped over."""
    ahead = fires(schedule, zone, start - _SECOND)
    bound = start
    same = 0
    while (fire := next(ahead)) <= now:
        if fire >= bound:
            yield last_complete(size, zone, fire)
            bound = next_start(fire, size, zone)
            same = 0
        elif (same := same + 1) == _STEPS:
            ahead = fires(schedule, zone, bound - _SECOND)
            same = 0
