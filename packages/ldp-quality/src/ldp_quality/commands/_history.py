"""Runs that were checked, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldp_core._output import print_table, say
from ldp_core.errors import UsageError

from ldp_quality.commands._words import minute, percent, right, second
from ldp_quality.store.records import RunRecord

_BROKEN = 50
"""Characters that the names of broken rules may take."""


def table_of_runs(records: Sequence[RunRecord], *, with_dataset: bool) -> None:
    """Print one line a run; columns that would be empty are left out.

    Args:
        records: The runs, the newest first.
        with_dataset: Whether they are of more than one dataset.
    """
    columns: dict[str, list[Any]] = {
        "evaluated_utc": [second(record.evaluated) for record in records],
        "dataset": [record.dataset for record in records],
        "window": [_window(record) for record in records],
        "status": [record.status for record in records],
        "outcome": [record.outcome for record in records],
        "rules": [len(record.rules) for record in records],
        "warn": [record.count("warn") for record in records],
        "fail": [record.count("fail") for record in records],
        "not_run": [record.count("not_run") for record in records],
        "rows": [record.rows for record in records],
        "run_id": [record.run_id for record in records],
        "attempt": [record.attempt for record in records],
        "broken": [_broken(record) for record in records],
    }
    if not with_dataset:
        del columns["dataset"]
    for name in ("window", "outcome", "broken"):
        if not any(columns[name]):
            del columns[name]
        else:
            columns[name] = [value or "" for value in columns[name]]
    if all(record.attempt == 1 for record in records):
        del columns["attempt"]
    print_table(tuple(columns), list(zip(*columns.values(), strict=True)))


def chosen(found: Sequence[RunRecord], text: str, label: str) -> RunRecord:
    """The one result that an id means.

    Args:
        found: What has this id, or begins so.
        text: The id as the user gave it.
        label: The store, for the message.

    Raises:
        UsageError: There is none, or more than one.
    """
    if not found:
        raise UsageError(
            f"no run {text} in the quality history {label}", hint="ldp quality history lists them"
        )
    runs = {record.run_id for record in found}
    if len(runs) > 1:
        raise UsageError(f"{text} is more than one run: {', '.join(sorted(runs)[:5])}")
    judged = {(record.dataset, record.pipeline) for record in found}
    if len(judged) > 1:
        ids = ", ".join(f"{record.id[:12]} ({record.dataset})" for record in found[:5])
        raise UsageError(f"run {text} judged more than one dataset", hint=f"name the record: {ids}")
    return max(found, key=lambda record: record.attempt)


def show_run(record: RunRecord) -> None:
    """Print a run, then one line a rule."""
    contract = f"{record.contract_id} {record.contract_version or ''}".strip() if record.contract_id else None
    told = {
        "dataset": record.dataset,
        "status": record.status,
        "outcome": record.outcome,
        "run_id": record.run_id,
        "attempt": record.attempt,
        "evaluated": f"{second(record.evaluated)} UTC",
        "pipeline": record.pipeline or None,
        "contract": contract,
        "window": _window(record),
        "rows": record.rows,
        "seconds": record.duration_s,
        "engine": record.engine,
        "record": record.id,
    }
    for name, value in told.items():
        if value is not None:
            say(f"{name + ':':<11}{value}")
    say()
    columns: dict[str, list[Any]] = {
        "rule": [rule.name for rule in record.rules],
        "kind": [rule.kind or "" for rule in record.rules],
        "severity": [rule.severity or "" for rule in record.rules],
        "status": [rule.status for rule in record.rules],
        "failing_rows": [rule.failing_rows for rule in record.rules],
        "share": right("share", [percent(rule.share) for rule in record.rules]),
        "rows": [rule.rows for rule in record.rules],
        "where": [rule.where or "" for rule in record.rules],
        "scope": ["" if rule.scope in (None, "batch") else rule.scope for rule in record.rules],
        "details": [rule.details for rule in record.rules],
    }
    for name in ("kind", "severity", "where", "scope", "details"):
        if not any(columns[name]):
            del columns[name]
    print_table(tuple(columns), list(zip(*columns.values(), strict=True)), footer=False)
    broken = len(record.rules) - record.count("pass")
    say(f"({broken} of {len(record.rules)} rules did not pass)" if broken else "(all rules passed)")


def _broken(record: RunRecord) -> str:
    """The rules that did not pass, the worst first, as many as fit."""
    order = ("not_run", "fail", "warn")
    names = [rule.name for status in order for rule in record.rules if rule.status == status]
    shown: list[str] = []
    for name in names:
        if shown and len(", ".join([*shown, name])) > _BROKEN:
            return f"{', '.join(shown)} +{len(names) - len(shown)}"
        shown.append(name)
    return ", ".join(shown)


def _window(record: RunRecord) -> str | None:
    if record.window_start is None or record.window_end is None:
        return None if record.logical_date is None else minute(record.logical_date)
    return f"{minute(record.window_start)}/{minute(record.window_end)}"
