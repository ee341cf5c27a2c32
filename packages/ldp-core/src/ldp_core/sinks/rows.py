"""One attempt of a run as rows of ``_ldp.runs`` and ``_ldp.quality_results``, in real types."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ldp_core.events.fold import RunState, fold_attempts
from ldp_core.events.model import QUALITY_EVALUATED, Event

if TYPE_CHECKING:
    import pyarrow as pa

RUNS = "runs"
QUALITY_RESULTS = "quality_results"
DOCS = {
    RUNS: "One row an attempt of a run.",
    QUALITY_RESULTS: "One row a check of an attempt of a run.",
}
"""The tables, and what each is."""


def schemas() -> dict[str, pa.Schema]:
    """The columns of each table."""
    import pyarrow as pa

    moment = pa.timestamp("us", tz="UTC")
    return {
        RUNS: pa.schema(
            [
                pa.field("run_id", pa.string(), nullable=False),
                pa.field("attempt", pa.int32(), nullable=False),
                ("pipeline", pa.string()),
                ("workflow", pa.string()),
                ("task", pa.string()),
                ("status", pa.string()),
                ("started", moment),
                ("finished", moment),
                ("duration_s", pa.float64()),
                ("target", pa.string()),
                ("table_uuid", pa.string()),
                ("mode", pa.string()),
                ("window_start", moment),
                ("window_end", moment),
                ("idempotency_key", pa.string()),
                ("spec_hash", pa.string()),
                ("rows_read", pa.int64()),
                ("rows_kept", pa.int64()),
                ("rows_written", pa.int64()),
                ("checks", pa.int32()),
                ("checks_failed", pa.int32()),
                ("snapshot_id", pa.int64()),
                ("error", pa.string()),
                ("code", pa.string()),
                ("retriable", pa.bool_()),
            ]
        ),
        QUALITY_RESULTS: pa.schema(
            [
                pa.field("run_id", pa.string(), nullable=False),
                pa.field("attempt", pa.int32(), nullable=False),
                ("pipeline", pa.string()),
                ("evaluated", moment),
                ("gate", pa.string()),
                ("name", pa.string()),
                ("kind", pa.string()),
                ("status", pa.string()),
                ("passed", pa.bool_()),
                ("severity", pa.string()),
                ("failing_rows", pa.int64()),
                ("rows", pa.int64()),
                ("share", pa.float64()),
                ("condition", pa.string()),
                ("details", pa.string()),
                ("scope", pa.string()),
                ("base_snapshot", pa.string()),
            ]
        ),
    }


def rows_of(events: Sequence[Event]) -> dict[str, list[dict[str, Any]]]:
    """The rows of one attempt.

    Args:
        events: All its events.
    """
    state = fold_attempts(events)[0]
    evaluated = [event for event in events if event["type"] == QUALITY_EVALUATED]
    results = [line for event in evaluated[-1:] for line in _results(state, event)]
    return {RUNS: [_run(state)], QUALITY_RESULTS: results}


def _run(state: RunState) -> dict[str, Any]:
    row = state.to_dict()
    for name in ("started", "finished", "window_start", "window_end"):
        row[name] = _moment(row[name])
    row["snapshot_id"] = None if state.snapshot_id is None else int(state.snapshot_id)
    return row


def _results(state: RunState, event: Event) -> list[dict[str, Any]]:
    common = {
        "run_id": state.run_id,
        "attempt": state.attempt,
        "pipeline": state.pipeline,
        "evaluated": _moment(event["ts"]),
    }
    lines = event["payload"].get("results") or ()
    return [{**common, **line, "condition": line.get("where")} for line in lines]


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
