"""Detectors: what finds rows unlike the others.

The first is ``sigma``, plain statistics that the engine itself computes. One that stands on a model learns
from a sample and looks at the rows batch by batch, so that it needs no more memory for more rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ldp_core import registry
from ldp_core.errors import ConfigError
from ldp_core.shape import Int, Key, Number, Shape

from ldp_quality.checks.base import is_number
from ldp_quality.plan import CannotEvaluate, Hit, OutlierCounts

if TYPE_CHECKING:
    import pyarrow as pa

GROUP = "ldp.detectors"
SIGMA = "sigma"
MIN_ROWS = 12
"""Of n values none lies beyond (n - 1) / sqrt(n) deviations: with fewer, none beyond 3 could be found."""
_ROUNDING = 1e-12
"""What a mean of floats may be off by, as a part of it: 0.1 added ten times is not one."""


@dataclass(frozen=True)
class Stats:
    """The values of a numeric column; nulls and NaN are none.

    Attributes:
        values: How many.
        mean: Of the finite ones; None without any.
        stddev: Their sample standard deviation; None below two.
        low: The smallest of them.
        high: The largest.
    """

    values: int
    mean: float | None = None
    stddev: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Found:
    """Rows that are unlike the others.

    Attributes:
        looked_at: How many rows were looked at.
        rows: How many of them are unlike the others.
        first: The numbers of the first of these in the input.
    """

    looked_at: int
    rows: int = 0
    first: tuple[int, ...] = ()


class DetectorRows(Protocol):
    """The rows that a detector may look at, in the columns that the check names."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        ...

    def stats(self, column: str) -> Stats:
        """Mean and deviation of a numeric column, by the engine."""
        ...

    def beyond(self, column: str, mean: float, distance: float) -> Found:
        """Values further from a mean than a distance, by the engine; an infinite one always is."""
        ...

    def sample(self, rows: int) -> pa.Table:
        """So many rows at most, the same ones each time for the same input.

        Raises:
            CannotEvaluate: The engine gives no rows away.
        """
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows, a batch at a time.

        Raises:
            CannotEvaluate: The engine gives no rows away.
        """
        ...

    def matching(self, test: Callable[[pa.RecordBatch], Any]) -> Found:
        """Rows for which a test is true.

        Args:
            test: Takes a batch of rows, gives true or false for each (pyarrow, numpy or plain values).

        Raises:
            CannotEvaluate: The engine gives no rows away, or the test gives something else.
        """
        ...


@runtime_checkable
class Detector(Protocol):
    """Finds rows unlike the others."""

    def fit(self, rows: DetectorRows) -> Any:
        """Learn what is usual; None where there is too little to learn from, so that the check passes.

        Args:
            rows: All rows, also where a condition leaves only some of them to be judged.
        """
        ...

    def scan(self, rows: DetectorRows, usual: Any) -> Found:
        """Find the rows that are not.

        Args:
            rows: The rows that are judged.
            usual: What ``fit`` gave.
        """
        ...


@dataclass(frozen=True)
class DetectorType:
    """A kind of detector as the entry-point group ``ldp.detectors`` holds it.

    Attributes:
        name: The word in a config.
        make: Makes one; its parameters are the columns and the keys of the shape.
        shape: What a config may say besides ``type``.
    """

    name: str
    make: Callable[..., Detector]
    shape: Shape


@dataclass(frozen=True)
class Sigma:
    """Values more than so many standard deviations from the mean, in SQL: nothing is read but numbers.

    Attributes:
        columns: The one column.
        sigma: How many standard deviations are too far.
        mean: The mean of the past; that of the rows by default.
        stddev: The standard deviation of the past; that of the rows by default.
        min_rows: With fewer values nothing is known; it does not apply to a given past.

    Raises:
        ConfigError: A number is wrong, or there is more than one column.
    """

    columns: tuple[str, ...]
    sigma: float = 3.0
    mean: float | None = None
    stddev: float | None = None
    min_rows: int = MIN_ROWS

    def __post_init__(self) -> None:
        if len(self.columns) != 1:
            raise ConfigError(f"the detector {SIGMA} looks at one column", key="column")
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

    @property
    def past(self) -> tuple[float, float] | None:
        """What was given to compare with."""
        return None if self.mean is None or self.stddev is None else (float(self.mean), float(self.stddev))

    def fit(self, rows: DetectorRows) -> tuple[float, float] | None:
        """The mean and the deviation.

        Raises:
            CannotEvaluate: The values are too large to be added up.
        """
        if self.past is not None:
            return self.past
        stats = rows.stats(self.columns[0])
        if stats.values < self.min_rows or stats.mean is None or stats.stddev is None:
            return None
        if stats.low is not None and stats.low == stats.high:
            return stats.low, 0.0  # exactly: the mean of many times 0.1 is not 0.1
        if not (math.isfinite(stats.mean) and math.isfinite(stats.stddev)):
            raise CannotEvaluate(f"the values of {self.columns[0]} are too large for a mean and a deviation")
        return stats.mean, stats.stddev

    def scan(self, rows: DetectorRows, usual: tuple[float, float]) -> Found:
        """The values that are too far."""
        mean, stddev = usual
        return rows.beyond(self.columns[0], mean, reach(self.sigma, mean, stddev))


def reach(sigma: float, mean: float, stddev: float) -> float:
    """The distance from a mean that is too far, with what rounding may add to it."""
    return sigma * stddev + _ROUNDING * abs(mean)


def detect(detector: Detector, whole: DetectorRows, rows: DetectorRows) -> OutlierCounts:
    """Ask a detector.

    Args:
        detector: The detector.
        whole: All rows: what is usual is learnt from them.
        rows: Those that are judged.

    Raises:
        CannotEvaluate: It ends in an error.
    """
    try:
        usual = detector.fit(whole)
        if usual is None:
            values = whole.stats(detector.columns[0]).values if isinstance(detector, Sigma) else 0
            return OutlierCounts(values, known=False)
        found = detector.scan(rows, usual)
    except CannotEvaluate:
        raise
    except Exception as error:
        if isinstance(detector, Sigma):
            raise
        name = type(detector).__name__
        raise CannotEvaluate(f"the detector {name} ended in {type(error).__name__}: {error}") from error
    mean, stddev = usual if isinstance(detector, Sigma) else (None, None)
    return OutlierCounts(found.looked_at, mean, stddev, found.rows, tuple(Hit(row) for row in found.first))


def detector_of(given: Any, columns: Sequence[str]) -> Detector:
    """The detector that a check names.

    Args:
        given: A detector, the name of one, or an object with its name in ``type`` and its options.
        columns: What it looks at.

    Raises:
        ConfigError: There is none of the name, or an option is unknown or wrong.
    """
    if isinstance(given, Detector) and not isinstance(given, str | Mapping):
        return given
    options = {"type": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    word = options.pop("type", None)
    name = registry.find(GROUP, word, ignore_case=True) if isinstance(word, str) else None
    if name is None:
        known = ", ".join(registry.names(GROUP))
        raise ConfigError(f"unknown detector {word or given!r}; installed: {known}", key="detector")
    kind: DetectorType = registry.load(GROUP, name)
    allowed = [key.name for key in kind.shape.keys]
    unknown = [key for key in options if key not in allowed]
    if unknown:
        text = f"detector {name} has unknown option(s) {unknown}; allowed: {', '.join(allowed)}"
        raise ConfigError(text, key="detector")
    return kind.make(columns=tuple(columns), **options)


SIGMA_TYPE = DetectorType(
    SIGMA,
    Sigma,
    Shape(
        (
            Key(
                "sigma",
                Number(above=0),
                "So many standard deviations from the mean are too far.",
                default=3.0,
            ),
            Key("mean", Number(), "The mean of the past; that of the rows by default."),
            Key("stddev", Number(above=0), "The deviation of the past; that of the rows by default."),
            Key("min_rows", Int(min=2), "With fewer values it passes and says so.", default=MIN_ROWS),
        ),
        doc="Values far from the mean.",
    ),
)
