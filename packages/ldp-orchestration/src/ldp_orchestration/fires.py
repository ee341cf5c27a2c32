"""When a schedule fires: the times of the local calendar as instants, and what a clock change does to them.

A *fixed* time is one whose minute and hour both do not begin with ``*``, as in Debian's cron: it fires once
a day that has it, right after the gap where a clock change skips it, and at its first time where it happens
twice. Any other time *repeats*: it fires whenever the local clock shows it, in both passes of an hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from ldp_core.errors import ConfigError
from ldp_core.window import Window
from ldp_core.window.calendar import zone_of

from ldp_orchestration.cron import Rule, local_times, rule_of
from ldp_orchestration.ranges import last_complete

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_LOOK = 5 * _DAY
"""How far apart the clock is compared: since 1970 no zone changed its clock twice within six days."""
_STRETCH = 7
_FIRST_SPAN = timedelta(minutes=5)
_LONGEST_SPAN = timedelta(days=366 * 100)


def fires(schedule: str, zone: str, after: datetime) -> Iterator[datetime]:
    """The fires of a schedule after an instant, oldest first, in UTC; without end.

    Args:
        schedule: ``@daily`` and the like, or a cron expression of five fields.
        zone: The IANA name of the time zone that it is read in.
        after: An aware instant; the first fire lies after it.

    Raises:
        ConfigError: It is no schedule, there is no such zone, or no fire comes in fifty years. Raised at
            once, before the first fire is asked for; the last one when it is asked for.
    """
    rule, info = rule_of(schedule), zone_of(zone)
    return _fixed(rule, info, after) if rule.fixed else _repeating(rule, info, after)


def next_fire(schedule: str, zone: str, at: datetime) -> datetime:
    """The first fire after an instant.

    Raises:
        ConfigError: As ``fires`` does.
    """
    return next(fires(schedule, zone, at))


def latest_fire(schedule: str, zone: str, at: datetime) -> datetime:
    """The last fire at or before an instant, found from spans before it that grow.

    Raises:
        ConfigError: As ``fires`` does, and where none lies in the hundred years before.
    """
    span = _FIRST_SPAN
    while span < _LONGEST_SPAN:
        found = None
        for fire in fires(schedule, zone, at - span):
            if fire > at:
                break
            found = fire
        if found is not None:
            return found
        span *= 4
    raise ConfigError(f"schedule {schedule!r} has not come in a hundred years", key="metadata.schedule")


def window_of_fire(schedule: str, zone: str, size: str | None, fire: datetime) -> Window:
    """The window that a fire owns.

    Args:
        schedule: The schedule.
        zone: The time zone of the schedule and of the windows.
        size: The size of the windows; None for the interval from the previous fire to this one.
        fire: A fire of the schedule.

    Returns:
        With a size, the last complete window of that size that ends at or before the fire.

    Raises:
        ConfigError: It is no schedule, or there is no such size or zone.
    """
    if size is not None:
        return last_complete(size, zone, fire)
    return Window(latest_fire(schedule, zone, fire - _SECOND), fire)


def problem_of(schedule: str) -> str | None:
    """What is wrong with a schedule, or None. Tells more than its syntax: also whether it ever fires."""
    try:
        next_fire(schedule, "UTC", datetime(2000, 1, 1, tzinfo=UTC))
    except ConfigError as error:
        return error.message
    return None


def _fixed(rule: Rule, info: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Each local time once: two that a gap skips fire together, as one."""
    last = after
    for local in local_times(rule, after.astimezone(info).replace(tzinfo=None)):
        fire = _first_instant(local, info)
        if fire > last:
            last = fire
            yield fire


def _first_instant(local: datetime, info: ZoneInfo) -> datetime:
    """The first instant at which a clock shows a local time, or the end of the gap that skips it."""
    instant = local.replace(tzinfo=info).astimezone(UTC)
    if instant.astimezone(info).replace(tzinfo=None) == local:
        return instant
    before = local.replace(tzinfo=info, fold=1).astimezone(UTC)
    return _change(before, instant, info)


def _repeating(rule: Rule, info: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Stretch by stretch of one offset from UTC, in which the local calendar runs evenly."""
    begin = after.astimezone(UTC).replace(microsecond=0) + _SECOND
    while True:
        offset = _offset(begin, info)
        end = _end_of_stretch(begin, info)
        for local in local_times(rule, (begin + offset - _SECOND).replace(tzinfo=None)):
            fire = local.replace(tzinfo=UTC) - offset
            if fire >= end:
                begin = max(end, fire - 2 * _DAY)
                break
            yield fire


def _end_of_stretch(begin: datetime, info: ZoneInfo) -> datetime:
    """Up to where the offset from UTC that holds at an instant is known to hold."""
    offset = _offset(begin, info)
    at = begin
    for _ in range(_STRETCH):
        before, at = at, at + _LOOK
        if _offset(at, info) != offset:
            return _change(before, at, info)
    return at


def _change(before: datetime, after: datetime, info: ZoneInfo) -> datetime:
    """The first second in ``(before, after]`` with another offset than ``before`` has; found by halving."""
    offset = _offset(before, info)
    low, high = 0, int((after - before) / _SECOND)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(before + middle * _SECOND, info) == offset:
            low = middle
        else:
            high = middle
    return before + high * _SECOND


def _offset(at: datetime, info: ZoneInfo) -> timedelta:
    offset = at.astimezone(info).utcoffset()
    assert offset is not None
    return offset
