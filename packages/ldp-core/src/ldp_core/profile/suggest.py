"""What a profile suggests for a config, each suggestion with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from ldp_core.profile.measure import ColumnProfile, Profile

ENOUGH = 10_000
"""Rows from which partitions are worth their files."""


@dataclass(frozen=True)
class Suggestion:
    """A part of a config.

    Attributes:
        body: As the config has it.
        evidence: What in the data speaks for it, one line.
        active: Whether it is written to hold, or only as a remark.
    """

    body: Mapping[str, Any]
    evidence: str
    active: bool = True


def key(profile: Profile) -> tuple[str, ...] | None:
    """The candidate key that fits best: an identifier by its name, then the first."""
    if not profile.keys:
        return None
    named = [names for names in profile.keys if any(name.lower().endswith("id") for name in names)]
    steady = [names for names in profile.keys if not _moment(profile, names)]
    return (named or steady or list(profile.keys))[0]


def _moment(profile: Profile, names: tuple[str, ...]) -> bool:
    moments = {column.name for column in profile.columns if column.is_moment}
    return len(names) == 1 and names[0] in moments


def partition(profile: Profile) -> Suggestion | None:
    """A partition by the first date or timestamp that spans some days: by day, month or year."""
    for column in profile.columns:
        if not column.is_moment or column.min is None:
            continue
        low, high = _day(column.min), _day(column.max)
        if low is None or high is None:
            continue
        days = (high - low).days
        if days < 2 or column.nulls * 2 > profile.rows:
            continue
        transform = "day" if days <= 92 else "month" if days <= 3660 else "year"
        evidence = f"{column.name} spans {days + 1} days, from {low} to {high}"
        active = profile.rows >= ENOUGH
        if not active:
            evidence += f"; {profile.rows} rows are too few to gain from it yet"
        return Suggestion({"column": column.name, "transform": transform}, evidence, active)
    return None


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else None


def checks(profile: Profile) -> list[Suggestion]:
    """A first set of checks; all hold for the rows that were looked at."""
    found: list[Suggestion] = []
    if profile.rows:
        seen = "1 row was" if profile.rows == 1 else f"{_count(profile.rows)} rows were"
        found.append(Suggestion({"check": "row_count", "min": 1}, f"{seen} seen"))
    full = [column.name for column in profile.columns if not column.nulls]
    if profile.rows and full:
        evidence = f"no value is missing in {_count(profile.rows)} row{'s' if profile.rows > 1 else ''}"
        found.append(Suggestion({"check": "not_null", "columns": full}, evidence))
    chosen = key(profile)
    if chosen and profile.rows > 1:
        what = "are different" if len(chosen) == 1 else "differ in the pair"
        found.append(
            Suggestion(
                {"check": "unique", "columns": list(chosen)}, f"all {_count(profile.rows)} rows {what}"
            )
        )
    for column in profile.columns:
        if chosen != (column.name,):
            found += _of_column(column)
    return found


def _of_column(column: ColumnProfile) -> list[Suggestion]:
    body: dict[str, Any]
    if column.values is not None:
        body = {"check": "accepted_values", "column": column.name, "values": list(column.values)}
        number = len(column.values)
        return [
            Suggestion(
                body, "only this value occurs" if number == 1 else f"only {number} different values occur"
            )
        ]
    if column.pattern is not None:
        words, pattern = column.pattern
        body = {"check": "regex", "column": column.name, "pattern": pattern}
        return [Suggestion(body, f"every value is {words}")]
    if (
        column.is_number and column.min is not None and column.min >= 0 and column.max == column.max
    ):  # NaN is in no range
        body = {"check": "range", "column": column.name, "min": 0}
        return [Suggestion(body, f"values run from {column.min} to {column.max}")]
    return []


def _count(number: int) -> str:
    return f"{number:,}" if number >= 10_000 else str(number)
