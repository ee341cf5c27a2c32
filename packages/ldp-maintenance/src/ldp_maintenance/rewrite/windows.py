"""Partitions of time: where they begin and end, and which of them are still open."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ldp_maintenance.rewrite.candidates import Item

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema

UNITS = ("hour", "day", "month", "year")
"""From fine to coarse."""
_EPOCH = dt.datetime(1970, 1, 1)


def time_field(spec: PartitionSpec, schema: Schema) -> tuple[int, str] | None:
    """(place in the partition, unit) of a spec's field of time; None unless it has exactly one.

    A date that is its own partition is one of days.
    """
    from pyiceberg.types import DateType

    kinds = {number: schema.find_type(number) for number in schema.field_ids}
    found = []
    for place, field in enumerate(spec.fields):
        word = str(field.transform)
        if word in UNITS:
            found.append((place, word))
        elif word == "identity" and isinstance(kinds.get(field.source_id), DateType):
            found.append((place, "day"))
    return found[0] if len(found) == 1 else None


def start(unit: str, value: Any) -> dt.datetime | None:
    """Where a partition begins, UTC; None for that of nulls and for one no calendar has."""
    if isinstance(value, dt.date):
        value = (value - _EPOCH.date()).days
    if not isinstance(value, int):
        return None
    try:
        if unit == "hour":
            return _EPOCH + dt.timedelta(hours=value)
        if unit == "day":
            return _EPOCH + dt.timedelta(days=value)
        if unit == "month":
            return dt.datetime(1970 + value // 12, value % 12 + 1, 1)
        return dt.datetime(1970 + value, 1, 1)
    except (OverflowError, ValueError):
        return None


def value_at(unit: str, moment: dt.datetime) -> int:
    """The partition value of the unit that a moment (UTC) falls into."""
    if unit == "hour":
        return (moment - _EPOCH) // dt.timedelta(hours=1)
    if unit == "day":
        return (moment - _EPOCH).days
    if unit == "month":
        return (moment.year - 1970) * 12 + moment.month - 1
    return moment.year - 1970


def end(unit: str, value: Any) -> dt.datetime | None:
    """Where a partition ends: its first moment is not in it any more."""
    begin = start(unit, value)
    return None if begin is None else start(unit, value_at(unit, begin) + 1)


def open_files(
    files: Iterable[Item], fields: dict[int, tuple[int, str]], skip_newest: int | None
) -> frozenset[int]:
    """The files of the newest partition of time and of some closed ones before it, by ``Item.index``.

    Args:
        files: All live files.
        fields: ``time_field`` of each spec that has one.
        skip_newest: How many closed partitions before the newest; None for no file at all.
    """
    if skip_newest is None:
        return frozenset()
    timed = []
    for item in files:
        if item.spec_id in fields:
            place, unit = fields[item.spec_id]
            begin, stop = start(unit, item.partition[place]), end(unit, item.partition[place])
            if begin is not None and stop is not None:
                timed.append((begin, stop, unit, item.index))
    if not timed:
        return frozenset()
    newest, _, unit, _ = max(timed, key=lambda entry: (entry[0], -UNITS.index(entry[2])))
    since = start(unit, value_at(unit, newest) - skip_newest)
    if since is None:
        return frozenset(index for *_, index in timed)
    return frozenset(index for _, stop, _, index in timed if stop > since)
