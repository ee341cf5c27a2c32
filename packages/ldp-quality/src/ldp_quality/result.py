"""What checks found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ldp_core.errors import DataQualityError

from ldp_quality.grade import FAIL, NOT_RUN, PASS, WARN, worst


@dataclass(frozen=True)
class CheckResult:
    """The verdict of one check.

    Attributes:
        name: The name that the config gives it, or check and columns: ``range(fare)``.
        passed: Whether the rows satisfy it, within what is tolerated.
        details: One line that says what was found.
        failing_rows: How many rows break it; 0 where no single rows do, or it could not be evaluated.
        metrics: Counts and values as JSON, ``row_count`` among them.
        samples: Of a failed check, up to five of the rows that break it, first in input order; each with
            its row number from 0 under ``row`` (None for one that stood in the table) and its ``values`` as
            JSON.
        status: ``pass``, ``warn``, ``fail``, or ``not_run`` where it could not be evaluated; by default as
            ``passed`` says.
        where: The condition of the rows that it covered; None for all.
        scope: Which rows it covered: ``batch``, ``window`` or ``table`` (see ``scopes``).
        base_snapshot: The snapshot whose rows were judged with the batch; None where none were.
        quarantined: How many rows are put aside because of it.
    """

    name: str
    passed: bool
    details: str
    failing_rows: int = 0
    metrics: Mapping[str, Any] = field(default_factory=dict)
    samples: tuple[Mapping[str, Any], ...] = ()
    status: str = ""
    where: str | None = None
    scope: str = "batch"
    base_snapshot: str | None = None
    quarantined: int = 0

    def __post_init__(self) -> None:
        if not self.status:
            object.__setattr__(self, "status", PASS if self.passed else FAIL)

    @property
    def share(self) -> float | None:
        """Failing rows as a part of all rows, from 0 to 1; None without rows."""
        rows = self.metrics.get("row_count")
        return self.failing_rows / rows if rows else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.name,
            "status": self.status,
            "passed": self.passed,
            "where": self.where,
            "scope": self.scope,
            "base_snapshot": self.base_snapshot,
            "details": self.details,
            "failing_rows": self.failing_rows,
            "share": self.share,
            "quarantined": self.quarantined,
            "metrics": dict(self.metrics),
            "samples": [dict(sample) for sample in self.samples],
        }

    def lines(self) -> list[str]:
        """The result for a person: one line, then the sample rows."""
        rows = self.metrics.get("row_count")
        share = f" ({_percent(self.failing_rows, rows)} of the rows)" if self.failing_rows and rows else ""
        where = f" where {self.where}" if self.where else ""
        among = "" if self.scope == "batch" else f" in the {self.scope}"
        aside = f"; {self.quarantined} put aside" if self.quarantined else ""
        head = f"  - {self.name}{among}{where}: {self.details}{share}{aside}"
        return [head, *(f"      {_place(sample)}: {_row(sample['values'])}" for sample in self.samples)]


@dataclass(frozen=True)
class QualityReport:
    """The verdicts of a list of checks, in their order.

    Attributes:
        results: The verdicts.
        quarantined: How many rows are put aside.
    """

    results: Sequence[CheckResult] = ()
    quarantined: int = 0

    @property
    def passed(self) -> bool:
        """Whether every check passed; one that warns did not."""
        return all(result.passed for result in self.results)

    @property
    def status(self) -> str:
        """The worst status of its results."""
        return worst(result.status for result in self.results)

    @property
    def failures(self) -> list[CheckResult]:
        """The results that failed or could not be evaluated."""
        return [result for result in self.results if result.status in (FAIL, NOT_RUN)]

    @property
    def warnings(self) -> list[CheckResult]:
        """The results that only warn."""
        return [result for result in self.results if result.status == WARN]

    def without_quarantine(self) -> QualityReport:
        """The same where nothing was put aside after all: too many rows would have been."""
        results = tuple(replace(result, quarantined=0) for result in self.results)
        return replace(self, results=results, quarantined=0)

    def raise_for_failures(self) -> None:
        """Do nothing when none failed; one that warns does not raise.

        Raises:
            DataQualityError: With ``summary()`` as its text and this report.
        """
        if self.failures:
            raise DataQualityError(self.summary(), self)

    def summary(self) -> str:
        """How many checks failed, were not run and warn, each with its count, its share and sample rows."""
        total = len(self.results)
        lines = []
        for status, word in ((FAIL, "failed"), (NOT_RUN, "not run"), (WARN, "warn")):
            found = [result for result in self.results if result.status == status]
            if found:
                lines.append(f"{len(found)} of {total} data quality checks {word}:")
                lines += [line for result in found for line in result.lines()]
        if self.quarantined:
            lines.append(f"quarantined {self.quarantined} row{'' if self.quarantined == 1 else 's'}")
        return "\n".join(lines) or f"all {total} data quality checks passed"

    def to_dict(self) -> dict[str, Any]:
        """As JSON, sample rows included."""
        return {
            "status": self.status,
            "passed": self.passed,
            "total": len(self.results),
            "failed": len(self.failures),
            "warned": len(self.warnings),
            "quarantined": self.quarantined,
            "results": [result.to_dict() for result in self.results],
        }


def _percent(part: int, rows: int) -> str:
    """A share that never rounds a failing row away, nor a passing one."""
    share = 100 * part / rows
    text = f"{share:.2f}%"
    if text == "0.00%":
        return "under 0.01%"
    return "over 99.99%" if text == "100.00%" and part < rows else text


def _place(sample: Mapping[str, Any]) -> str:
    """Where a row that is shown stands: in the input, or in the table before it."""
    return "in the table" if sample["row"] is None else f"row {sample['row']}"


def _row(values: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return text if len(text) <= 300 else f"{text[:297]}..."
