"""A batch judged where some rules put rows aside: these look at all rows, the others at those that stay."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ldp_core.spi import Apart, Batch

from ldp_quality.aside.faults import Fault, narrowed
from ldp_quality.aside.part import Parted, parted
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.grade import FAIL, NOT_RUN
from ldp_quality.plan import CannotEvaluate, Context
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import QUARANTINE, TABLE, WARN, WINDOW, Rule
from ldp_quality.scopes import evaluate_in


@dataclass(frozen=True)
class Judged:
    """What the rules found, and which rows are put aside.

    Attributes:
        report: The verdicts, in the order of the rules.
        held: Nothing may be published.
        apart: The rows that are put aside; None when there are none, or nothing is published.
        of_table: Whether a verdict rests on rows that stood in the target.
    """

    report: QualityReport
    held: bool
    apart: Apart | None = None
    of_table: bool = False


def judge(
    rules: Sequence[Rule], policies: Sequence[str], batch: Batch, rows: DuckDBExecutor, context: Context
) -> Judged:
    """Judge a batch.

    A rule that is to put rows aside and fails without one (a column is missing), or could not be evaluated,
    holds everything back.

    Args:
        rules: The rules.
        policies: What a failure of each does: ``fail``, ``warn`` or ``quarantine``.
        batch: The batch.
        rows: Its rows.
        context: What checks may know besides.
    """
    first = [at for at, policy in enumerate(policies) if policy == QUARANTINE and batch.placed_sql]
    rest = [at for at in range(len(rules)) if at not in first]
    all_ = evaluate_in([rules[at] for at in first], rows, context, batch.standing, aside=True)
    results = dict(zip(first, all_.report.results, strict=True))
    failed = [at for at, result in results.items() if result.status == FAIL and result.failing_rows]
    faults = [fault for at in failed if (fault := _fault(at, rules[at], batch, rows, context)) is not None]
    with ExitStack() as stack:
        found = _parted(stack, batch, rows, faults, results)
        good, left = rows, context
        if found is not None:
            good = found.good
            whole = context.source_rows
            left = replace(context, source_rows=None if whole is None else whole - found.rows)
        others = evaluate_in([rules[at] for at in rest], good, left, batch.standing)
    results |= dict(zip(rest, others.report.results, strict=True))
    freed = {fault.number for fault in faults} if found is not None else set()
    held = any(
        policies[at] != WARN and at not in freed and _is_broken(rules[at], result)
        for at, result in results.items()
    )
    if found is not None and held:
        batch.con.execute(f"DROP TABLE IF EXISTS {found.table}")
        found = None
    if found is not None:
        for at in freed:
            results[at] = replace(results[at], quarantined=found.by_rule.get(at, 0))
    report = QualityReport(
        tuple(results[at] for at in range(len(rules))), quarantined=found.rows if found else 0
    )
    apart = Apart(found.table, found.rows) if found else None
    return Judged(report, held, apart, all_.of_table or others.of_table)


def _is_broken(rule: Rule, result: CheckResult) -> bool:
    return result.status == FAIL or (result.status == NOT_RUN and not rule.never_judged)


def _parted(
    stack: ExitStack,
    batch: Batch,
    rows: DuckDBExecutor,
    faults: Sequence[Fault],
    results: dict[int, CheckResult],
) -> Parted | None:
    """The batch parted by the rules that failed; where it cannot be, their results say so."""
    if not faults:
        return None
    try:
        return stack.enter_context(parted(batch, rows, faults))
    except CannotEvaluate as error:
        for fault in faults:
            details = f"could not be evaluated: its rows cannot be put aside: {error}"
            results[fault.number] = replace(results[fault.number], status=NOT_RUN, details=details)
        return None


def _fault(at: int, rule: Rule, batch: Batch, rows: DuckDBExecutor, context: Context) -> Fault | None:
    plan = rule.check.compile(rows.columns, context)
    beside = None
    if rule.scope in (TABLE, WINDOW) and batch.standing is not None:
        found = batch.standing()
        sql, ordered = found.sql, found.ordered_sql
        if rule.scope == WINDOW:
            sql, ordered = found.window_sql or "", found.window_ordered_sql or ""
        beside = narrowed(DuckDBExecutor(rows.con, sql, ordered, rows.columns), rule) if sql else None
    return Fault.of(at, rule, plan, rows, beside)
