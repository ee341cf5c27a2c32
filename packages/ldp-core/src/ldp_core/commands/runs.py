"""``ldp runs``: what ran, when, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, print_json, print_table, say

if TYPE_CHECKING:
    from ldp_core.events.fold import RunState

_SHOWN = 50
_KEY_DIGITS = 12


@click.command(short_help="List runs, newest first.")
@click.argument("place", default=".", metavar="[LEDGER|CONFIG|FOLDER]")
@click.option("--run", "run_id", metavar="ID", help="One run in detail: its id, or how its id begins.")
@click.option("--events", is_flag=True, help="The events of the runs, in their order.")
@click.option("--attempts", is_flag=True, help="Every attempt, not only the last of each run.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help=f"Runs to show; {_SHOWN} by default.")
@env_option
@json_option
def runs(
    place: str,
    run_id: str | None,
    events: bool,
    attempts: bool,
    limit: int | None,
    env: str | None,
    as_json: bool,
) -> None:
    """List the runs of a ledger, a config or a folder, the newest first.

    A folder stands for its ledger .ldp/events.jsonl, a config for its own runs in the ledger beside it or in
    the tables of its Iceberg sink. Only as much of a ledger is read as the runs that are shown need.
    """
    from ldp_core.commands._history import find_history
    from ldp_core.errors import UsageError
    from ldp_core.events.fold import last_attempts

    history = find_history(place, env)
    if events:
        if history.tables is not None:
            raise UsageError(f"{history.label} keeps no events", hint="add the sink jsonl")
        _events(history.events(limit or _SHOWN, run_id), as_json)
        return
    found = history.attempts(limit or _SHOWN, run_id)
    if run_id is not None:
        _one(_chosen(found, run_id), as_json)
        return
    shown = found if attempts else last_attempts(found)[: limit or _SHOWN]
    if as_json:
        print_json({"source": history.label, "runs": [state.to_dict() for state in shown]})
        return
    if not shown:
        say(
            f"No runs recorded in {history.label}. A run with --window or --idempotency-key is recorded, and "
            'every run of a config with metadata.observability, such as {"sinks": ["jsonl"]}.'
        )
        return
    say(f"Runs recorded in {history.label}, newest first:")
    _table(shown)


def _chosen(states: Sequence[RunState], run_id: str) -> list[RunState]:
    """The attempts of the one run that an id, or its beginning, means."""
    from ldp_core.errors import UsageError

    ids = {state.run_id for state in states}
    wanted = {run_id} & ids or ids
    if not wanted:
        raise UsageError(f"no run {run_id} is recorded")
    if len(wanted) > 1:
        raise UsageError(f"{run_id} is more than one run: {', '.join(sorted(wanted)[:5])}")
    chosen = [state for state in states if state.run_id in wanted]
    pipelines = {str(state.pipeline) for state in chosen}
    if len(pipelines) > 1:
        name = wanted.pop()
        raise UsageError(
            f"{name} is a run of more than one config: {', '.join(sorted(pipelines)[:5])}",
            hint=f"name the config: ldp runs CONFIG --run {name}",
        )
    return chosen


def _one(attempts: Sequence[RunState], as_json: bool) -> None:
    from ldp_core.events.model import QUALITY_EVALUATED

    last = max(attempts, key=lambda state: state.attempt)
    told = last.payloads.get(QUALITY_EVALUATED) or {}
    results = list(told.get("results") or ())
    if as_json:
        listed = [state.to_dict() for state in attempts]
        print_json({"run": {**last.to_dict(), "results": results}, "attempts": listed})
        return
    for name, value in last.to_dict().items():
        if value is not None:
            say(f"{name + ':':<17}{value}")
    if results:
        say()
        columns = ("gate", "name", "kind", "passed", "failing_rows", "rows")
        print_table(columns, [[line.get(name) for name in columns] for line in results], footer=False)
    if len(attempts) > 1:
        say()
        _table(attempts)


def _table(states: Sequence[RunState]) -> None:
    columns: dict[str, list[Any]] = {
        "run_id": [state.run_id for state in states],
        "attempt": [state.attempt for state in states],
        "pipeline": [state.pipeline for state in states],
        "workflow": [state.workflow for state in states],
        "task": [state.task for state in states],
        "started_utc": [_moment(state.started, 19) for state in states],
        "status": [state.status for state in states],
        "rows_read": [state.rows_read for state in states],
        "rows_written": [state.rows_written for state in states],
        "checks": [_checks(state.checks, state.checks_failed) for state in states],
        "snapshot_id": [None if state.snapshot_id is None else int(state.snapshot_id) for state in states],
        "idempotency_key": [(state.idempotency_key or "")[:_KEY_DIGITS] or None for state in states],
        "duration_s": [state.duration_s for state in states],
    }
    if not any(columns["workflow"]):
        del columns["workflow"], columns["task"]
    print_table(tuple(columns), list(zip(*columns.values(), strict=True)))


def _checks(checks: int | None, failed: int | None) -> str | None:
    """How checks ended, in words: ``1/3`` would be read as one that passed."""
    if checks is None:
        return None
    if failed:
        return f"{failed} of {checks} failed"
    return f"{checks} passed" if checks else "none"


def _moment(text: str | None, length: int) -> str | None:
    return None if text is None else text.replace("T", " ").removesuffix("Z")[:length]


def _events(events: Any, as_json: bool) -> None:
    found = list(events)[::-1]
    if as_json:
        print_json({"events": found})
        return
    rows = [
        (
            event["run_id"],
            event.get("attempt"),
            event.get("seq"),
            _moment(event.get("ts"), 23),
            event["type"],
            _detail(event),
        )
        for event in found
    ]
    print_table(("run_id", "attempt", "seq", "ts_utc", "type", "detail"), rows)


def _detail(event: Mapping[str, Any]) -> str:
    """What an event tells, in a few words."""
    payload = event.get("payload") or {}
    if event["type"] == "quality.evaluated":
        return f"checks: {_checks(payload.get('checks') or 0, payload.get('failed'))}"
    window = payload.get("window")
    told = {
        "mode": payload.get("mode") if event["type"] == "run.started" else None,
        "window": f"{window.get('start')}/{window.get('end')}" if isinstance(window, Mapping) else window,
        "key": (payload.get("idempotency_key") or "")[:_KEY_DIGITS] or None,
        "rows_read": payload.get("rows_read"),
        "rows_kept": payload.get("rows_kept"),
        "rows_written": payload.get("rows_written"),
        "snapshot": payload.get("snapshot_id"),
        "operation": payload.get("operation"),
        "code": payload.get("code"),
        "status": payload.get("status"),
        "duration_s": payload.get("duration_s"),
    }
    return " ".join(f"{name}={value}" for name, value in told.items() if value is not None)
