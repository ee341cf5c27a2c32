"""Checks over the order of rows and over time: never back, never far apart, not too often, no gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Bool, Key, Number, Shape, Text

from ldp_quality import kinds
from ldp_quality._values import shown
from ldp_quality.bounds import NotComparable
from ldp_quality.checks.base import (
    COLUMN,
    NAME,
    NAMES,
    Check,
    CheckType,
    is_number,
    names,
    one_name,
    rows_text,
)
from ldp_quality.expr import Above, Aggregate, And, Apart, IsNull, IsTrue, has_value
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Hit, Plan, RateCounts, Rates, StepCounts, Steps
from ldp_quality.result import CheckResult

_NS_PER_MS = 1_000_000
_DENOMINATOR = 10**18
"""Rates are compared as fractions of at most this denominator, so that counts times it stay exact."""


@dataclass(frozen=True)
class Monotonic(Check):
    """A column never goes down from one row to the next; rows without a value, or with NaN, are skipped.

    Attributes:
        column: Numbers, texts, dates or timestamps.
        group_by: Each group for itself; nulls make one group.
        strict: It goes up each time.
        order_by: Columns that order the rows first (nulls last); the order of the input otherwise.
        name: See ``Check``.
    """

    kind: ClassVar[str] = "monotonic"
    column: str
    group_by: str | Sequence[str] = ()
    strict: bool = False
    order_by: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        _optional_names(self, "group_by")
        _optional_names(self, "order_by")
        if not isinstance(self.strict, bool):
            raise ConfigError(f"strict must be true or false, got {self.strict!r}", key="strict")

    @property
    def only_of_batch(self) -> str:
        """Only an input has an order of its own."""
        return "" if self.order_by else "the rows of a table have no order without order_by"

    def subject(self) -> str:
        """The column."""
        return self.column

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{self.column} is {'not more' if self.strict else 'less'} than in a row before"

    def needs(self) -> tuple[str, ...]:
        """The column and what groups and orders the rows."""
        return tuple(dict.fromkeys((self.column, *self.group_by, *self.order_by)))

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Each value against the one before, in a pass of its own."""
        kind = columns[self.column]
        if kind.family not in kinds.ORDERED | {kinds.NULL}:
            raise NotComparable(f"{self.column} is {kind.name}, which has no order")

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, kind)

        steps = Steps(self.column, tuple(self.group_by), tuple(self.order_by), self.strict)
        return Plan(finish, question=steps)

    def _judge(self, facts: Facts, kind: Kind) -> CheckResult:
        found: StepCounts = facts.answer
        metrics: dict[str, Any] = {
            "checked_rows": found.checked,
            "skipped_rows": facts.rows - found.checked,
            "strict": self.strict,
            "groups": found.groups,
            "violations": found.broken,
        }
        order = "increasing" if self.strict else "non-decreasing"
        if not found.broken:
            return self.result(
                facts, True, f"{self.column} is {order} over {rows_text(found.checked)}", metrics
            )
        metrics["sample"] = [_step(kind, hit) for hit in found.hits]
        first = metrics["sample"][0]
        relation = "not more than" if self.strict else "less than"
        details = (
            f"{found.broken} of {rows_text(found.checked)} break the {order} order of {self.column}; "
            f"e.g. row {first['row']}: {first['value']} is {relation} {first['previous']}"
        )
        return self.result(facts, False, details, metrics, found.broken)


@dataclass(frozen=True)
class MaxSkew(Check):
    """Two date or timestamp columns of a row are never further apart than a limit; nulls are skipped.

    Attributes:
        column_a: One column; times without a zone are UTC.
        column_b: The other.
        max_ms: The limit in milliseconds, itself allowed.
        name: See ``Check``.
    """

    kind: ClassVar[str] = "max_skew"
    column_a: str
    column_b: str
    max_ms: float

    def __post_init__(self) -> None:
        one_name(self.column_a, "column_a")
        one_name(self.column_b, "column_b")
        _milliseconds(self.max_ms)

    def subject(self) -> str:
        """Both columns."""
        return f"{self.column_a}, {self.column_b}"

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"{self.column_a} and {self.column_b} are more than {self.max_ms:g} ms apart"

    def needs(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.column_a, self.column_b)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row is one whose columns are too far apart."""
        types = [columns[self.column_a], columns[self.column_b]]
        for name, kind in zip(self.needs(), types, strict=True):
            if kind.family not in kinds.INSTANTS:
                raise NotComparable(f"{name} is {kind.name}, and a distance needs a date or a timestamp")
        apart = Apart(self.column_a, self.column_b)
        limit = Fraction(str(self.max_ms)) * _NS_PER_MS
        wanted = {
            "checked": Aggregate("count", where=And((has_value(self.column_a), has_value(self.column_b)))),
            "most": Aggregate("max", apart),
            "sum": Aggregate("sum", apart),
        }

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, [kind.name for kind in types])

        return Plan(finish, wanted, bad=Above(apart, limit.numerator // limit.denominator), shown=(apart,))

    def _judge(self, facts: Facts, types: list[str]) -> CheckResult:
        checked, most, total = (facts.values[name] for name in ("checked", "most", "sum"))
        metrics: dict[str, Any] = {
            "max_ms": self.max_ms,
            "column_types": types,
            "checked_rows": checked,
            "skipped_rows": facts.rows - checked,
            "max_skew_ms": most / _NS_PER_MS if checked else 0.0,
            "mean_skew_ms": int(total) // checked // 1_000 / 1_000 if checked else 0.0,
            "rows_over_limit": facts.bad,
        }
        a, b, over = self.column_a, self.column_b, f"{self.max_ms} ms"
        if not facts.bad:
            details = f"|{a} - {b}| <= {over} in {rows_text(checked)} (max {metrics['max_skew_ms']} ms)"
            return self.result(facts, True, details, metrics)
        metrics["sample"] = [{"row": hit.row, "skew_ms": hit.shown[0] / _NS_PER_MS} for hit in facts.hits]
        details = (
            f"{facts.bad} of {rows_text(checked)} have |{a} - {b}| > {over} (max {metrics['max_skew_ms']} ms)"
        )
        if facts.hits:
            details += f"; e.g. row {facts.hits[0].row}: {metrics['sample'][0]['skew_ms']} ms"
        return self.result(facts, False, details, metrics, facts.bad)


@dataclass(frozen=True)
class RateBelow(Check):
    """A boolean column is true in at most a part of the rows where it is not null.

    Attributes:
        predicate_column: The boolean column.
        max_rate: From 0 to 1, itself allowed.
        group_by: Each group for itself; nulls make one group.
        name: See ``Check``.
    """

    kind: ClassVar[str] = "rate_below"
    predicate_column: str
    max_rate: float
    group_by: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        one_name(self.predicate_column, "predicate_column")
        if not is_number(self.max_rate) or not 0 <= self.max_rate <= 1:
            raise ConfigError(f"max_rate must be a number from 0 to 1, got {self.max_rate!r}", key="max_rate")
        _optional_names(self, "group_by")

    @property
    def names_rows(self) -> bool:
        """No: each of the true rows is as good as the next."""
        return False

    def subject(self) -> str:
        """The column."""
        return self.predicate_column

    def needs(self) -> tuple[str, ...]:
        """The column and what groups the rows."""
        return tuple(dict.fromkeys((self.predicate_column, *self.group_by)))

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Counted in the shared pass; by group in a pass of its own."""
        column = self.predicate_column
        kind = columns[column]
        if kind.family not in {kinds.BOOLEAN, kinds.NULL}:
            raise NotComparable(f"{column} is {kind.name}, and a rate needs a boolean column")
        wanted = {"nulls": Aggregate("count", where=IsNull(column))}
        if kind.family == kinds.NULL:
            return Plan(self._judge_all, wanted)
        if not self.group_by:
            return Plan(self._judge_all, wanted, bad=IsTrue(column))
        limit = self._limit()
        rates = Rates(column, tuple(self.group_by), limit.numerator, limit.denominator)
        return Plan(
            self._judge_groups, {**wanted, "true": Aggregate("count", where=IsTrue(column))}, question=rates
        )

    def _limit(self) -> Fraction:
        return Fraction(str(self.max_rate)).limit_denominator(_DENOMINATOR)

    def _judge_all(self, facts: Facts) -> CheckResult:
        known = facts.rows - facts.values["nulls"]
        rate = facts.bad / known if known else 0.0
        metrics: dict[str, Any] = {
            "null_count": facts.values["nulls"],
            "true_count": facts.bad,
            "rate": rate,
            "max_rate": self.max_rate,
        }
        passed = facts.bad <= self._limit() * known
        details = (
            f"{self.predicate_column} rate {rate:.2%} ({facts.bad} of {known}) "
            f"{'<=' if passed else '>'} {self.max_rate:.2%}"
        )
        return self.result(facts, passed, details, metrics, 0 if passed else facts.bad)

    def _judge_groups(self, facts: Facts) -> CheckResult:
        found: RateCounts = facts.answer
        known = facts.rows - facts.values["nulls"]
        metrics: dict[str, Any] = {
            "null_count": facts.values["nulls"],
            "true_count": facts.values["true"],
            "rate": facts.values["true"] / known if known else 0.0,
            "max_rate": self.max_rate,
            "groups": found.groups,
            "groups_over_limit": found.over,
            "highest_rate": found.highest,
        }
        column, limit = self.predicate_column, f"{self.max_rate:.2%}"
        if not found.over:
            return self.result(
                facts, True, f"{column} rate <= {limit} in all {found.groups} group(s)", metrics
            )
        metrics["sample"] = [
            {"group": dict(zip(self.group_by, key, strict=True)), "true_count": true, "rate": true / rows}
            for key, true, rows in found.sample
        ]
        worst = metrics["sample"][0]
        details = (
            f"{found.over} of {found.groups} group(s) have a {column} rate > {limit}; "
            f"e.g. {worst['group']}: {worst['rate']:.2%}"
        )
        return self.result(facts, False, details, metrics, found.true_over)


@dataclass(frozen=True)
class MaxGap(Check):
    """In the order of time, no two neighbours of a date or timestamp column are too far apart.

    Attributes:
        column: The column; rows without a value are skipped.
        max_ms: The longest gap that is allowed, in milliseconds.
        group_by: Each group for itself; nulls make one group.
        name: See ``Check``.
    """

    kind: ClassVar[str] = "max_gap"
    column: str
    max_ms: float
    group_by: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        _milliseconds(self.max_ms)
        _optional_names(self, "group_by")

    @property
    def names_rows(self) -> bool:
        """No: what is missing is no row, and without the row after a gap the gap is wider."""
        return False

    def subject(self) -> str:
        """The column."""
        return self.column

    def needs(self) -> tuple[str, ...]:
        """The column and what groups the rows."""
        return tuple(dict.fromkeys((self.column, *self.group_by)))

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Neighbours in the order of time, in a pass of its own."""
        kind = columns[self.column]
        if kind.family not in kinds.INSTANTS:
            raise NotComparable(f"{self.column} is {kind.name}, and a gap needs a date or a timestamp")
        limit = Fraction(str(self.max_ms)) * _NS_PER_MS / kind.ns_per_tick
        steps = Steps(self.column, tuple(self.group_by), gap_over=limit.numerator // limit.denominator)

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, kind)

        return Plan(finish, question=steps)

    def _judge(self, facts: Facts, kind: Kind) -> CheckResult:
        found: StepCounts = facts.answer
        largest = _ms(kind, found.largest or 0)
        metrics: dict[str, Any] = {
            "max_ms": self.max_ms,
            "column_type": kind.name,
            "checked_rows": found.checked,
            "skipped_rows": facts.rows - found.checked,
            "groups": found.groups,
            "max_gap_ms": largest,
            "gaps_over_limit": found.broken,
        }
        if not found.broken:
            details = f"no gap in {self.column} over {self.max_ms} ms (max {largest} ms)"
            return self.result(facts, True, details, metrics)
        metrics["sample"] = [_gap(kind, hit) for hit in found.hits]
        first = metrics["sample"][0]
        details = (
            f"{found.broken} gap(s) in {self.column} over {self.max_ms} ms (max {largest} ms); "
            f"e.g. {first['gap_ms']} ms before row {first['row']}"
        )
        return self.result(facts, False, details, metrics, found.broken)


def _optional_names(check: Any, parameter: str) -> None:
    value = getattr(check, parameter)
    found = () if value is None else names(value, parameter, at_least=0)
    object.__setattr__(check, parameter, found)


def _milliseconds(value: Any) -> None:
    if not is_number(value) or value < 0:
        raise ConfigError(f"max_ms must be a non-negative number, got {value!r}", key="max_ms")


def _ms(kind: Kind, ticks: int) -> float:
    return int(ticks) * kind.ns_per_tick / _NS_PER_MS


def _step(kind: Kind, hit: Hit) -> dict[str, Any]:
    value, previous = (shown(kind, item, separator="T") for item in hit.shown)
    return {"row": hit.row, "value": value, "previous": previous}


def _gap(kind: Kind, hit: Hit) -> dict[str, Any]:
    value, previous = (int(item) for item in hit.shown)
    return {
        "row": hit.row,
        "gap_ms": _ms(kind, value - previous),
        "from": shown(kind, previous, separator="T"),
        "to": shown(kind, value, separator="T"),
    }


_GROUP_BY = Key("group_by", NAMES, "Each group of equal values here for itself.")
_MAX_MS = Key("max_ms", Number(min=0), "The limit in milliseconds.", required=True)

MONOTONIC = CheckType(
    "monotonic",
    Monotonic,
    Shape(
        (
            COLUMN,
            _GROUP_BY,
            Key("strict", Bool(), "The value goes up each time.", default=False),
            Key("order_by", NAMES, "Columns that order the rows; the order of the input by default."),
            NAME,
        ),
        doc="A column never goes down from one row to the next.",
    ),
)
MAX_SKEW = CheckType(
    "max_skew",
    MaxSkew,
    Shape(
        (
            Key("column_a", Text(), "A date or timestamp column.", required=True),
            Key("column_b", Text(), "A date or timestamp column.", required=True),
            _MAX_MS,
            NAME,
        ),
        doc="Two moments of a row are never too far apart.",
    ),
)
RATE_BELOW = CheckType(
    "rate_below",
    RateBelow,
    Shape(
        (
            Key("predicate_column", Text(), "A boolean column.", required=True),
            Key(
                "max_rate", Number(min=0, max=1), "The part of the rows where it may be true.", required=True
            ),
            _GROUP_BY,
            NAME,
        ),
        doc="A boolean column is true in at most a part of the rows.",
    ),
)
MAX_GAP = CheckType(
    "max_gap",
    MaxGap,
    Shape((COLUMN, _MAX_MS, _GROUP_BY, NAME), doc="No gap in time is longer than a limit."),
)
