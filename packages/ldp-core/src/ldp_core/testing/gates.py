"""A gate that puts rows aside, for tests of what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ldp_core.plan.stages import Check, Plan
from ldp_core.spi import Apart, Batch, Verdict


@dataclass(frozen=True)
class Told:
    """A report of one line."""

    text: str

    def summary(self) -> str:
        """The line."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"text": self.text}


@dataclass(frozen=True)
class Aside:
    """Puts the rows aside for which a condition is true; with ``fail`` they block the run.

    Attributes:
        bad: The condition.
        max_share: As a gate has it.
        checks: As a gate has it.
    """

    bad: str
    max_share: float = 1.0
    checks: int = 1

    def judge(self, batch: Batch) -> Verdict:
        """Judge the rows that would be published."""
        batch.con.execute(
            f"CREATE OR REPLACE TEMP TABLE bad_rows AS SELECT __file, __pos, ['rule'] AS rules, "
            f"'it is bad' AS reason FROM ({batch.placed_sql}) WHERE {self.bad}"
        )
        rows = int(batch.con.execute("SELECT count(*) FROM bad_rows").fetchall()[0][0])
        told = Told(f"{rows} bad rows")
        if batch.on_failure == "fail":
            return Verdict(not rows, bool(rows), told)
        return Verdict(not rows, False, told, apart=Apart("bad_rows", rows, ("id",)) if rows else None)


def judged_by(plan: Plan, bad: str) -> Plan:
    """The plan with a gate that puts the rows aside for which a condition is true."""
    return replace(plan, checks=(Check("quality", "fake", lambda: Aside(bad)),))
