"""Which unique columns are keys, and which differ in every row by chance."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ldp_quality import kinds
from ldp_quality.profiling.model import ColumnProfile, Profile

_NAMED = re.compile(r"(?:^|_)(?:id|key|uuid|guid|code|number|no|nr|sku)$|[a-z](?:Id|Key|ID)$", re.IGNORECASE)
_MANY = 1_000
_COLLISIONS = 10
"""Repeated values that chance would have given: from so many on, none at all is no accident."""
_TYPES = {kinds.INTEGER, kinds.TEXT, kinds.OTHER}


@dataclass(frozen=True)
class Keys:
    """What a profile suggests of keys.

    Attributes:
        primary: The columns of the primary key; none where the data does not tell.
        unique: Other columns that the data shows to be unique.
    """

    primary: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()


def keys(profile: Profile, table: str) -> Keys:
    """The primary key, and other unique columns.

    A column whose values merely happen to differ is none: it needs the name of a key, or values that lie so
    close together that chance would have repeated some.
    """
    ranked = [
        (rank, at)
        for at, column in enumerate(profile.columns)
        if column.unique and not column.nulls and (rank := _rank(column, at, table)) is not None
    ]
    primary = (profile.columns[min(ranked)[1]].name,) if ranked else _pair(profile)
    unique = (column.name for column in profile.columns if column.unique and _is_no_accident(column))
    return Keys(primary, tuple(name for name in unique if (name,) != primary))


def _rank(column: ColumnProfile, at: int, table: str) -> int | None:
    """How well a unique column is a primary key; the least fits best, None not at all."""
    if column.kind.family not in _TYPES:
        return None
    own = {"id", *(f"{name}{joint}id" for name in (table.lower(), _one(table)) for joint in ("_", ""))}
    if column.name.lower() in own:
        return 0
    sure = _is_no_accident(column)
    if _NAMED.search(column.name) and (sure or at == 0 or column.count >= _MANY):
        return 1
    return 2 if sure else None


def _one(table: str) -> str:
    return table.lower().removesuffix("s")


def _is_no_accident(column: ColumnProfile) -> bool:
    """Whether chance would have repeated values of a column of whole numbers."""
    if column.kind.family != kinds.INTEGER:
        return False
    return _collisions(column.count, column.max - column.min + 1) >= _COLLISIONS


def _pair(profile: Profile) -> tuple[str, ...]:
    if profile.pair is None:
        return ()
    combinations = 1
    for name in profile.pair:
        combinations *= profile.column(name).distinct or 1
    return profile.pair if _collisions(profile.rows, combinations) >= _COLLISIONS else ()


def _collisions(count: int, values: int) -> float:
    """About how many repeated values chance gives."""
    return count * count / (2 * values)
