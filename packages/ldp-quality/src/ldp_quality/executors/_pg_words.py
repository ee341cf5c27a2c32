"""PostgreSQL's words for what checks ask."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ldp_quality import kinds
from ldp_quality._sql import Words
from ldp_quality.executors import _re2
from ldp_quality.executors._translate import to_postgres
from ldp_quality.executors._typed import text
from ldp_quality.expr import Aggregate, And, AnyOf, Apart, Column, Constant, Holds, Value
from ldp_quality.kinds import Kind


class PostgresWords(Words):
    """Writes predicates, values and aggregates over one relation; texts there are collated by their bytes.

    Args:
        places: SQL of each column, by the user's name.
        kinds: Kind of each column, by the user's name.
    """

    def __init__(self, places: Mapping[str, str], kinds: Mapping[str, Kind]) -> None:
        super().__init__(places, kinds, {})
        self._writers[Holds] = lambda p: to_postgres(p.sql, places, kinds)

    def is_nan(self, place: str) -> str:
        """Whether a number is not one."""
        return f"({place} = 'NaN')"

    def matches(self, place: str, pattern: str) -> str:
        """Whether some part of a text matches an RE2 pattern."""
        return f"({place} ~ {text(_re2.to_postgres(pattern))})"

    def compare(self, value: Value, operator: str, limit: Constant) -> str:
        """A value against a constant; moments are compared as they are, without a look at their ticks."""
        if isinstance(value, Apart):
            span = self._span(value)
            if span is None or operator != ">" or not isinstance(limit, int):
                return f"({self.value(value)} {operator} {constant(limit)})"
            # Spans are compared many times faster than their length in nanoseconds.
            most = limit // 1_000
            return f"({span} > '{most} us'::interval OR {span} < '{-most} us'::interval)"
        place, kind = self._places[value.name], self._kinds[value.name]
        if kind.family in kinds.TEMPORAL and isinstance(limit, int):
            return f"({place} {operator} {moment(limit, kind)})"
        return f"({place} {operator} {constant(limit)})"

    def value(self, value: Value) -> str:
        """A column (temporal ones as ticks) or a distance."""
        if isinstance(value, Apart):
            span = self._span(value)
            if span is not None:
                return f"abs(extract(epoch FROM {span}) * 1000000000)"
            return f"abs({self._ns(value.first)} - {self._ns(value.second)})"
        place, kind = self._places[value.name], self._kinds[value.name]
        return ticks(place, kind) if kind.family in kinds.TEMPORAL else place

    def _span(self, value: Apart) -> str | None:
        """The interval between two timestamps of one type, in days and microseconds; None for others."""
        first, second = self._kinds[value.first], self._kinds[value.second]
        if {first.family, second.family} != {kinds.TIMESTAMP} or first.zone != second.zone:
            return None
        return f"({self._places[value.first]} - {self._places[value.second]})"

    def _ns(self, column: str) -> str:
        place, kind = self._places[column], self._kinds[column]
        return f"({ticks(place, kind)}::numeric * {kind.ns_per_tick})"

    def _any_of(self, predicate: AnyOf) -> str:
        place, kind = self._places[predicate.column], self._kinds[predicate.column]
        known = [item for item in predicate.constants if not (isinstance(item, str) and "\0" in item)]
        moments = kind.family in kinds.TEMPORAL
        listed = [moment(int(item), kind) if moments else constant(item) for item in known]
        return f"({place} IN ({', '.join(listed)}))" if listed else "false"

    def aggregate(self, wanted: Aggregate) -> str:
        """One item of a SELECT list; the ticks of an extreme are those of the extreme moment."""
        if isinstance(wanted.of, Column) and wanted.function in ("min", "max"):
            place, kind = self._places[wanted.of.name], self._kinds[wanted.of.name]
            only = "" if wanted.where == And() else f" FILTER (WHERE {self.predicate(wanted.where)})"
            call = f"{wanted.function}({place}){only}"
            return ticks(call, kind) if kind.family in kinds.TEMPORAL else call
        return super().aggregate(wanted)

    def reads(self, value: Value) -> Any:
        """How an answer about a value becomes the Python value that checks expect."""
        if isinstance(value, Apart):
            return int
        return int if self._kinds[value.name].family in kinds.TEMPORAL | {kinds.INTEGER} else _same


def _same(value: Any) -> Any:
    return value


def ticks(place: str, kind: Kind) -> str:
    """The ticks of a date, a time or a timestamp; of an infinite one they are an error."""
    if kind.family == kinds.DATE:
        return f"({place} - '1970-01-01'::date)"
    return f"((extract(epoch FROM {place}) * 1000000)::bigint)"


def moment(count: int, kind: Kind) -> str:
    """The moment of so many ticks; without a look at the session's time zone, so that it is a constant."""
    if kind.family == kinds.DATE:
        return f"('1970-01-01'::date + ({count}))"
    start = {kinds.TIME: "'00:00'::time"}.get(kind.family, "'1970-01-01'::timestamp")
    at = f"({start} + '{count} microseconds'::interval)"
    return f"({at} AT TIME ZONE 'UTC')" if kind.zone else at


def constant(value: Constant) -> str:
    """A literal that PostgreSQL reads back as exactly this value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return f"'{value!r}'::float8"
    if isinstance(value, Decimal):
        return f"'{value:f}'::numeric"
    return f"({value})"
