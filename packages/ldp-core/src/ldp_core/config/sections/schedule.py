"""``metadata.schedule``: when a config runs. The core reads its syntax; fires belong to the orchestration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Text, Type
from ldp_core.spi import Spec

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}
"""The words and the cron expressions they stand for."""
_MONTHS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6},
    **{"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True)
class _Field:
    """A field of a cron expression; ``special`` is what else it may hold (``L``, ``5#2``)."""

    label: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    special: str = "(?!)"


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31, special="L|LW"),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 7, _DAYS, special=f"[0-7]L|([0-7]|{'|'.join(_DAYS)})#[1-5]"),
)


def derived(when: str | None) -> str | None:
    """The schedule that a ``when`` means: ``@daily`` for ``Daily``; None for any other text."""
    word = f"@{when.strip().lower()}" if when else ""
    return word if word in ALIASES else None


def notes_of_when(when: str | None, schedule: Any) -> Iterator[Problem]:
    """What ``plan`` says of ``when``, which is a schedule or a label."""
    if not when or schedule is not None:
        return
    alias = derived(when)
    if alias:
        text = f"when {when!r} means the schedule {alias}; set metadata.schedule to choose the time"
    else:
        text = (
            f"when {when!r} is a label, so no schedule is read from it; set metadata.schedule, "
            "or write 'hourly' / 'daily' / 'weekly' / 'monthly' in when"
        )
    yield Problem(text, key="when", severity="note")


def wrong(text: str) -> str | None:
    """Why a text is no schedule, or None.

    A schedule is one of ``ALIASES`` or a cron expression of five fields of ``*``, numbers, names, ``a-b``,
    ``/step`` and lists of these; days of the month also ``L`` and ``LW``, weekdays ``5L`` and ``5#2``.
    """
    word = text.strip()
    if word.startswith("@"):
        return None if word in ALIASES else f"unknown schedule {word!r}; the words are {', '.join(ALIASES)}"
    parts = word.split()
    if len(parts) != len(_FIELDS):
        return f"a cron expression has five fields (minute hour day month weekday), {text!r} has {len(parts)}"
    for part, one in zip(parts, _FIELDS, strict=True):
        for item in part.split(","):
            if not _fits(item, one):
                return f"{item!r} is no {one.label} of a cron expression ({one.low} to {one.high})"
    _, _, days, months, weekdays = parts
    return _never(days, months, weekdays, text)


def _fits(item: str, one: _Field) -> bool:
    if re.fullmatch(one.special, item, re.IGNORECASE):
        return True
    span, slash, step = item.partition("/")
    if slash and not (step.isascii() and step.isdigit() and int(step) > 0):
        return False
    if span == "*":
        return True
    first, dash, last = span.partition("-")
    low = _number(first, one.names)
    high = _number(last, one.names) if dash else low
    return low is not None and high is not None and one.low <= low <= high <= one.high


def _number(text: str, names: Mapping[str, int]) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    return names.get(text.lower())


def _never(days: str, months: str, weekdays: str, text: str) -> str | None:
    """Why the days are in none of the months (30 February); a weekday of its own is a day as well."""
    day, month = _first(days, _FIELDS[2]), _values(months, _FIELDS[3])
    if day is None or not weekdays.startswith("*"):
        return None
    if day > max(_LENGTHS[at - 1] for at in month):
        return f"{text!r} never comes: the month has no day {days}"
    return None


def _first(part: str, one: _Field) -> int | None:
    """The least number of a field; None where it holds more than numbers."""
    if any(re.fullmatch(one.special, item, re.IGNORECASE) for item in part.split(",")):
        return None
    return min(_values(part, one))


def _values(part: str, one: _Field) -> set[int]:
    """The numbers that a field of numbers stands for."""
    found: set[int] = set()
    for item in part.split(","):
        span, slash, step = item.partition("/")
        first, dash, last = span.partition("-")
        low = one.low if span == "*" else _number(first, one.names)
        high = _number(last, one.names) if dash else one.high if span == "*" else low
        assert low is not None
        assert high is not None
        high = one.high if slash and low == high else high
        found.update(range(low, high + 1, int(step or 1)))
    return found


class ScheduleSection:
    """The section; not hashed, because it changes nothing about what a run does."""

    shape: Type = Text(pattern=r"\S")
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """Whether the text is a schedule."""
        message = wrong(value)
        return [Problem(message)] if message else []

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line."""
        return [("schedule", value)]


SECTION = ScheduleSection()
