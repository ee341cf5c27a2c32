"""The local calendar: days of 23, 24 or 25 hours, laid end to end with no gap and no overlap.

A window of a size belongs to the local day it starts in: hours and quarters are counted from local midnight,
so that every range meets the same windows. Where a clock change leaves less than a whole one before the next
midnight (Lord Howe moves by half an hour), the last window of that day is a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from ldp_core.errors import ConfigError
from ldp_core.window.model import Window

DAY = timedelta(days=1)
SIZES = {"day": DAY, "hour": timedelta(hours=1), "15m": timedelta(minutes=15)}
"""The sizes of windows; a day is as long as the local calendar makes it."""

SHORTCUTS = ("yesterday", "last-week", "last-month")


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name.

    Raises:
        ConfigError: There is none.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ConfigError(f"unknown time zone {name!r}", hint="write an IANA name: Europe/Paris") from error


@lru_cache(maxsize=16_384)
def midnight(day: date, zone: str) -> datetime:
    """The first instant of a local day, in UTC; of a day that the zone skips, that of the next one."""
    return datetime.combine(day, time(), zone_of(zone)).astimezone(UTC)


def local_day(moment: datetime, zone: str) -> date:
    """The local day that an instant lies in.

    A day lasts until the next one first begins: where a clock is put back just after midnight (at 00:01 in
    St. John's until 2011), what follows belongs to the new day, although the clock shows the old one again.
    """
    day = moment.astimezone(zone_of(zone)).date()
    return day + DAY if midnight(day + DAY, zone) <= moment else day


def is_midnight(moment: datetime, zone: str) -> bool:
    """Whether a local day begins at an instant."""
    return midnight(local_day(moment, zone), zone) == moment


def starts_window(moment: datetime, size: str, zone: str) -> bool:
    """Whether a window of a size begins at an instant."""
    since = moment - midnight(local_day(moment, zone), zone)
    return not since if size == "day" else not since % SIZES[size]


def window_start(moment: datetime, size: str, zone: str) -> datetime:
    """Where the window of a size begins that an instant lies in.

    Raises:
        ConfigError: There is no such size.
    """
    _known(size)
    begin = midnight(local_day(moment, zone), zone)
    return begin if size == "day" else begin + (moment - begin) // SIZES[size] * SIZES[size]


def next_start(moment: datetime, size: str, zone: str) -> datetime:
    """Where the window of a size ends that an instant lies in.

    Raises:
        ConfigError: There is no such size.
    """
    _known(size)
    day = local_day(moment, zone)
    tomorrow = midnight(day + DAY, zone)
    if size == "day":
        return tomorrow
    begin = midnight(day, zone)
    step = SIZES[size]
    return min(begin + ((moment - begin) // step + 1) * step, tomorrow)


def iter_windows(start: datetime, end: datetime, size: str, zone: str = "UTC") -> Iterator[Window]:
    """The windows of one size laid end to end; a local day that does not exist is none.

    Args:
        start: The start of the first window, aware.
        end: No window reaches beyond it.
        size: ``day``, ``hour`` or ``15m``.
        zone: An IANA name.

    Raises:
        ConfigError: There is no such size or zone.
    """
    begin = start.astimezone(UTC)
    while (until := next_start(begin, size, zone)) <= end:
        yield Window(begin, until)
        begin = until


def shortcut(name: str, zone: str = "UTC", now: datetime | None = None) -> Window:
    """The window that a word stands for, between local midnights.

    Args:
        name: ``yesterday``, ``last-week`` (the last full week, Monday to Monday) or ``last-month``.
        zone: An IANA name.
        now: The present moment, aware.

    Raises:
        ConfigError: There is no such word or zone.
    """
    today = local_day(now or datetime.now(UTC), zone)
    if name == "yesterday":
        return _days(today - DAY, today, zone)
    if name == "last-week":
        monday = today - timedelta(days=today.weekday())
        return _days(monday - timedelta(weeks=1), monday, zone)
    if name == "last-month":
        first = today.replace(day=1)
        return _days((first - DAY).replace(day=1), first, zone)
    raise ConfigError(f"unknown window {name!r}; the shortcuts are {', '.join(SHORTCUTS)}")


def _known(size: str) -> None:
    if size not in SIZES:
        raise ConfigError(f"unknown window size {size!r}", hint=f"one of: {', '.join(SIZES)}")


def _days(first: date, end: date, zone: str) -> Window:
    """From the first instant of a day to that of another; a skipped day gives way to the one before."""
    while midnight(first, zone) == midnight(end, zone):
        first -= DAY
    return Window(midnight(first, zone), midnight(end, zone))
