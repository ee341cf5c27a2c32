"""What makes a value of a column a valid one: all of several conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ldp_core._duck import ident
from ldp_core.errors import ConfigError

from ldp_quality import kinds
from ldp_quality.bounds import NotComparable, above, as_number, below, equal
from ldp_quality.checks.base import is_number
from ldp_quality.expr import AnyOf, Holds, IsNan, Matches, Not, Or, Predicate
from ldp_quality.kinds import Kind

_CLOSE = "1e-9"
"""A float is a multiple when it is so close to one, in steps."""


@dataclass(frozen=True)
class Valid:
    """Conditions that a value must meet; those that are None ask nothing, and a null is asked nothing.

    Attributes:
        values: It is one of these.
        pattern: Some part of the text matches this RE2 pattern.
        min: It is at least this; a NaN is not.
        max: It is at most this; a NaN is not.
        above: It is more than this; a NaN is not.
        below: It is less than this; a NaN is not.
        min_length: A text has at least so many characters, a list so many items.
        max_length: At most so many.
        multiple_of: It is a multiple of this number; a float may be off by 1e-9 steps.
        distinct: No value stands twice in a list; nulls in it do not count.
    """

    values: tuple[Any, ...] | None = None
    pattern: str | None = None
    min: Any = None
    max: Any = None
    above: Any = None
    below: Any = None
    min_length: int | None = None
    max_length: int | None = None
    multiple_of: float | None = None
    distinct: bool = False

    def __post_init__(self) -> None:
        if self.pattern is not None:
            from ldp_quality.checks.rows import Regex

            Regex("x", self.pattern)
        for name in ("min_length", "max_length"):
            value = getattr(self, name)
            if value is not None and (not is_number(value) or value != int(value) or value < 0):
                raise ConfigError(f"{name} must be a whole number, got {value!r}", key=name)
        if self.multiple_of is not None and (not is_number(self.multiple_of) or self.multiple_of <= 0):
            raise ConfigError(f"multiple_of must be above zero, got {self.multiple_of!r}", key="multiple_of")

    def broken(self, column: str, kind: Kind) -> Predicate:
        """A value that is not null and not valid.

        Raises:
            NotComparable: A condition says nothing about such a column.
        """
        return Or(tuple(self._broken(column, kind)))

    def _broken(self, column: str, kind: Kind) -> Iterator[Predicate]:
        if kind.family == kinds.NULL:
            return
        if self.values is not None:
            constants = [equal(kind, value) for value in self.values if value is not None]
            yield Not(AnyOf(column, tuple(value for value in constants if value is not None)))
        if self.pattern is not None:
            if kind.family != kinds.TEXT:
                raise NotComparable(f"a pattern needs a column of texts, and {column} is {kind.name}")
            yield Not(Matches(column, self.pattern))
        yield from self._outside(column, kind)
        yield from self._length(column, kind)
        if self.multiple_of is not None:
            yield self._no_multiple(column, kind)
        if self.distinct:
            name = ident(column)
            yield Not(Holds(f"list_unique({name}) = list_count({name})", (column,)))

    def _outside(self, column: str, kind: Kind) -> Iterator[Predicate]:
        bounds = (self.min, self.max, self.above, self.below)
        if all(bound is None for bound in bounds):
            return
        if kind.family == kinds.FLOAT:
            yield IsNan(column)
        if self.min is not None:
            yield below(column, kind, self.min)
        if self.max is not None:
            yield above(column, kind, self.max)
        if self.above is not None:
            yield Not(above(column, kind, self.above))
        if self.below is not None:
            yield Not(below(column, kind, self.below))

    def _length(self, column: str, kind: Kind) -> Iterator[Predicate]:
        if self.min_length is None and self.max_length is None:
            return
        if kind.family not in {kinds.TEXT, kinds.NESTED}:
            raise NotComparable(f"a length needs texts or lists, and {column} is {kind.name}")
        call = f"{'length' if kind.family == kinds.TEXT else 'len'}({ident(column)})"
        if self.min_length is not None:
            yield Holds(f"{call} < {int(self.min_length)}", (column,))
        if self.max_length is not None:
            yield Holds(f"{call} > {int(self.max_length)}", (column,))

    def _no_multiple(self, column: str, kind: Kind) -> Predicate:
        if kind.family not in kinds.NUMERIC:
            raise NotComparable(f"multiples are of numbers, and {column} is {kind.name}")
        name, step = ident(column), _plain(self.multiple_of)
        if kind.family == kinds.FLOAT:
            steps = f"(CAST({name} AS DOUBLE) / CAST({step} AS DOUBLE))"
            return Not(Holds(f"abs({steps} - floor({steps} + 0.5)) <= {_CLOSE}", (column,)))
        return Not(Holds(f"{name} % {step} = 0", (column,)))

    def __str__(self) -> str:
        parts = [
            *([f"one of {list(self.values)}"] if self.values is not None else []),
            *([f"like {self.pattern!r}"] if self.pattern is not None else []),
            *([f"at least {self.min}"] if self.min is not None else []),
            *([f"at most {self.max}"] if self.max is not None else []),
            *([f"above {self.above}"] if self.above is not None else []),
            *([f"below {self.below}"] if self.below is not None else []),
            *([f"at least {self.min_length} long"] if self.min_length is not None else []),
            *([f"at most {self.max_length} long"] if self.max_length is not None else []),
            *([f"a multiple of {_plain(self.multiple_of)}"] if self.multiple_of is not None else []),
            *(["without a value twice"] if self.distinct else []),
        ]
        return " and ".join(parts)


def _plain(number: float | None) -> str:
    """A number without an exponent, for it would make SQL read it as a float."""
    exact = as_number(number)
    return f"{Decimal(repr(number)):f}" if isinstance(number, float) else str(exact)
