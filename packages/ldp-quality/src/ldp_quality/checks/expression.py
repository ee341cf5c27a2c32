"""The users' own condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.shape import Key, Shape, Text

from ldp_quality.checks.base import NAME, Check, CheckType, cut, rows_text
from ldp_quality.expr import Holds, Not
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.predicate import columns_of
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class Expression(Check):
    """A SQL condition over one row, in DuckDB's dialect, is true; a row where it is NULL passes.

    Attributes:
        expression: Such as ``tip <= fare OR refunded``; functions of the row's own values only.
        name: See ``Check``.

    Raises:
        ConfigError: It is not one condition, or looks at more than the row.
    """

    kind: ClassVar[str] = "expression"
    expression: str

    def __post_init__(self) -> None:
        columns_of(self.expression)

    def subject(self) -> str:
        """The condition, cut short."""
        text = " ".join(self.expression.split())
        return text if len(text) <= 60 else f"{text[:57]}..."

    def blame(self) -> str:
        """What is wrong with a row."""
        return f"not {cut(' '.join(self.expression.split()))}"

    def needs(self) -> tuple[str, ...]:
        """None that can be named before the table's own spelling is known."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A bad row is one where the condition is false."""
        used = {name: _matching(name, columns) for name in columns_of(self.expression)}
        missing = [name for name, found in used.items() if not found]
        if missing:
            text = f"missing column(s) {missing}; the table has {list(columns)}"
            return self.refused(text, {"missing_columns": missing})
        for name, found in used.items():
            if len(found) > 1:
                return self.refused(f"{name} may be any of the columns {found}", {"error": "ambiguous"})
        holds = Holds(self.expression, tuple(dict.fromkeys(found[0] for found in used.values())))
        return Plan(self._judge, bad=Not(holds))

    def _judge(self, facts: Facts) -> CheckResult:
        metrics: dict[str, Any] = {"invalid_count": facts.bad}
        if not facts.bad:
            return self.result(facts, True, f"no row breaks {self.expression}", metrics)
        details = f"{facts.bad} of {rows_text(facts.rows)} break {self.expression}"
        return self.result(facts, False, details, metrics, facts.bad)


def _matching(name: str, columns: Mapping[str, Kind]) -> list[str]:
    """The columns that a name in SQL may mean, which knows no case."""
    return [column for column in columns if column.lower() == name.lower()]


EXPRESSION = CheckType(
    "expression",
    Expression,
    Shape(
        (
            Key(
                "expression",
                Text(),
                "A SQL condition over one row that is true for a good one.",
                required=True,
            ),
            NAME,
        ),
        doc="A condition of your own; a row where it is NULL passes.",
    ),
)
