"""How many rows there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Int, Key, Literal, OneOf, Shape

from ldp_quality.checks.base import NAME, Check, CheckType, rows_text
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class RowCount(Check):
    """The number of rows is within bounds, or exactly a number.

    Attributes:
        min: At least so many.
        max: At most so many.
        equals: Exactly so many; ``source`` for as many as the source has (``context["source_rows"]``).
        name: See ``Check``.

    Raises:
        ConfigError: None of the three is given, or one of them is no count, or min is above max.
    """

    kind: ClassVar[str] = "row_count"
    counts_rows: ClassVar[bool] = False
    min: int | None = None
    max: int | None = None
    equals: int | str | None = None

    def __post_init__(self) -> None:
        if self.min is None and self.max is None and self.equals is None:
            raise ConfigError("needs min, max or equals")
        for parameter, value in (("min", self.min), ("max", self.max)):
            if value is not None and not _count(value):
                raise ConfigError(f"{parameter} must be a non-negative integer, got {value!r}", key=parameter)
        if self.equals not in (None, "source") and not _count(self.equals):
            raise ConfigError(
                f"equals must be a non-negative integer or 'source', got {self.equals!r}", key="equals"
            )
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ConfigError(f"min ({self.min}) is greater than max ({self.max})", key="min")

    @property
    def only_of_batch(self) -> str:
        """The source has only the rows of the run."""
        return "equals: source is about the rows of the run" if self.equals == "source" else ""

    def subject(self) -> str:
        """Nothing: it is about the batch."""
        return ""

    def needs(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Only the number of rows."""
        if self.equals == "source" and context.source_rows is None:
            text = "cannot be compared with the source: the context has no source_rows"
            return self.refused(text, {})

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, context.source_rows)

        return Plan(finish)

    def _judge(self, facts: Facts, source_rows: int | None) -> CheckResult:
        rows = facts.rows
        metrics: dict[str, Any] = {}
        expected = source_rows if self.equals == "source" else self.equals
        if self.equals == "source":
            metrics["source_rows"] = source_rows
        if isinstance(expected, int):
            metrics |= {"expected": expected, "difference": rows - expected}
        metrics |= {key: value for key, value in (("min", self.min), ("max", self.max)) if value is not None}
        wanted = [
            *([f">= {self.min}"] if self.min is not None else []),
            *([f"<= {self.max}"] if self.max is not None else []),
            *(
                [f"== {expected}{' (source rows)' if self.equals == 'source' else ''}"]
                if self.equals is not None
                else []
            ),
        ]
        passed = (
            (self.min is None or rows >= self.min)
            and (self.max is None or rows <= self.max)
            and (self.equals is None or rows == expected)
        )
        verb = "as expected" if passed else "expected"
        return self.result(facts, passed, f"{rows_text(rows)}, {verb} {' and '.join(wanted)}", metrics)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


ROW_COUNT = CheckType(
    "row_count",
    RowCount,
    Shape(
        (
            Key("min", Int(min=0), "At least so many rows."),
            Key("max", Int(min=0), "At most so many rows."),
            Key(
                "equals",
                OneOf((Int(min=0), Literal("source"))),
                "Exactly so many rows, or as many as the source.",
            ),
            NAME,
        ),
        doc="The number of rows.",
    ),
)
