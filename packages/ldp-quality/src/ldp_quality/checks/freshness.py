"""How old the newest value is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, Number, Shape, Text

from ldp_quality import kinds
from ldp_quality.bounds import NotComparable
from ldp_quality.checks.base import COLUMN, NAME, Check, CheckType, is_number, one_name
from ldp_quality.expr import Aggregate, Column, IsNull
from ldp_quality.instants import moment_ns, show_instant
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult

_NS_PER_HOUR = 3_600_000_000_000


@dataclass(frozen=True)
class Freshness(Check):
    """The newest value of a date or timestamp column is not older than a limit; the future is fresh.

    A date is its midnight; times without a zone are UTC. Without any value nothing is fresh.

    Attributes:
        column: The column.
        max_age_hours: The limit, itself allowed.
        now: Measured from here; by default from the batch's moment, then from the present.
        name: See ``Check``.

    Raises:
        ConfigError: The limit is not above zero, or ``now`` is no moment.
    """

    kind: ClassVar[str] = "freshness"
    counts_rows: ClassVar[bool] = False
    column: str
    max_age_hours: float
    now: str | date | None = None

    def __post_init__(self) -> None:
        one_name(self.column, "column")
        if not is_number(self.max_age_hours) or self.max_age_hours <= 0:
            raise ConfigError(
                f"max_age_hours must be a positive number, got {self.max_age_hours!r}", key="max_age_hours"
            )
        if self.now is not None and moment_ns(self.now) is None:
            raise ConfigError(
                f"now must be a date or a time such as 2026-08-02T00:00:00Z, got {self.now!r}", key="now"
            )

    def subject(self) -> str:
        """The column."""
        return self.column

    def needs(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """The largest value decides; no single row is to blame."""
        kind = columns[self.column]
        if kind.family not in kinds.INSTANTS:
            raise NotComparable(f"{self.column} is {kind.name}, and age needs a date or a timestamp")
        now = moment_ns(self.now or context.now or datetime.now(UTC)) or 0
        wanted = {
            "nulls": Aggregate("count", where=IsNull(self.column)),
            "newest": Aggregate("max", Column(self.column)),
        }

        def finish(facts: Facts) -> CheckResult:
            return self._judge(facts, kind, now)

        return Plan(finish, wanted)

    def _judge(self, facts: Facts, kind: Kind, now: int) -> CheckResult:
        limit = self.max_age_hours
        metrics: dict[str, Any] = {
            "null_count": facts.values["nulls"],
            "max_age_hours": limit,
            "column_type": kind.name,
        }
        if facts.values["newest"] is None:
            details = f"{self.column} has no non-null values, so the data can't be shown to be fresh"
            return self.result(facts, False, details, metrics)
        newest = facts.values["newest"] * kind.ns_per_tick
        age = now - newest
        hours = round(age / _NS_PER_HOUR, 4)
        passed = age <= Fraction(str(limit)) * _NS_PER_HOUR
        metrics |= {"latest": show_instant(newest), "now": show_instant(now), "age_hours": hours}
        when = f"{hours}h old" if age >= 0 else f"{-hours}h in the future"
        verdict = "within" if passed else "older than"
        details = f"newest {self.column} ({show_instant(newest)}) is {when}, {verdict} the {limit}h limit"
        return self.result(facts, passed, details, metrics)


FRESHNESS = CheckType(
    "freshness",
    Freshness,
    Shape(
        (
            COLUMN,
            Key("max_age_hours", Number(above=0), "How old the newest value may be.", required=True),
            Key(
                "now", Text(), "The moment it is measured from; the end of the window, else that of the run."
            ),
            NAME,
        ),
        doc="The newest date or timestamp is not older than a limit.",
    ),
)
