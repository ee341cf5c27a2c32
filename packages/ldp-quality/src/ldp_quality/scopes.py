"""What a rule looks at: the rows of the run, its window, or the table as a publish would leave it.

A rule about keys always judges the rows of the run; the scope says which other rows their keys are compared
with. So does one that looks for rows unlike the others: the scope says what is usual. Every other rule judges
all rows of its scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ldp_quality._beside import BesideExecutor
from ldp_quality.engine import evaluate
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.plan import Context, Keys, Outliers, Question, Scan, Steps
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import BATCH, TABLE, WINDOW, Rule

if TYPE_CHECKING:
    from ldp_core.spi import Standing

_STOOD = 1 << 62
"""Rows that stood in the table are numbered from here on, or up to minus this."""
_STOOD_ROW = re.compile(r"\brow -?\d{19}\b")


@dataclass(frozen=True)
class Covered:
    """The verdicts of some rules.

    Attributes:
        report: In the order of the rules; each says its scope.
        of_table: Whether one rests on rows that stood in the target.
        beside: Of rules about keys, by their place: the other rows that their keys were compared with.
    """

    report: QualityReport
    of_table: bool = False
    beside: Mapping[int, DuckDBExecutor] = field(default_factory=dict)


def evaluate_in(
    rules: Sequence[Rule],
    rows: DuckDBExecutor,
    context: Context,
    standing: Callable[[], Standing] | None,
    *,
    aside: bool = False,
) -> Covered:
    """Judge the rows of a run, each rule in its scope.

    Args:
        rules: The rules.
        rows: The rows of the run.
        context: What checks may know besides.
        standing: What tells of the rows that would stand beside them; None where nobody knows, so that every
            rule judges the rows of the run alone.
        aside: The rules put the rows that break them aside; rows of the table cannot be, so that all but the
            rules about keys judge the rows of the run alone.
    """
    plans = [_question(rule, rows, context) for rule in rules]
    scopes = [_scope(rule, question, aside) for rule, question in zip(rules, plans, strict=True)]
    if standing is None or set(scopes) <= {BATCH}:
        return Covered(evaluate(rules, rows, context))
    found = standing()
    groups: dict[tuple[str, str], list[int]] = {}
    for at, (scope, question) in enumerate(zip(scopes, plans, strict=True)):
        held = BATCH if scope == WINDOW and found.window_sql is None else scope
        how = "" if held == BATCH else _how(question)
        groups.setdefault((held, how), []).append(at)
    results: dict[int, CheckResult] = {}
    beside: dict[int, DuckDBExecutor] = {}
    for (scope, how), places in groups.items():
        among = _rows(rows, found, scope, how)
        if isinstance(among, BesideExecutor):
            beside |= dict.fromkeys(places, among.beside)
        judged = evaluate([rules[at] for at in places], among, context)
        for at, result in zip(places, judged.results, strict=True):
            results[at] = result if scope == BATCH else _told(result, scope, found)
    listed = tuple(results[at] for at in range(len(rules)))
    return Covered(QualityReport(listed), any(scope != BATCH for scope, _ in groups), beside)


def wider(rule: Rule, scope: str | None, rows: DuckDBExecutor, context: Context) -> Rule:
    """A rule about keys of the batch as one about a wider scope; any other as it is."""
    if scope is None or rule.scope not in (None, BATCH):
        return rule
    question = rule.check.compile(rows.columns, context).question
    return replace(rule, scope=scope) if isinstance(question, Keys) else rule


def of_table(report: QualityReport) -> QualityReport:
    """A report on all rows of a table, whatever its rules look at in a load."""
    return replace(report, results=tuple(replace(result, scope=TABLE) for result in report.results))


def _question(rule: Rule, rows: DuckDBExecutor, context: Context) -> Question | None:
    return rule.check.compile(rows.columns, context).question if rule.scope not in (None, BATCH) else None


def _scope(rule: Rule, question: Question | None, aside: bool) -> str:
    scope = rule.scope or BATCH
    return BATCH if rule.never_judged or (aside and not isinstance(question, Keys)) else scope


def _how(question: Question | None) -> str:
    if isinstance(question, Outliers | Scan):
        return "usual"
    return "keys" if isinstance(question, Keys) else "steps" if isinstance(question, Steps) else "rows"


def _rows(rows: DuckDBExecutor, found: Standing, scope: str, how: str) -> DuckDBExecutor:
    """What answers the rules of one scope."""
    if scope == BATCH:
        return rows
    sql, ordered = found.sql, found.ordered_sql
    if scope == WINDOW:
        sql, ordered = str(found.window_sql), str(found.window_ordered_sql)
    if how == "keys":
        beside = DuckDBExecutor(rows.con, sql, ordered, rows.columns)
        return BesideExecutor(rows.con, rows.sql, rows.ordered_sql, rows.columns, beside, scope)
    # What stood there comes before the batch, but among the rows that are shown after it.
    first = -_STOOD if how == "steps" else _STOOD
    names = [*rows.places.values(), rows.row]
    listed = ", ".join([*names[:-1], f"{rows.row} + {first}"])
    numbered = f"SELECT {listed} FROM (\n{ordered}\n) AS s({', '.join(names)})"
    both = replace(
        rows,
        sql=f"SELECT * FROM (\n{sql}\n) UNION ALL SELECT * FROM (\n{rows.sql}\n)",
        ordered_sql=lambda: f"{numbered} UNION ALL SELECT * FROM (\n{rows.numbered()}\n)",
    )
    return replace(rows, whole=both) if how == "usual" else both


def _told(result: CheckResult, scope: str, found: Standing) -> CheckResult:
    """A result that says what it covered; rows that stood in the table have no number in the input."""
    return replace(
        result,
        scope=scope,
        base_snapshot=None if found.snapshot is None else str(found.snapshot),
        details=_STOOD_ROW.sub("a row of the table", result.details),
        metrics={name: _unnumbered(value) for name, value in result.metrics.items()},
        samples=tuple(_unnumbered(sample) for sample in result.samples),
    )


def _unnumbered(value: Any) -> Any:
    if isinstance(value, list):
        return [_unnumbered(item) for item in value]
    if isinstance(value, dict) and isinstance(value.get("row"), int) and abs(value["row"]) >= _STOOD >> 1:
        return {**value, "row": None}
    return value
