"""Folding events into the state of runs: what happened last in each, whatever order the events come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ldp_core.events.model import (
    OUTCOMES,
    QUALITY_EVALUATED,
    RUN_EXTRACTED,
    RUN_FINISHED,
    RUN_PUBLISHED,
    RUN_STARTED,
    Event,
)

RUNNING = "running"


@dataclass(frozen=True)
class RunState:
    """One run, as its events tell: of its last attempt.

    Attributes:
        run_id: The run.
        attempt: Its last attempt.
        attempts: How many attempts left events.
        pipeline: The config's identifier.
        status: ``running``, ``published``, ``skipped_duplicate``, ``blocked_quality`` or ``failed``.
        started: When the attempt began, ISO 8601.
        finished: When it ended; None while it runs (or after it was killed).
        duration_s: Seconds, as the run counted them.
        rows_read: Rows of the source.
        rows_written: Rows published.
        snapshot_id: The snapshot, as text.
        table_uuid: The table.
        checks: Checks evaluated.
        checks_failed: Checks that failed.
        error: Why it failed.
        payloads: The last payload of each type of event.
    """

    run_id: str
    attempt: int = 1
    attempts: int = 1
    pipeline: str | None = None
    status: str = RUNNING
    started: str | None = None
    finished: str | None = None
    duration_s: float | None = None
    rows_read: int | None = None
    rows_written: int | None = None
    snapshot_id: str | None = None
    table_uuid: str | None = None
    checks: int | None = None
    checks_failed: int | None = None
    error: str | None = None
    payloads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without the payloads."""
        return {name: value for name, value in vars(self).items() if name != "payloads"}


def fold_runs(events: Iterable[Event]) -> list[RunState]:
    """The state of every run, the one that began last first.

    An event that comes twice (one ledger, two sinks) counts once.
    """
    seen: set[str] = set()
    attempts: dict[str, dict[int, list[Event]]] = {}
    for event in events:
        if not str(event.get("type")).startswith(("run.", "quality.")) or event["event_id"] in seen:
            continue
        seen.add(event["event_id"])
        by_attempt = attempts.setdefault(str(event.get("run_id")), {})
        by_attempt.setdefault(int(event.get("attempt") or 1), []).append(event)
    states = []
    for run_id, by_attempt in attempts.items():
        last = max(by_attempt)
        state = RunState(run_id, last, len(by_attempt))
        for event in sorted(by_attempt[last], key=lambda item: int(item.get("seq") or 0)):
            state = apply(state, event)
        states.append(state)
    return sorted(states, key=lambda state: (state.started or "", state.run_id), reverse=True)


def apply(state: RunState, event: Event) -> RunState:
    """The state of a run after one more event of its attempt. An event of an unknown type changes nothing."""
    kind, payload = str(event["type"]), event.get("payload") or {}
    state = replace(
        state,
        table_uuid=event.get("table_uuid") or state.table_uuid,
        payloads={**state.payloads, kind: payload},
    )
    if kind == RUN_STARTED:
        return replace(state, started=event.get("ts"), pipeline=payload.get("pipeline"))
    if kind == RUN_EXTRACTED:
        return replace(state, rows_read=payload.get("rows_read"))
    if kind == QUALITY_EVALUATED:
        return replace(state, checks=payload.get("checks"), checks_failed=payload.get("failed"))
    if kind == RUN_PUBLISHED:
        snapshot = payload.get("snapshot_id")
        state = replace(
            state,
            rows_written=payload.get("rows_written"),
            snapshot_id=None if snapshot is None else str(snapshot),
        )
    if kind in OUTCOMES:
        return replace(state, status=OUTCOMES[kind], error=payload.get("error") or state.error)
    if kind == RUN_FINISHED:
        return replace(
            state,
            status=payload.get("status") or state.status,
            finished=event.get("ts"),
            duration_s=payload.get("duration_s"),
        )
    return state
