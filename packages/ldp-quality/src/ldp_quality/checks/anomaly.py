"""Rows unlike the others; by default values far from the mean, by a plain statistical baseline.

What is usual is learnt from all rows, also where a condition leaves only some of them to be judged: new rows
are compared with what stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Anything, Int, Key, ListOf, MapOf, Number, OneOf, Shape, Text

from ldp_quality import kinds
from ldp_quality.bounds import NotComparable
from ldp_quality.checks.base import NAME, Check, CheckType, names, rows_text
from ldp_quality.detectors import MIN_ROWS, SIGMA, Detector, Sigma, detector_of
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, OutlierCounts, Outliers, Plan, Scan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class Anomaly(Check):
    """No value of a numeric column lies far from all others; nulls and NaN are not looked at.

    Attributes:
        column: The column; several where the detector looks at several.
        sigma: How many standard deviations from the mean are too far.
        mean: The mean of the past; that of the rows by default.
        stddev: The standard deviation of the past; that of the rows by default.
        min_rows: With fewer values the check passes and says so; it does not apply to a given past.
        detector: Another one than ``sigma``: a ``Detector``, the name of an installed one, or an object with
            its name in ``type`` and its options.
        name: See ``Check``.

    Raises:
        ConfigError: ``sigma`` or ``stddev`` is not above 0, only one of mean and stddev is given, or there is
            no such detector.
    """

    kind: ClassVar[str] = "anomaly"
    column: str | Sequence[str]
    sigma: float = 3.0
    mean: float | None = None
    stddev: float | None = None
    min_rows: int = MIN_ROWS
    detector: Any = SIGMA

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            object.__setattr__(self, "column", names(self.column, "column"))
        own = Sigma(self.columns[:1], self.sigma, self.mean, self.stddev, self.min_rows)
        if self.detector != SIGMA and own != Sigma(self.columns[:1]):
            raise ConfigError(
                f"sigma, mean, stddev and min_rows are options of the detector {SIGMA}", key="detector"
            )
        if not isinstance(self._detector, Detector):
            raise ConfigError(f"{self._detector!r} is no detector", key="detector")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return (self.column,) if isinstance(self.column, str) else tuple(self.column)

    @property
    def names_rows(self) -> bool:
        """Whether a condition says which rows they are: not where a detector looks at them itself."""
        return isinstance(self._detector, Sigma)

    @property
    def _detector(self) -> Detector:
        if self.detector == SIGMA:
            return Sigma(self.columns, self.sigma, self.mean, self.stddev, self.min_rows)
        return detector_of(self.detector, self.columns)

    def subject(self) -> str:
        """The columns."""
        return ", ".join(self.columns)

    def blame(self) -> str:
        """What is wrong with a row."""
        detector = self._detector
        if isinstance(detector, Sigma):
            return f"{self.subject()} is further than {detector.sigma:g} standard deviations from the mean"
        return super().blame()

    def needs(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Outliers are found in a pass of their own, once it is known what is usual."""
        detector = self._detector
        if not isinstance(detector, Sigma):
            return Plan(self._judge_rows, question=Scan(self.columns, detector))
        column = self.columns[0]
        kind = columns[column]
        if kind.family not in kinds.NUMERIC:
            raise NotComparable(f"{column} ({kind.name}) is no numeric column")

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, detector)

        question = Outliers(column, float(detector.sigma), detector.past, detector.min_rows)
        return Plan(finish, question=question)

    def _judge_rows(self, facts: Facts) -> CheckResult:
        """By another detector."""
        counts: OutlierCounts = facts.answer
        metrics: dict[str, Any] = {"values": counts.values, "outliers": counts.rows}
        if not counts.known:
            return self.result(facts, True, "too few rows to know what is usual", metrics)
        said = self.detector.get("type") if isinstance(self.detector, Mapping) else self.detector
        word = said if isinstance(said, str) else type(said).__name__
        details = f"the detector {word} finds {counts.rows} of {rows_text(facts.rows)} unlike the others"
        return self.result(facts, not counts.rows, details, metrics, counts.rows)

    def _judge(self, facts: Facts, detector: Sigma) -> CheckResult:
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
        usual = f"{detector.sigma:g} standard deviations ({counts.stddev:.6g}) of the mean {counts.mean:.6g}"
        if not counts.rows:
            return self.result(facts, True, f"every {self.subject()} is within {usual}", metrics)
        details = f"{counts.rows} of {rows_text(facts.rows)} have a {self.subject()} beyond {usual}"
        return self.result(facts, False, details, metrics, counts.rows)


ANOMALY = CheckType(
    "anomaly",
    Anomaly,
    Shape(
        (
            Key(
                "column",
                OneOf((Text(), ListOf(Text(), 1))),
                "The column that is looked at; several where the detector takes several.",
                required=True,
            ),
            Key(
                "sigma",
                Number(above=0),
                "So many standard deviations from the mean are too far.",
                default=3.0,
            ),
            Key("mean", Number(), "The mean of the past; that of the rows by default."),
            Key("stddev", Number(above=0), "The deviation of the past; that of the rows by default."),
            Key("min_rows", Int(min=2), "With fewer values it passes and says so.", default=MIN_ROWS),
            Key(
                "detector",
                OneOf((Text(), MapOf(Anything()))),
                "Another detector that is installed: its name, or an object with type and its options.",
                default=SIGMA,
            ),
            NAME,
        ),
        doc="No row is unlike the others; by default no value lies far from the mean, nulls and NaN aside.",
    ),
)
