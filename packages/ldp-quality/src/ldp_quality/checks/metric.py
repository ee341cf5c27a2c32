"""A number about the rows, compared by operators: the library metrics of the standard for data contracts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ldp_core.errors import ConfigError

from ldp_quality._values import json_value
from ldp_quality.bounds import equal
from ldp_quality.checks.base import Check, cut, rows_text
from ldp_quality.checks.operators import Operator
from ldp_quality.checks.unique import keep_of
from ldp_quality.checks.valid import Valid
from ldp_quality.expr import Aggregate, And, AnyOf, IsNull, Or, Predicate, has_value
from ldp_quality.kinds import Kind
from ldp_quality.plan import FIRST, Context, Facts, KeyCounts, Keys, Plan
from ldp_quality.result import CheckResult

NULLS, MISSING, INVALID, DUPLICATES, ROWS = (
    "nullValues",
    "missingValues",
    "invalidValues",
    "duplicateValues",
    "rowCount",
)
METRICS = (NULLS, MISSING, INVALID, DUPLICATES, ROWS)
UNITS = ("rows", "percent")
ANY = Valid()
"""Every value is valid."""


@dataclass(frozen=True)
class Metric(Check):
    """A count of rows, or its share of all rows, is as the operators say. Of no rows every share is 0.

    Attributes:
        metric: ``nullValues``, ``missingValues``, ``invalidValues`` (a null is not invalid),
            ``duplicateValues`` (the rows that repeat the key of a row before; without a null in it) or
            ``rowCount``.
        operators: All of them must hold.
        columns: The column it is about; several for ``duplicateValues``, none for ``rowCount``.
        unit: ``rows`` or ``percent``.
        missing: What counts as missing; None stands for a null.
        valid: What makes a value valid.
        keep: Of duplicates: see ``Unique``.
        name: See ``Check``.

    Raises:
        ConfigError: The parts do not go together.
    """

    kind: ClassVar[str] = "metric"
    metric: str
    operators: tuple[Operator, ...]
    columns: tuple[str, ...] = ()
    unit: str = "rows"
    missing: tuple[Any, ...] = (None,)
    valid: Valid = ANY
    keep: str = FIRST

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ConfigError(f"unknown metric {self.metric}; known: {', '.join(METRICS)}", key="metric")
        if self.unit not in UNITS:
            raise ConfigError(f"unit must be rows or percent, got {self.unit!r}", key="unit")
        if not self.operators:
            raise ConfigError(f"{self.metric} needs an operator such as mustBe", key="metric")
        if self.metric == ROWS and self.unit == "percent":
            raise ConfigError("rowCount has no share: it is all the rows", key="unit")
        if self.metric != ROWS and not self.columns:
            raise ConfigError(f"{self.metric} needs a column", key="columns")
        object.__setattr__(self, "keep", keep_of(self.keep))
        if self.metric == INVALID and self.valid == ANY:
            raise ConfigError("invalidValues needs to be told what is valid", key="valid")

    @property
    def counts_rows(self) -> bool:  # type: ignore[override]
        """Whether single rows break it: not where it is about how many rows there are."""
        return self.metric != ROWS

    @property
    def names_rows(self) -> bool:
        """Whether it holds without a bad row."""
        return self.metric != ROWS and all(operator.holds(Fraction(0)) for operator in self.operators)

    def blame(self) -> str:
        """What is wrong with a row."""
        column = self.subject()
        return {
            NULLS: f"{column} has no value",
            MISSING: f"{column} counts as missing",
            INVALID: f"{column} is not {cut(str(self.valid))}",
            DUPLICATES: f"{column} is as in {'a row before' if self.keep == FIRST else 'another row'}",
        }.get(self.metric, self.label)

    @property
    def label(self) -> str:
        """``nullValues(fare)`` unless it has its own name."""
        return self.name or (f"{self.metric}({self.subject()})" if self.columns else self.metric)

    def subject(self) -> str:
        """The columns."""
        return ", ".join(self.columns)

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Duplicates need a pass of their own; the rest is one count."""
        if self.metric == ROWS:
            return Plan(lambda facts: self._judge(facts, facts.rows, {}))
        if self.metric == DUPLICATES:
            return Plan(self._judge_keys, question=Keys(self.columns, self.keep))
        bad = self._bad(self.columns[0], columns[self.columns[0]])
        return Plan(self._judge_bad, {"nulls": Aggregate("count", where=IsNull(self.columns[0]))}, bad=bad)

    def _bad(self, column: str, kind: Kind) -> Predicate:
        if self.metric == NULLS:
            return IsNull(column)
        if self.metric == INVALID:
            return And((has_value(column), self.valid.broken(column, kind)))
        named = [equal(kind, value) for value in self.missing if value is not None]
        listed = AnyOf(column, tuple(value for value in named if value is not None))
        return Or((*((IsNull(column),) if None in self.missing else ()), listed))

    def _judge_bad(self, facts: Facts) -> CheckResult:
        return self._judge(facts, facts.bad, {"null_count": facts.values["nulls"]})

    def _judge_keys(self, facts: Facts) -> CheckResult:
        found: KeyCounts = facts.answer
        extra: dict[str, Any] = {"distinct_keys": found.distinct, "duplicate_keys": found.repeated}
        if found.among:
            extra |= {"keys_standing": found.taken, "rows_with_keys_standing": found.taken_rows}
        if found.sample:
            extra["sample"] = [{"key": self._key(key), "count": count} for key, count in found.sample]
        return self._judge(facts, found.repeated_rows - found.repeated + found.taken, extra)

    def _key(self, key: tuple[Any, ...]) -> Any:
        return key[0] if len(self.columns) == 1 else dict(zip(self.columns, key, strict=True))

    def _judge(self, facts: Facts, count: int, extra: Mapping[str, Any]) -> CheckResult:
        value = Fraction(count)
        if self.unit == "percent":
            value = Fraction(count * 100, facts.rows) if facts.rows else Fraction(0)
        passed = all(operator.holds(value) for operator in self.operators)
        blamed = self.counts_rows and any(operator.too_many(value) for operator in self.operators)
        metrics = {
            "metric": self.metric,
            "value": count if self.unit == "rows" else float(value),
            "unit": self.unit,
            "count": count,
            **({"missing": [json_value(item) for item in self.missing]} if self.metric == MISSING else {}),
            **extra,
        }
        unit = "%" if self.unit == "percent" else ""
        wanted = " and ".join(operator.text(unit) for operator in self.operators)
        share = f" ({_share(value)})" if unit else ""
        details = f"{self._found(count, facts.rows)}{share}, {wanted}"
        return self.result(facts, passed, details, metrics, count if blamed else 0)

    def _found(self, count: int, rows: int) -> str:
        if self.metric == ROWS:
            return rows_text(count)
        column = self.subject()
        text = {
            NULLS: f"have no {column}",
            MISSING: f"have a {column} that counts as missing",
            INVALID: f"have a {column} that is not {self.valid}",
            DUPLICATES: f"repeat the {column} of another",
        }[self.metric]
        return f"{count} of {rows_text(rows)} {text}"


def _share(value: Fraction) -> str:
    text = f"{float(value):.4g}%"
    return f"about {text}" if Fraction(text[:-1]) != value else text
