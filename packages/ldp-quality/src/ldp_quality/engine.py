"""Runs a list of checks over one set of rows: one shared pass, then only what a check needs on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

from ldp_quality.expr import NONE, Aggregate
from ldp_quality.grade import FAIL, NOT_RUN, PASS, WARN
from ldp_quality.instants import moment_ns
from ldp_quality.plan import CannotEvaluate, Context, Executor, Facts, Plan, Search
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import Rule, rule_of

if TYPE_CHECKING:
    from ldp_quality.checks.base import Check

_COUNT = Aggregate("count")
_CONTEXT = frozenset({"now", "source_rows", "history"})
"""What users may tell checks besides the rows."""


def run_checks(
    df: Any, checks: Iterable[Check | Rule], context: Mapping[str, Any] | Context | None = None
) -> QualityReport:
    """Judge rows in memory.

    Args:
        df: A pyarrow Table or RecordBatchReader, a pandas or polars frame, or a DuckDB relation. A reader
            and a relation are read once, in bounded memory.
        checks: What must be true of it; a check alone fails where a row breaks it.
        context: ``source_rows`` (for ``row_count`` with ``equals: source``), ``now`` (for ``freshness``) and
            ``history`` (for ``metric_anomaly``; see ``Store.history``).

    Raises:
        ConfigError: ``df`` is none of these, or ``context`` holds something else.
    """
    from ldp_quality.frames import opened

    with opened(df) as rows:
        return evaluate(tuple(checks), rows, context_of(context))


def context_of(given: Mapping[str, Any] | Context | None) -> Context:
    """A context from the mapping that users pass.

    Raises:
        ConfigError: An unknown key, or a ``now`` that is no moment.
    """
    if given is None or isinstance(given, Context):
        return given or Context()
    unknown = sorted(set(given) - _CONTEXT)
    if unknown:
        allowed = ", ".join(sorted(_CONTEXT))
        raise ConfigError(f"the context of checks has unknown key(s) {unknown}; allowed: {allowed}")
    return Context(_moment(given.get("now")), given.get("source_rows"), history=given.get("history"))


def _moment(now: Any) -> datetime | None:
    if now is None or isinstance(now, datetime):
        return now
    ns = moment_ns(now)
    if ns is None:
        raise ConfigError(f"now must be a date or a time such as 2026-08-02T00:00:00Z, got {now!r}")
    return datetime.fromtimestamp(ns // 1_000_000_000, UTC).replace(microsecond=ns // 1_000 % 1_000_000)


@dataclass
class _Trial:
    """One check on its way to a result."""

    rule: Rule
    plan: Plan
    facts: Facts = field(default_factory=lambda: Facts(0))
    result: CheckResult | None = None

    @property
    def wanted(self) -> list[Aggregate]:
        counted = [Aggregate("count", where=self.plan.bad)] if self.plan.bad is not None else []
        return [*self.plan.aggregates.values(), *counted]

    def take(self, rows: int, answers: Sequence[Any]) -> None:
        values = dict(zip(self.plan.aggregates, answers, strict=False))
        bad = answers[-1] if self.plan.bad is not None else 0
        self.facts = Facts(rows, values, bad)

    def fail(self, error: CannotEvaluate, rows: int | None) -> None:
        metrics = (
            {"error": "CannotEvaluate"} if rows is None else {"row_count": rows, "error": "CannotEvaluate"}
        )
        details = f"could not be evaluated: {error}"
        self.result = CheckResult(self.rule.check.label, False, details, 0, metrics, status=NOT_RUN)

    def judge(self) -> None:
        self.result = self.plan.finish(self.facts)


def evaluate(checks: Sequence[Check | Rule], rows: Executor, context: Context) -> QualityReport:
    """Judge the rows of an executor: those without a condition in one pass, then those of each condition."""
    trials = [
        _Trial(rule, rule.check.compile(rows.columns, replace(context, where=rule.where)))
        for rule in map(rule_of, checks)
    ]
    for where in dict.fromkeys(trial.rule.where for trial in trials):
        _evaluate([trial for trial in trials if trial.rule.where == where], rows)
    return QualityReport(tuple(_graded(trial) for trial in trials))


def _evaluate(trials: Sequence[_Trial], rows: Executor) -> None:
    """Judge the rules of one condition."""
    scope = trials[0].rule.condition
    if scope is not None:
        try:
            rows = rows.narrowed(scope)
        except CannotEvaluate as error:
            for trial in trials:
                trial.fail(CannotEvaluate(f"where {scope.sql!r}: {error}"), None)
            return
    _shared_pass(trials, rows)
    for trial in trials:
        if trial.result is None:
            _own_pass(trial, rows)
    _find_samples([trial for trial in trials if trial.result and not trial.result.passed], rows)


def _graded(trial: _Trial) -> CheckResult:
    """The result with its status, and what it covered."""
    result, grade = trial.result, trial.rule.grade
    assert result is not None
    if result.status == NOT_RUN:
        return replace(result, where=trial.rule.where)
    rows = int(result.metrics.get("row_count") or 0)
    status = grade.status(result.passed, result.failing_rows, rows)
    if result.status == WARN and status == FAIL:
        status = WARN  # the check says itself that it is not so bad
    details = f"{result.details}; {grade}" if grade.tolerant and not result.passed else result.details
    return replace(result, passed=status == PASS, status=status, details=details, where=trial.rule.where)


def _shared_pass(trials: Sequence[_Trial], rows: Executor) -> None:
    """Answer the aggregates of all checks at once; where that fails, one check at a time, to find which."""
    wanted = [_COUNT, *(item for trial in trials for item in trial.wanted)]
    try:
        count, *answers = rows.aggregate(wanted)
    except CannotEvaluate:
        _one_by_one(trials, rows)
        return
    for trial in trials:
        own, answers = answers[: len(trial.wanted)], answers[len(trial.wanted) :]
        trial.take(count, own)


def _one_by_one(trials: Sequence[_Trial], rows: Executor) -> None:
    count: int | None = None
    try:
        count = rows.aggregate([_COUNT])[0]
    except CannotEvaluate as error:
        for trial in trials:
            trial.fail(error, None)
        return
    for trial in trials:
        try:
            trial.take(count or 0, rows.aggregate([_COUNT, *trial.wanted])[1:])
        except CannotEvaluate as error:
            trial.fail(error, count)


def _own_pass(trial: _Trial, rows: Executor) -> None:
    try:
        if trial.plan.question is not None:
            answer = rows.answer(trial.plan.question)
            trial.facts = replace(trial.facts, answer=answer, hits=answer.hits)
    except CannotEvaluate as error:
        trial.fail(error, trial.facts.rows)
        return
    trial.judge()


def _find_samples(failed: Sequence[_Trial], rows: Executor) -> None:
    """Show the rows that break each failed check."""
    searched = [trial for trial in failed if trial.plan.bad is not None and trial.facts.bad]
    for trial, hits in zip(searched, _search(searched, rows), strict=True):
        trial.facts = replace(trial.facts, hits=hits)
        if trial.plan.distinct is not None and trial.plan.bad is not None:
            trial.facts = replace(trial.facts, distinct=rows.distinct(trial.plan.distinct, trial.plan.bad))
        trial.judge()
    numbers = sorted({hit.row for trial in failed for hit in trial.facts.hits})
    whole = rows.rows(numbers) if numbers else {}
    for trial in failed:
        samples = tuple({"row": hit.row, "values": whole[hit.row]} for hit in trial.facts.hits)
        if trial.result is not None and samples:
            trial.result = replace(trial.result, samples=samples)


def _search(searched: Sequence[_Trial], rows: Executor) -> list[Any]:
    if not searched:
        return []
    return rows.first(
        [Search(trial.plan.bad or NONE, trial.plan.shown, trial.facts.bad) for trial in searched]
    )
