"""Windows laid end to end, kept as intervals: a year of hours costs as much as one hour.

An interval is ``[start, end)`` and the length of its windows: microseconds, or days of a time zone, which
have 23 to 25 hours. It holds exactly the windows that tile it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ldp_core.window.calendar import DAY, is_midnight, local_day, midnight
from ldp_core.window.model import Window

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, order=True)
class Interval:
    """Windows of one length and one owner, laid end to end.

    Attributes:
        start: Microseconds since 1970 in UTC.
        end: Where the last window ends.
        step: The length of each in microseconds; 0 for the days of ``zone``.
        zone: Of days; empty for a fixed length.
        who: The owner, as the ledger numbers them.
    """

    start: int
    end: int
    step: int
    zone: str = ""
    who: int = 0

    def holds(self, window: Window) -> bool:
        """Whether a window is one of those that tile it."""
        start, end = ticks(window.start), ticks(window.end)
        if not (self.start <= start and end <= self.end):
            return False
        if self.zone:
            return _is_day(window, self.zone)
        return end - start == self.step and (start - self.start) % self.step == 0

    def overlaps(self, window: Window) -> bool:
        """Whether it shares time with a window."""
        return self.start < ticks(window.end) and ticks(window.start) < self.end

    def touched(self, window: Window) -> Window:
        """The first of its windows that shares time with a window that ``overlaps`` it."""
        start = max(ticks(window.start), self.start)
        if not self.zone:
            first = self.start + (start - self.start) // self.step * self.step
            return Window(moment(first), moment(first + self.step))
        day = local_day(moment(start), self.zone)
        begin, end = midnight(day, self.zone), midnight(day + DAY, self.zone)
        return Window(begin, end)


def one(window: Window, zone: str, who: int) -> Interval:
    """The interval of a single window; a local day of a zone that changes its clocks is kept as a day."""
    start, end = ticks(window.start), ticks(window.end)
    if zone not in ("", "UTC") and _is_day(window, zone):
        return Interval(start, end, 0, zone, who)
    return Interval(start, end, end - start, "", who)


def merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The fewest intervals that hold the same windows, sorted."""
    found: list[Interval] = []
    for item in sorted(set(intervals), key=lambda i: (i.who, i.zone, i.step, i.start, i.end)):
        last = found[-1] if found else None
        if last is not None and _joins(last, item):
            found[-1] = replace(last, end=max(last.end, item.end))
        else:
            found.append(item)
    return tuple(sorted(found))


def windows(interval: Interval) -> Iterator[Window]:
    """The windows that tile an interval, in order."""
    start = interval.start
    while start < interval.end:
        end = start + interval.step
        if interval.zone:
            end = ticks(midnight(local_day(moment(start), interval.zone) + DAY, interval.zone))
        yield Window(moment(start), moment(end))
        start = end


def ticks(at: datetime) -> int:
    """Microseconds since 1970."""
    return (at - _EPOCH) // _TICK


def moment(at: int) -> datetime:
    """The instant of microseconds since 1970."""
    return _EPOCH + at * _TICK


def _joins(last: Interval, item: Interval) -> bool:
    same = (last.who, last.zone, last.step) == (item.who, item.zone, item.step)
    if not same or item.start > last.end:
        return False
    return bool(last.zone) or (item.start - last.start) % last.step == 0


def _is_day(window: Window, zone: str) -> bool:
    """Whether a window is one local day."""
    if not is_midnight(window.start, zone):
        return False
    return midnight(local_day(window.start, zone) + DAY, zone) == window.end
