"""Values within bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Number, OneOf, Shape, Text

from ldp_quality import kinds
from ldp_quality._values import shown
from ldp_quality.bounds import NotComparable, above, as_number, below
from ldp_quality.checks.base import COLUMN, NAME, Check, CheckType, one_name, rows_text
from ldp_quality.expr import NONE, Aggregate, And, Column, IsNan, IsNull, Not, Or, Predicate
from ldp_quality.instants import moment_ns
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class Range(Check):
    """Every value of a column is within bounds, the bounds included; nulls pass, NaN does not.

    Texts compare by their bytes. A date or a timestamp is given as ISO 8601; without an offset it is UTC.

    Attributes:
        column: The column.
        min: The smallest value that is allowed.
        max: The largest value that is allowed.
        name: See ``Check``.

    Raises:
        ConfigError: Neither is given, one is no value, or min is above max.
    """

    kind: ClassVar[str] = "range"
    column: str
    min: Any = None
    max: Any = None

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        if self.min is None and self.max is None:
            raise ConfigError("needs min or max")
        for parameter, value in (("min", self.min), ("max", self.max)):
            if value is not None and not _bound(value):
                raise ConfigError(
                    f"{parameter} must be a number, a date or a string, got {value!r}", key=parameter
                )
        if self.min is not None and self.max is not None and _inverted(self.min, self.max):
            raise ConfigError(f"min ({self.min}) is greater than max ({self.max})", key="min")

    def subject(self) -> str:
        """The column."""
        return self.column

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"not {self._text()}"

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row is below, above or NaN; each is counted by itself, beside the extremes."""
        kind = columns[self.column]
        try:
            low = below(self.column, kind, self.min) if self.min is not None else NONE
            high = above(self.column, kind, self.max) if self.max is not None else NONE
        except NotComparable as error:
            text = f"cannot compare {self.column} ({kind.name}) with the bounds of {self._text()}: {error}"
            raise NotComparable(text) from None
        floats = kind.nan
        nan: Predicate = IsNan(self.column) if floats else NONE
        number = Not(nan) if floats else And()
        high = And((high, number)) if floats else high
        low = And((low, number)) if floats else low
        value = Column(self.column)
        wanted = {
            "low": Aggregate("count", where=low),
            "high": Aggregate("count", where=high),
            "nan": Aggregate("count", where=nan),
            "nulls": Aggregate("count", where=IsNull(self.column)),
            "least": Aggregate("min", value, number),
            "most": Aggregate("max", value, number),
        }

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, kind)

        return Plan(finish, wanted, bad=Or((low, high, nan)))

    def _judge(self, facts: Facts, kind: Kind) -> CheckResult:
        found = facts.values
        metrics: dict[str, Any] = {"column_type": kind.name}
        if self.min is not None:
            metrics["below_min"] = found["low"]
        if self.max is not None:
            metrics["above_max"] = found["high"]
        if kind.family == kinds.FLOAT or found["nan"]:
            metrics["nan_count"] = found["nan"]
        if found["least"] is not None:
            metrics["observed_min"] = shown(kind, found["least"])
            metrics["observed_max"] = shown(kind, found["most"])
        metrics["null_count"] = found["nulls"]
        if not facts.bad:
            return self.result(facts, True, f"every non-null value satisfies {self._text()}", metrics)
        nan = f", {found['nan']} NaN" if found["nan"] else ""
        details = (
            f"{facts.bad} of {rows_text(facts.rows)} violate {self._text()}: "
            f"{found['low']} below min, {found['high']} above max{nan}"
        )
        return self.result(facts, False, details, metrics, facts.bad)

    def _text(self) -> str:
        low, high = _shown(self.min), _shown(self.max)
        if self.min is None:
            return f"{self.column} <= {high}"
        return f"{self.column} >= {low}" if self.max is None else f"{low} <= {self.column} <= {high}"


def _shown(bound: Any) -> str:
    return repr(bound) if isinstance(bound, str) else str(bound)


def _bound(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str | date | time):
        return False
    return not (isinstance(value, float | Decimal) and math.isnan(value))


def _inverted(low: Any, high: Any) -> bool:
    """Whether min is above max in every way that a column could read them."""
    readings = []
    for read in (as_number, moment_ns):
        one, other = read(low), read(high)
        if one is not None and other is not None:
            readings.append(bool(one > other))
    if isinstance(low, str) and isinstance(high, str):
        readings.append(low > high)
    if isinstance(low, time) and isinstance(high, time):
        readings.append(low > high)
    return bool(readings) and all(readings)


_BOUND = OneOf((Number(), Text()))

RANGE = CheckType(
    "range",
    Range,
    Shape(
        (
            COLUMN,
            Key("min", _BOUND, "The smallest value that is allowed: a number, a date or a text."),
            Key("max", _BOUND, "The largest value that is allowed: a number, a date or a text."),
            NAME,
        ),
        doc="Every value is within bounds; nulls pass, NaN does not.",
    ),
)
