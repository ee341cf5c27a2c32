"""The words for what checks ask: the only place where a check becomes SQL text.

``Words`` speaks DuckDB's dialect; another engine that speaks SQL overrides what it says otherwise. The rows
are an alias-free relation whose columns are called by position, so that no column name, however strange,
meets the text of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from ldp_core._duck import text

from ldp_quality import kinds
from ldp_quality.expr import (
    Above,
    Aggregate,
    And,
    AnyOf,
    Apart,
    Below,
    Column,
    Constant,
    Holds,
    IsNan,
    IsNull,
    IsTrue,
    Matches,
    Not,
    Or,
    Predicate,
    Value,
)
from ldp_quality.kinds import Kind


class Words:
    """Writes predicates, values and aggregates over one relation.

    Args:
        places: SQL of each column, by the user's name.
        kinds: Kind of each column, by the user's name.
        holds: SQL of each of the users' own predicates.
    """

    def __init__(
        self, places: Mapping[str, str], kinds: Mapping[str, Kind], holds: Mapping[str, str]
    ) -> None:
        self._places = places
        self._kinds = kinds
        self._holds = holds
        self._writers: dict[type, Callable[[Any], str]] = {
            IsNull: lambda p: f"({self._places[p.column]} IS NULL)",
            IsNan: lambda p: self.is_nan(self._places[p.column]),
            IsTrue: lambda p: f"({self._places[p.column]})",
            Below: lambda p: self.compare(p.value, "<", p.limit),
            Above: lambda p: self.compare(p.value, ">", p.limit),
            AnyOf: self._any_of,
            Matches: lambda p: self.matches(self._places[p.column], p.pattern),
            Holds: lambda p: self._holds[p.sql],
            Not: lambda p: f"(NOT {self.predicate(p.of)})",
            And: lambda p: f"({' AND '.join(map(self.predicate, p.of)) or 'true'})",
            Or: lambda p: f"({' OR '.join(map(self.predicate, p.of)) or 'false'})",
        }

    def predicate(self, predicate: Predicate) -> str:
        """A boolean expression, in parentheses where it needs them."""
        return self._writers[type(predicate)](predicate)

    def is_nan(self, place: str) -> str:
        """Whether a float is not a number."""
        return f"isnan({place})"

    def matches(self, place: str, pattern: str) -> str:
        """Whether some part of a text matches an RE2 pattern."""
        return f"regexp_matches({place}, {text(pattern)})"

    def compare(self, value: Value, operator: str, limit: Constant) -> str:
        """A value against a constant of its own kind."""
        return f"({self.value(value)} {operator} {constant(limit)})"

    def value(self, value: Value) -> str:
        """A column (temporal ones as ticks) or a distance."""
        if isinstance(value, Apart):
            return f"abs({self._ns(value.first)} - {self._ns(value.second)})"
        place, kind = self._places[value.name], self._kinds[value.name]
        return ticks(place, kind) if kind.family in kinds.TEMPORAL else place

    def _ns(self, column: str) -> str:
        kind = self._kinds[column]
        return f"(CAST({ticks(self._places[column], kind)} AS HUGEINT) * {kind.ns_per_tick})"

    def _any_of(self, predicate: AnyOf) -> str:
        if not predicate.constants:
            return "false"
        listed = ", ".join(constant(item) for item in predicate.constants)
        return f"({self.value(Column(predicate.column))} IN ({listed}))"

    def aggregate(self, wanted: Aggregate) -> str:
        """One item of a SELECT list."""
        call = "count(*)" if wanted.of is None else f"{wanted.function}({self.value(wanted.of)})"
        return call if wanted.where == And() else f"{call} FILTER (WHERE {self.predicate(wanted.where)})"


def ticks(place: str, kind: Kind) -> str:
    """The ticks of a temporal column: days, microseconds or nanoseconds."""
    if kind.family == kinds.DATE:
        return f"({place} - DATE '1970-01-01')"
    return f"epoch_{kind.unit}({place})"


def constant(value: Constant) -> str:
    """A literal that DuckDB reads back as exactly this value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        scale = max(-int(exponent), 0)
        precision = max(len(digits) + max(int(exponent), 0), scale, 1)
        return f"CAST('{value:f}' AS DECIMAL({precision}, {scale}))"
    return f"({value})"
