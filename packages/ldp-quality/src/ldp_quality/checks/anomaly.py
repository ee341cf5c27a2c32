"""Values far from all others, by a plain statistical baseline.

A row is an outlier when its value is more than ``sigma`` sample standard deviations away from the mean. Mean
and deviation are those of the rows that are looked at, or are given: then new rows are compared with a known
past.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Int, Key, Number, Shape

from ldp_quality import kinds
from ldp_quality.bounds import NotComparable
from ldp_quality.checks.base import COLUMN, NAME, Check, CheckType, is_number, one_name, rows_text
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, OutlierCounts, Outliers, Plan
from ldp_quality.result import CheckResult

MIN_ROWS = 12
"""Of n values none lies beyond (n - 1) / sqrt(n) deviations: with fewer, none beyond 3 could be found."""


@dataclass(frozen=True)
class Anomaly(Check):
    """No value of a numeric column lies far from all others; nulls and NaN are not looked at.

    Attributes:
        column: The column.
        sigma: How many standard deviations from the mean are too far.
        mean: The mean of the past; that of the rows by default.
        stddev: The standard deviation of the past; that of the rows by default.
        min_rows: With fewer values the check passes and says so; it does not apply to a given past.
        name: See ``Check``.

    Raises:
        ConfigError: ``sigma`` or ``stddev`` is not above 0, or only one of mean and stddev is given.
    """

    kind: ClassVar[str] = "anomaly"
    column: str
    sigma: float = 3.0
    mean: float | None = None
    stddev: float | None = None
    min_rows: int = MIN_ROWS

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        if not is_number(self.sigma) or self.sigma <= 0:
            raise ConfigError(f"sigma must be a number above 0, got {self.sigma!r}", key="sigma")
        if (self.mean is None) != (self.stddev is None):
            raise ConfigError("mean and stddev are the past together: give both or neither", key="mean")
        for parameter in ("mean", "stddev"):
            value = getattr(self, parameter)
            if value is not None and not is_number(value):
                raise ConfigError(f"{parameter} must be a number, got {value!r}", key=parameter)
        if self.stddev is not None and self.stddev <= 0:
            raise ConfigError(f"stddev must be above 0, got {self.stddev!r}", key="stddev")
        if not isinstance(self.min_rows, int) or isinstance(self.min_rows, bool) or self.min_rows < 2:
            raise ConfigError(
                f"min_rows must be a whole number from 2, got {self.min_rows!r}", key="min_rows"
            )

    def subject(self) -> str:
        """The column."""
        return self.column

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Outliers are found in a pass of their own, once the baseline is known."""
        kind = columns[self.column]
        if kind.family not in kinds.NUMERIC:
            raise NotComparable(f"{self.column} ({kind.name}) is no numeric column")
        past = None if self.mean is None or self.stddev is None else (float(self.mean), float(self.stddev))
        return Plan(self._judge, question=Outliers(self.column, float(self.sigma), past, self.min_rows))

    def _judge(self, facts: Facts) -> CheckResult:
        counts: OutlierCounts = facts.answer
        metrics: dict[str, Any] = {
            "values": counts.values,
            "mean": counts.mean,
            "stddev": counts.stddev,
            "outliers": counts.rows,
        }
        if counts.mean is None or counts.stddev is None:
            details = f"{rows_text(counts.values)} with a value, too few to know what is usual"
            return self.result(facts, True, details, metrics)
        usual = f"{self.sigma:g} standard deviations ({counts.stddev:.6g}) of the mean {counts.mean:.6g}"
        if not counts.rows:
            return self.result(facts, True, f"every {self.column} is within {usual}", metrics)
        details = f"{counts.rows} of {rows_text(facts.rows)} have a {self.column} beyond {usual}"
        return self.result(facts, False, details, metrics, counts.rows)


ANOMALY = CheckType(
    "anomaly",
    Anomaly,
    Shape(
        (
            COLUMN,
            Key(
                "sigma",
                Number(above=0),
                "So many standard deviations from the mean are too far.",
                default=3.0,
            ),
            Key("mean", Number(), "The mean of the past; that of the rows by default."),
            Key("stddev", Number(above=0), "The deviation of the past; that of the rows by default."),
            Key("min_rows", Int(min=2), "With fewer values it passes and says so.", default=MIN_ROWS),
            NAME,
        ),
        doc="No value lies far from all others; nulls and NaN are not looked at.",
    ),
)
