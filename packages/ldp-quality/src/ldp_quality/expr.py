"""What a check asks of the rows, in terms that no engine owns; each engine writes it in its own words.

Comparisons follow SQL: with a null they are unknown, and an unknown predicate selects no row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias


@dataclass(frozen=True)
class Column:
    """The value of a column as it is; temporal columns as their ticks (see ``Kind.unit``)."""

    name: str


@dataclass(frozen=True)
class Apart:
    """How far two date or timestamp columns are apart, in nanoseconds, never negative."""

    first: str
    second: str


Value: TypeAlias = Column | Apart
Constant: TypeAlias = int | float | Decimal | str | bool


@dataclass(frozen=True)
class IsNull:
    """The column has no value."""

    column: str


@dataclass(frozen=True)
class IsNan:
    """The value of a float column is not a number."""

    column: str


@dataclass(frozen=True)
class IsTrue:
    """The value of a boolean column is true."""

    column: str


@dataclass(frozen=True)
class Below:
    """``value < limit``; a NaN is below nothing."""

    value: Value
    limit: Constant


@dataclass(frozen=True)
class Above:
    """``value > limit``; what a NaN is, the engine says, so guard floats with ``IsNan``."""

    value: Value
    limit: Constant


@dataclass(frozen=True)
class AnyOf:
    """The value of a column is one of the constants."""

    column: str
    constants: tuple[Constant, ...]


@dataclass(frozen=True)
class Matches:
    """Some part of a text matches an RE2 pattern."""

    column: str
    pattern: str


@dataclass(frozen=True)
class Holds:
    """The user's own predicate, already guarded (see ``predicate``)."""

    sql: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Not:
    """The predicate is false."""

    of: Predicate


@dataclass(frozen=True)
class And:
    """All predicates are true; of none: every row."""

    of: tuple[Predicate, ...] = ()


@dataclass(frozen=True)
class Or:
    """One of the predicates is true; of none: no row."""

    of: tuple[Predicate, ...] = ()


Predicate: TypeAlias = IsNull | IsNan | IsTrue | Below | Above | AnyOf | Matches | Holds | Not | And | Or

EVERY = And()
NONE = Or()


@dataclass(frozen=True)
class Aggregate:
    """One number about the rows.

    Attributes:
        function: ``count``, ``min``, ``max`` or ``sum``.
        of: What is aggregated; None for ``count``.
        where: The rows that take part.
    """

    function: str
    of: Value | None = None
    where: Predicate = field(default=EVERY)


def has_value(column: str) -> Predicate:
    """The column is not null."""
    return Not(IsNull(column))
