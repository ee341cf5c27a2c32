"""What a check found, in words and numbers that may leave the run: never a value of the data.

A report shows rows and values to whoever runs it. Events, tables of history and the store outlive the run and
are read by others: they get names, verdicts and counts. The smallest and the largest value of a column are
values, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ldp_quality.checks.not_run import NotRun
from ldp_quality.grade import NOT_RUN
from ldp_quality.result import CheckResult, QualityReport
from ldp_quality.rule import Rule

_VALUES = "observed_"
"""How metrics that are values of the data begin."""


def evaluated(report: QualityReport, rules: tuple[Rule, ...] = ()) -> dict[str, Any]:
    """The verdicts of a report.

    Args:
        report: The report.
        rules: What was judged, in the report's order; tells kinds and severities.
    """
    known = rules or (None,) * len(report.results)
    return {
        "passed": report.passed,
        "status": report.status,
        "total": len(report.results),
        "failed": len(report.failures),
        "checks": [line_of(result, rule) for result, rule in zip(report.results, known, strict=True)],
    }


def line_of(result: CheckResult, rule: Rule | None = None) -> dict[str, Any]:
    """The verdict of one check.

    Args:
        result: What it found.
        rule: The check with its severity.
    """
    numbers = numbers_of(result.metrics)
    # Why a rule that nothing can judge is not run is known before any data is read.
    written = rule.check.reason if rule and isinstance(rule.check, NotRun) else None
    rows = numbers.pop("row_count", None)
    return {
        "name": result.name,
        "check": rule.check.kind if rule else None,
        "status": result.status,
        "passed": result.passed,
        "severity": rule.severity if rule else None,
        "failing_rows": result.failing_rows,
        "rows": rows,
        "share": result.share,
        "where": result.where,
        "scope": result.scope,
        "base_snapshot": result.base_snapshot,
        "details": details_of(result, numbers) if written is None else f"not run: {written}",
        "metrics": numbers,
    }


def numbers_of(metrics: Mapping[str, Any]) -> dict[str, int | float]:
    """The numbers among metrics, those of an object under ``name.key``; without values of the data."""
    found: dict[str, int | float] = {}
    for name, value in metrics.items():
        if name.startswith(_VALUES):
            continue
        if isinstance(value, Mapping):
            inner = {key: item for key, item in value.items() if not isinstance(item, Mapping)}
            found |= {f"{name}.{key}": item for key, item in numbers_of(inner).items()}
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            found[name] = value
    return found


def details_of(result: CheckResult, numbers: Mapping[str, int | float]) -> str:
    """One line: names of columns, types and counts.

    Args:
        result: What it found.
        numbers: Its numbers.
    """
    metrics = result.metrics
    if result.status == NOT_RUN:
        return "could not be evaluated"
    schema = _of_schema(metrics)
    if schema or result.passed:
        return "; ".join(schema)
    if result.failing_rows:
        rows = metrics.get("row_count")
        return f"{result.failing_rows} of {rows} rows" if rows else f"{result.failing_rows} rows"
    types = metrics.get("column_types") or [metrics.get("column_type")]
    if not numbers and all(types):
        return f"cannot judge a column of the type {', '.join(map(str, types))}"
    return "; ".join(f"{name} {value}" for name, value in numbers.items())


def _of_schema(metrics: Mapping[str, Any]) -> list[str]:
    wrong = metrics.get("type_mismatches")
    found = []
    for word in ("missing", "added"):
        names = metrics.get(f"{word}_columns")
        if isinstance(names, list | tuple) and names:
            found.append(f"{word} column(s) {', '.join(map(str, names))}")
    for name, item in wrong.items() if isinstance(wrong, Mapping) else ():
        if isinstance(item, Mapping) and {"actual", "expected"} <= set(item):
            found.append(f"{name} is {item['actual']}, expected {item['expected']}")
    return found
