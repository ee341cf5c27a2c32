"""The one value that a query over the rows gives, compared by operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ldp_core.errors import ConfigError

from ldp_quality._values import json_value
from ldp_quality.checks.base import Check
from ldp_quality.checks.operators import Operator
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan, Scalar
from ldp_quality.result import CheckResult
from ldp_quality.statement import guard


@dataclass(frozen=True)
class Query(Check):
    """A SELECT over the rows gives one number, or true or false, that is as the operators say.

    Attributes:
        sql: In DuckDB's dialect, see ``statement``.
        table: What the query calls the rows.
        operators: All of them must hold; true is 1 and false is 0.
        name: See ``Check``.

    Raises:
        ConfigError: It is not one SELECT over that table alone, or there is no operator.
    """

    kind: ClassVar[str] = "query"
    counts_rows: ClassVar[bool] = False
    sql: str
    table: str
    operators: tuple[Operator, ...]

    def __post_init__(self) -> None:
        if not self.operators:
            raise ConfigError("a query needs an operator such as mustBe", key="operators")
        guard(self.sql, self.table)

    def subject(self) -> str:
        """The query, cut short."""
        text = " ".join(self.sql.split())
        return text if len(text) <= 60 else f"{text[:57]}..."

    def needs(self) -> tuple[str, ...]:
        """None that can be named before the query is bound."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """A pass of its own."""
        return Plan(self._judge, question=Scalar(self.sql, self.table))

    def _judge(self, facts: Facts) -> CheckResult:
        found = facts.answer.value
        value = Fraction(str(found)) if isinstance(found, float) else Fraction(found)
        passed = all(operator.holds(value) for operator in self.operators)
        wanted = " and ".join(operator.text() for operator in self.operators)
        return self.result(facts, passed, f"the query gives {found}, {wanted}", {"value": json_value(found)})
