"""Moments as whole nanoseconds since 1970 in UTC, read and shown without losing any."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from ldp_quality.kinds import DATE, TIME, Kind

_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"(Z|z|[+-]\d\d(?::?\d\d)?)?)?"
)
_CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_ns(value: object) -> int | None:
    """Nanoseconds since 1970 of a date, a datetime or an ISO 8601 text; None when it is none of these.

    Without an offset it is read in UTC; a date is its midnight.
    """
    if isinstance(value, datetime):
        return _since_epoch(value if value.tzinfo else value.replace(tzinfo=UTC))
    if isinstance(value, date):
        return _since_epoch(datetime(value.year, value.month, value.day, tzinfo=UTC))
    found = _MOMENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    try:
        at = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    return _since_epoch(at) + _fraction_ns(fraction) - _offset_ns(offset)


def clock_ns(value: object) -> int | None:
    """Nanoseconds since midnight of a time of day or a text such as ``08:30:00``; None when it is neither."""
    if isinstance(value, time) and value.tzinfo is None:
        seconds = value.hour * 3600 + value.minute * 60 + value.second
        return (seconds * 1_000_000 + value.microsecond) * 1_000
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (hour * 3600 + minute * 60 + second) * 1_000_000_000 + _fraction_ns(found[4])


def _since_epoch(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1) * 1_000


def _fraction_ns(digits: str | None) -> int:
    return int((digits or "0").ljust(9, "0"))


def _offset_ns(offset: str | None) -> int:
    if offset is None or offset in "Zz":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return (-seconds if offset[0] == "-" else seconds) * 1_000_000_000


def show_ticks(kind: Kind, ticks: int, *, separator: str = " ") -> str:
    """The ticks of a temporal column as text: ``2026-08-01 00:00:00.000000001``; zoned ones in UTC.

    Args:
        kind: The column's.
        ticks: As many ``kind.unit`` since 1970 or since midnight.
        separator: Between the date and the time.
    """
    ns = ticks * kind.ns_per_tick
    try:
        at = _EPOCH + timedelta(microseconds=ns // 1_000)
    except OverflowError:
        return f"{ticks} {kind.unit} since 1970"
    if kind.family == DATE:
        return at.date().isoformat()
    clock = f"{at:%H:%M:%S}{_show_fraction(ns % 1_000_000_000)}"
    if kind.family == TIME:
        return clock
    return f"{at.date().isoformat()}{separator}{clock}{'+00:00' if kind.zone else ''}"


def _show_fraction(ns: int) -> str:
    if not ns:
        return ""
    return f".{ns // 1_000:06d}" if ns % 1_000 == 0 else f".{ns:09d}"


def show_instant(ns: int) -> str:
    """Nanoseconds since 1970 as ISO 8601 in UTC, cut to microseconds."""
    try:
        return (_EPOCH + timedelta(microseconds=ns // 1_000)).isoformat()
    except OverflowError:
        return f"{ns} ns since 1970"
