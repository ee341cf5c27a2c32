"""A contract tried on rows where they lie: every rule with what it found, and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ldp_core.errors import ConfigError, UsageError

from ldp_quality.contract.guard import placed, rules_for
from ldp_quality.contract.model import Contract, ContractTable
from ldp_quality.contract.rules import ContractRule
from ldp_quality.engine import evaluate
from ldp_quality.expr import Holds
from ldp_quality.frames import opened
from ldp_quality.grade import FAIL, NOT_RUN, PASS, WARN
from ldp_quality.plan import CannotEvaluate, Context
from ldp_quality.policy import broken
from ldp_quality.predicate import columns_of
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import TABLE

ORDER = (FAIL, NOT_RUN, WARN, PASS)
"""What a person looks at first."""


@dataclass(frozen=True)
class Trial:
    """What the rules of a contract found in the rows of one table.

    Attributes:
        contract: The contract.
        table: Its table.
        rules: Its rules.
        report: Their verdicts, in the same order.
        where: The condition of the rows that were looked at; None for all.
        failed: Whether a rule failed, or could not be evaluated on these rows.
    """

    contract: Contract
    table: ContractTable
    rules: tuple[ContractRule, ...]
    report: QualityReport
    where: str | None
    failed: bool

    @property
    def rows(self) -> int | None:
        """How many rows were looked at; None where no rule looked at all of them."""
        whole = [item.metrics.get("row_count") for item in self.report.results if item.where is None]
        return next((int(rows) for rows in whole if rows is not None), None)

    @property
    def counts(self) -> dict[str, int]:
        """How many rules have each status, the worst first."""
        found = [result.status for result in self.report.results]
        return {status: found.count(status) for status in ORDER}

    def worst_first(self) -> list[tuple[ContractRule, CheckResult]]:
        """Each rule with its verdict; in the contract's order within a status."""
        pairs = zip(self.rules, self.report.results, strict=True)
        return sorted(pairs, key=lambda pair: ORDER.index(pair[1].status))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        contract = {"id": self.contract.id, "version": self.contract.version, "file": self.contract.file}
        results = [
            {
                **result.to_dict(),
                "scope": TABLE,  # whatever the rule looks at in a load: these are all the rows there are
                "reason": rule.reason,
                "severity": rule.severity,
                "dimension": rule.dimension,
                "description": rule.description,
                "line": rule.origin.line,
                "key": rule.origin.key,
            }
            for rule, result in self.worst_first()
        ]
        told = self.report.to_dict()
        return {
            "contract": contract,
            "table": self.table.name,
            "where": self.where,
            "rows": self.rows,
            "ok": not self.failed,
            "status": told["status"],
            "passed": told["passed"],
            "total": told["total"],
            "counts": self.counts,
            "results": results,
        }


def try_contract(
    contract: Contract,
    table: ContractTable,
    source: Any,
    *,
    where: str | None = None,
    context: Context | None = None,
    memory_limit: str | None = None,
) -> Trial:
    """Judge rows by what a contract says of a table.

    Args:
        contract: The contract.
        table: Its table.
        source: What ``run_checks`` takes.
        where: Only the rows for which this SQL condition is true.
        context: The moment, the folder and the catalog of the checks.
        memory_limit: The engine's limit such as ``400MB``.

    Raises:
        ConfigError: The contract says nothing of the table.
        UsageError: The condition is none, or cannot be tested on these rows.
    """
    found = contract.rules(table.name)
    if not found:
        raise ConfigError(
            f"the contract says nothing of {table.name} that could be tested",
            file=contract.file,
            line=table.origin.line,
            key=table.origin.key,
            hint="give it properties or quality",
        )
    rules = rules_for(contract, table.name)
    scope = None if where is None else _scope(where)
    with opened(source, memory_limit=memory_limit) as rows:
        try:
            rows = rows if scope is None else rows.narrowed(scope)
        except CannotEvaluate as error:
            raise UsageError(f"--where {where!r}: {error}") from None
        report = evaluate(rules, rows, placed(contract, source, context or Context()))
    return Trial(contract, table, found, report, where, bool(broken(rules, report)))


def _scope(where: str) -> Holds:
    try:
        return Holds(where, columns_of(where))
    except ConfigError as error:
        raise UsageError(f"--where: {error.message}", hint=error.hint) from None
