"""Folding events into the state of runs: what happened last in each, whatever order the events come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ldp_core.events import model
from ldp_core.events.executions import Execution, executions, pipeline_of, run_of
from ldp_core.events.model import OUTCOMES, Event

RUNNING = "running"
ROLLED_BACK = "rolled_back"
WORKFLOW = "(workflow)"
"""What stands for the task of a workflow's own run."""


@dataclass(frozen=True)
class RunState:
    """One run of a pipeline, or one attempt of it, as its events tell.

    Attributes:
        run_id: The run.
        attempt: The attempt: the last one, unless attempts are told apart.
        attempts: How many attempts of this pipeline's run left events.
        pipeline: The config's identifier.
        workflow: The workflow that it is part of.
        task: The task of the workflow; ``(workflow)`` for the workflow itself.
        status: ``running``, ``published``, ``skipped_duplicate``, ``blocked_quality`` or ``failed``;
            ``rolled_back`` where main was taken back behind what it published; of a workflow, as that says.
        started: When the attempt began, ISO 8601.
        finished: When it ended; None while it runs (or after it was killed).
        duration_s: Seconds, as the run counted them.
        rows_read: Rows of the source.
        rows_kept: Rows of the source inside the window.
        rows_written: Rows published.
        rows_quarantined: Rows put into quarantine.
        checks: Checks evaluated.
        checks_failed: Checks that failed.
        snapshot_id: The snapshot, as text.
        table_uuid: The table.
        target: The table or the file.
        mode: The write mode.
        window_start: The start of the window, ISO 8601.
        window_end: Its end.
        idempotency_key: The key.
        spec_hash: The hash of the config.
        error: Why it failed.
        code: The kind of the failure.
        retriable: Whether another attempt may succeed.
        payloads: The last payload of each type of event.
    """

    run_id: str
    attempt: int = 1
    attempts: int = 1
    pipeline: str | None = None
    workflow: str | None = None
    task: str | None = None
    status: str = RUNNING
    started: str | None = None
    finished: str | None = None
    duration_s: float | None = None
    rows_read: int | None = None
    rows_kept: int | None = None
    rows_written: int | None = None
    rows_quarantined: int | None = None
    checks: int | None = None
    checks_failed: int | None = None
    snapshot_id: str | None = None
    table_uuid: str | None = None
    target: str | None = None
    mode: str | None = None
    window_start: str | None = None
    window_end: str | None = None
    idempotency_key: str | None = None
    spec_hash: str | None = None
    error: str | None = None
    code: str | None = None
    retriable: bool | None = None
    payloads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without the payloads."""
        return {name: value for name, value in vars(self).items() if name != "payloads"}


def fold_runs(events: Iterable[Event]) -> list[RunState]:
    """The state of every pipeline's every run, by its last attempt; the one that began last first."""
    return last_attempts(fold_attempts(events))


def last_attempts(states: Iterable[RunState]) -> list[RunState]:
    """The last attempt of each run of each pipeline; the one that began last first."""
    last: dict[tuple[str, str | None], RunState] = {}
    for state in _newest_first(states):
        known = last.get((state.run_id, state.pipeline))
        if known is None or state.attempt > known.attempt:
            last[state.run_id, state.pipeline] = state
    return _newest_first(last.values())


def fold_attempts(events: Iterable[Event]) -> list[RunState]:
    """The state of every attempt of every pipeline's every run; the one that began last first.

    An event that comes twice (one ledger, two sinks) counts once. Of an attempt that was made again under
    the same number, the last time tells.
    """
    events = list(events)
    gone = {snapshot for event in events for snapshot in _rolled_back(event)}
    by_run: dict[tuple[str, str | None], dict[int, Execution]] = {}
    for made in executions(events):
        by_run.setdefault((made.run_id, made.pipeline), {})[made.attempt] = made
    states = []
    for attempts in by_run.values():
        for made in attempts.values():
            state = RunState(made.run_id, made.attempt, len(attempts), made.pipeline)
            for event in made.events:
                state = apply(state, event)
            if state.status == "published" and state.snapshot_id in gone:
                state = replace(state, status=ROLLED_BACK)
            states.append(state)
    return _newest_first(states)


def newest(
    events: Iterable[Event], limit: int, keep: Callable[[Event], bool] | None = None
) -> Iterator[Event]:
    """As many of a ledger's events, read from its end, as the runs that began last need.

    Args:
        events: Newest first.
        limit: How many runs are wanted.
        keep: Which first events of runs count.
    """
    begun: set[tuple[str, str | None]] = set()
    for event in events:
        yield event
        if event["type"] in _FIRST and (keep is None or keep(event)):
            begun.add((run_of(event), pipeline_of(event)))
            if len(begun) >= limit:
                return


def apply(state: RunState, event: Event) -> RunState:
    """The state of a run after one more event of its attempt. An event of an unknown type changes nothing."""
    kind, payload = str(event["type"]), event.get("payload") or {}
    state = replace(
        state,
        table_uuid=event.get("table_uuid") or state.table_uuid,
        workflow=payload.get("workflow") or state.workflow,
        task=payload.get("task") or state.task,
        payloads={**state.payloads, kind: payload},
    )
    change = _CHANGES.get(kind)
    if change is not None:
        state = replace(state, **change(payload))
    if kind in _FIRST:
        return replace(state, started=event.get("ts"))
    if kind in OUTCOMES:
        return replace(state, status=OUTCOMES[kind])
    if kind in _LAST:
        return replace(state, finished=event.get("ts"), status=payload.get("status") or state.status)
    return state


_FIRST = (model.RUN_STARTED, model.WORKFLOW_STARTED)
_LAST = (model.RUN_FINISHED, model.WORKFLOW_FINISHED)
Payload = Mapping[str, Any]


def _started(payload: Payload) -> dict[str, Any]:
    window, target = payload.get("window") or {}, payload.get("target") or {}
    return {
        "pipeline": payload.get("pipeline"),
        "mode": payload.get("mode"),
        "target": target.get("table") or target.get("path"),
        "window_start": window.get("start"),
        "window_end": window.get("end"),
        "idempotency_key": payload.get("idempotency_key"),
        "spec_hash": payload.get("spec_hash"),
    }


def _workflow(payload: Payload) -> dict[str, Any]:
    return {**_started(payload), "pipeline": payload.get("workflow"), "task": WORKFLOW}


def _extracted(payload: Payload) -> dict[str, Any]:
    return {"rows_read": payload.get("rows_read"), "rows_kept": payload.get("rows_kept")}


def _evaluated(payload: Payload) -> dict[str, Any]:
    return {"checks": payload.get("checks"), "checks_failed": payload.get("failed")}


def _published(payload: Payload) -> dict[str, Any]:
    counts = {name: payload.get(name) for name in ("rows_written", "rows_quarantined")}
    return {**counts, "mode": payload.get("mode"), **_snapshot(payload)}


def _snapshot(payload: Payload) -> dict[str, Any]:
    found = payload.get("snapshot_id")
    return {"snapshot_id": None if found is None else str(found)}


def _stopped(payload: Payload) -> dict[str, Any]:
    return {name: payload.get(name) for name in ("error", "code", "retriable")}


def _finished(payload: Payload) -> dict[str, Any]:
    return {"duration_s": payload.get("duration_s")}


_CHANGES: dict[str, Callable[[Payload], dict[str, Any]]] = {
    model.RUN_STARTED: _started,
    model.RUN_EXTRACTED: _extracted,
    model.QUALITY_EVALUATED: _evaluated,
    model.RUN_PUBLISHED: _published,
    model.RUN_SKIPPED_DUPLICATE: _snapshot,
    model.RUN_BLOCKED_QUALITY: _stopped,
    model.RUN_FAILED: _stopped,
    model.RUN_FINISHED: _finished,
    model.WORKFLOW_STARTED: _workflow,
    model.WORKFLOW_FINISHED: _finished,
}
"""What each type of event tells of a run; the keys of its payload are read here and nowhere else."""


def _rolled_back(event: Event) -> set[str]:
    """The snapshots that a rollback took off main."""
    payload = event.get("payload") or {}
    if event.get("type") != model.TABLE_MAINTAINED or payload.get("operation") != "rollback":
        return set()
    return {str(item) for item in payload.get("snapshots") or ()}


def _newest_first(states: Iterable[RunState]) -> list[RunState]:
    return sorted(
        states, key=lambda s: (s.started or "", s.run_id, s.pipeline or "", s.attempt), reverse=True
    )
