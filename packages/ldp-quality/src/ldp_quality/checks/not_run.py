"""A rule that nothing can run: it is reported with its reason, and is never green."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ldp_quality.checks.base import Check
from ldp_quality.grade import NOT_RUN
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult


@dataclass(frozen=True)
class NotRun(Check):
    """What somebody wrote down and nothing here can judge.

    Attributes:
        reason: Why, for a person.
        about: What it is about, for its name.
        name: See ``Check``.
    """

    kind: ClassVar[str] = "not_run"
    reason: str
    about: str = ""

    @property
    def label(self) -> str:
        """Its name, else what it is about."""
        return self.name or self.about or self.kind

    @property
    def names_rows(self) -> bool:
        """It names nothing."""
        return False

    def subject(self) -> str:
        """What it is about."""
        return self.about

    def needs(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """Asks nothing."""

        def finish(facts: Facts) -> CheckResult:
            metrics = {"row_count": facts.rows, "reason": self.reason}
            return CheckResult(self.label, False, f"not run: {self.reason}", 0, metrics, status=NOT_RUN)

        return Plan(finish)
