"""A number of the batch that is unlike that of earlier runs.

The past is that of the data, not of the clock: a window is compared with windows that end before it, so that
a backfill is judged as it would have been then.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from ldp_core.errors import ConfigError, LDPError
from ldp_core.shape import Int, Key, Number, Shape, Text

from ldp_quality import kinds
from ldp_quality.bounds import NotComparable
from ldp_quality.checks.base import NAME, Check, CheckType, is_number, one_name
from ldp_quality.checks.drift import one_of
from ldp_quality.expr import EVERY, Aggregate, And, Column, IsNan, IsNull, Not, has_value
from ldp_quality.grade import NOT_RUN
from ldp_quality.history import PARTIAL, ROWS, PartOfRun
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, KeyCounts, Keys, Plan
from ldp_quality.result import CheckResult

NULLS, SUM, MEAN, MIN, MAX, DISTINCT = "null_share", "sum", "mean", "min", "max", "distinct"
METRICS = (ROWS, NULLS, SUM, MEAN, MIN, MAX, DISTINCT)
RUNS, WEEKDAY = "runs", "weekday"
BASELINES = (RUNS, WEEKDAY)
MEDIAN = "median"
METHODS = (MEAN, MEDIAN)
BOTH, ABOVE, BELOW = "both", "above", "below"
DIRECTIONS = (BOTH, ABOVE, BELOW)
LAST, MIN_HISTORY = 30, 7

_MAD = 1.4826
"""Of normal values, the standard deviation in median absolute deviations."""
_ROUNDING = 1e-9
"""What sums of floats may differ in by the order in which they were added, as a part of them."""


@dataclass(frozen=True)
class MetricAnomaly(Check):
    """A number of the batch is about what it was in earlier runs.

    Attributes:
        metric: ``row_count``, or of a column ``null_share``, ``sum``, ``mean``, ``min``, ``max`` or
            ``distinct`` (nulls aside; NaN, too, where it is about numbers).
        column: The column; none for ``row_count``.
        baseline: ``runs``: the last runs; ``weekday``: those of the same day of the week.
        last: How many of them at most.
        min_history: With fewer it passes and says so.
        sigma: How many standard deviations from the usual value are too far.
        method: ``mean`` and standard deviation; or ``median`` and its absolute deviation (scaled to the
            standard deviation), which a single odd run does not move.
        direction: ``both``, or only what is ``above`` or ``below``.
        name: See ``Check``.

    Raises:
        ConfigError: A word or a number is wrong, or the metric has no column or may have none.
    """

    kind: ClassVar[str] = "metric_anomaly"
    counts_rows: ClassVar[bool] = False
    only_of_batch: ClassVar[str] = "its history is that of runs"
    metric: str
    column: str | None = None
    baseline: str = RUNS
    last: int = LAST
    min_history: int = MIN_HISTORY
    sigma: float = 3.0
    method: str = MEAN
    direction: str = BOTH

    def __post_init__(self) -> None:
        one_of(self.metric, "metric", METRICS)
        one_of(self.baseline, "baseline", BASELINES)
        one_of(self.method, "method", METHODS)
        one_of(self.direction, "direction", DIRECTIONS)
        if self.metric == ROWS and self.column is not None:
            raise ConfigError(f"{ROWS} is about all columns: leave column out", key="column")
        if self.metric != ROWS:
            if self.column is None:
                raise ConfigError(f"metric {self.metric} needs a column", key="column")
            one_name(self.column, "column")
        if not is_number(self.sigma) or self.sigma <= 0:
            raise ConfigError(f"sigma must be a number above 0, got {self.sigma!r}", key="sigma")
        for parameter in ("min_history", "last"):
            value = getattr(self, parameter)
            if not isinstance(value, int) or isinstance(value, bool) or value < 2:
                raise ConfigError(f"{parameter} must be a whole number from 2, got {value!r}", key=parameter)
        if self.min_history > self.last:
            text = f"min_history ({self.min_history}) is more than the last {self.last} that are looked at"
            raise ConfigError(text, key="min_history")

    @property
    def number(self) -> str:
        """What the number is called in metrics and in the history: ``sum(fare)``."""
        return self.metric if self.column is None else f"{self.metric}({self.column})"

    def subject(self) -> str:
        """The number."""
        return self.number

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return () if self.column is None else (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """The number is one of the shared pass; different values need a pass of their own."""
        past, reason = self._past(context)

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, past, reason)

        if isinstance(context.history, PartOfRun):
            return Plan(self._part)
        if self.column is None:
            return Plan(finish)
        if self.metric == DISTINCT:
            return Plan(finish, question=Keys((self.column,)))
        if self.metric == NULLS:
            return Plan(finish, {"nulls": Aggregate("count", where=IsNull(self.column))})
        kind = columns[self.column]
        if kind.family not in kinds.NUMERIC:
            raise NotComparable(f"{self.column} ({kind.name}) is no numeric column")
        number = And((has_value(self.column), Not(IsNan(self.column)) if kind.nan else EVERY))
        function = SUM if self.metric == MEAN else self.metric
        wanted = {
            "count": Aggregate("count", where=number),
            "of": Aggregate(function, Column(self.column), where=number),
        }
        return Plan(finish, wanted)

    def _past(self, context: Context) -> tuple[list[float], str | None]:
        """The numbers of the past, or why there are none."""
        if context.history is None:
            return [], "no history of earlier runs is at hand"
        now = context.now or datetime.now(UTC)
        now = now.replace(tzinfo=UTC) if now.tzinfo is None else now
        try:
            zone = ZoneInfo(context.history.timezone)
            today = _weekday(now, zone)
            found = context.history.past(
                self.number,
                context.where,
                now,
                self.last,
                lambda at: self.baseline == RUNS or _weekday(at, zone) == today,
            )
        except LDPError as error:
            return [], str(error)
        return [item.value for item in found], None

    def _value(self, facts: Facts) -> float | None:
        """The number; None where no row has a value."""
        if self.metric == ROWS:
            return facts.rows
        counted: KeyCounts | None = facts.answer
        if counted is not None:
            return counted.distinct
        if self.metric == NULLS:
            nulls: int = facts.values["nulls"]
            return nulls / facts.rows if facts.rows else None
        count, of = facts.values["count"], facts.values["of"]
        if not count:
            return None
        number: float = of if isinstance(of, int) else float(of)
        return number / count if self.metric == MEAN else number

    def _part(self, facts: Facts) -> CheckResult:
        text = "rows that come back are a part of what was loaded: not compared with earlier runs"
        return self.result(facts, True, text, {PARTIAL: 1})

    def _judge(self, facts: Facts, past: Sequence[float], reason: str | None) -> CheckResult:
        value = self._value(facts)
        # The number of rows stands in every result.
        own = {} if self.metric == ROWS or value is None else {self.number: value}
        metrics: dict[str, Any] = {**own, "history": len(past)}
        if reason is not None:
            told = {"row_count": facts.rows, **own, "reason": reason}
            return CheckResult(self.label, False, f"not run: {reason}", 0, told, status=NOT_RUN)
        if value is None:
            return self.result(facts, True, f"no row has a {self.column}, so there is no number", metrics)
        if len(past) < self.min_history:
            few = f"not enough history: {len(past)} of {self.min_history} runs"
            return self.result(facts, True, f"{self.number} is {_shown(value)}; {few}", metrics)
        usual, spread = baseline(past, self.method)
        far = self._far(value, usual, spread)
        metrics |= {"usual": usual, "deviation": spread}
        of = "runs" if self.baseline == RUNS else "runs of this weekday"
        what = "deviations" if self.method == MEDIAN else "standard deviations"
        usually = f"the {self.method} {usual:.6g} of {len(past)} {of}"
        reach = f"{self.sigma:g} {what} ({spread:.6g})"
        side = "above" if value > usual else "below"
        found = f"{side} {usually} by more than {reach}" if far else f"within {reach} of {usually}"
        return self.result(facts, not far, f"{self.number} is {_shown(value)}, {found}", metrics)

    def _far(self, value: float, usual: float, spread: float) -> bool:
        if math.isnan(value):
            return True  # the sum of an infinity and its opposite: there is no such number
        distance = value - usual
        if self.direction == ABOVE:
            distance = max(distance, 0.0)
        elif self.direction == BELOW:
            distance = min(distance, 0.0)
        rounding = _ROUNDING * max(abs(usual), abs(value)) if math.isfinite(value) else 0.0
        return abs(distance) > self.sigma * spread + rounding


def baseline(past: Sequence[float], method: str) -> tuple[float, float]:
    """What is usual, and how far values lie from it.

    Args:
        past: At least two values.
        method: ``mean`` or ``median``.
    """
    values = [float(value) for value in past]
    if method == MEDIAN:
        usual = statistics.median(values)
        return usual, _MAD * statistics.median(abs(value - usual) for value in values)
    return statistics.fmean(values), statistics.stdev(values)


def _weekday(at: datetime, zone: ZoneInfo) -> int:
    """The day of the week of the last moment before this one: a window ends when its day is over."""
    return (at - timedelta(microseconds=1)).astimezone(zone).weekday()


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


METRIC_ANOMALY = CheckType(
    "metric_anomaly",
    MetricAnomaly,
    Shape(
        (
            Key("metric", Text(choices=METRICS), "The number that is compared.", required=True),
            Key("column", Text(), "Its column; row_count has none."),
            Key(
                "baseline",
                Text(choices=BASELINES),
                "runs: the last runs; weekday: those of the same day of the week.",
                default=RUNS,
            ),
            Key("last", Int(min=2), "So many of them at most.", default=LAST),
            Key("min_history", Int(min=2), "With fewer it passes and says so.", default=MIN_HISTORY),
            Key("sigma", Number(above=0), "So many standard deviations are too far.", default=3.0),
            Key(
                "method",
                Text(choices=METHODS),
                "mean, or median, which a single odd run does not move.",
                default=MEAN,
            ),
            Key("direction", Text(choices=DIRECTIONS), "Which side is looked at.", default=BOTH),
            NAME,
        ),
        doc="A number of the batch is about what it was in earlier runs.",
    ),
)
