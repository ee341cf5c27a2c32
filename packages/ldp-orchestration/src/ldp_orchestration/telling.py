"""How a run of a workflow is told to a person, a line at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ldp_orchestration.model import (
    FAILED,
    GOOD,
    NOT_RUN,
    SUCCEEDED,
    UPSTREAM_FAILED,
    Retries,
    TaskMove,
    TaskOutcome,
    WorkflowResult,
)


def trouble(outcome: TaskOutcome, retries: Retries) -> str | None:
    """What went wrong with a task, and why it is not tried again; None where nothing did."""
    if outcome.error is None:
        return None
    between = "\n  " if "\n" in outcome.error else "; "
    return f"task {outcome.id!r}: {outcome.error}{between}{_no_more(outcome, retries)}"


def asides(move: TaskMove) -> Iterator[str]:
    """What is worth a word although it fails nothing: an attempt that another one follows, and warnings."""
    if move.state == "waiting":
        yield (
            f"task {move.id!r}: {move.error}; attempt {move.attempt} failed, "
            f"the next one begins in {move.wait_s or 0:.1f} s"
        )
    done = move.outcome.result if move.outcome else None
    for warning in done.warnings if done else ():
        yield f"task {move.id!r}: {warning}"


def _no_more(outcome: TaskOutcome, retries: Retries) -> str:
    """Why a task is not tried again."""
    if outcome.status != FAILED:
        return "not retried: fix the data, then run the same command again"
    if not outcome.retriable:
        return "not retried: fix the cause, then run the same command again"
    if retries.max_attempts == 1:
        return "not retried: metadata.retries gives it one attempt"
    return f"not retried: that was attempt {outcome.attempts} of {retries.max_attempts}"


def task_line(outcome: TaskOutcome) -> str:
    """``orders: published, 3 rows written, 0.4 s``."""
    done = outcome.result
    parts = [outcome.status]
    if outcome.status == UPSTREAM_FAILED:
        parts = ["not run: a task that it depends on did not succeed"]
    elif outcome.status == NOT_RUN:
        parts = ["not run"]
    if done is not None and done.rows_written is not None and outcome.status == "published":
        parts.append(f"{done.rows_written:,} row{'' if done.rows_written == 1 else 's'} written")
    if done is not None and done.rows_quarantined:
        parts.append(f"{done.rows_quarantined:,} put aside")
    if outcome.attempts > 1:
        parts.append(f"{outcome.attempts} attempts")
    if outcome.attempts:
        parts.append(f"{outcome.duration_s:.1f} s")
    return f"{outcome.id}: {', '.join(parts)}"


def summary(result: WorkflowResult) -> list[str]:
    """The last lines of a run."""
    counts = ", ".join(f"{count} {status}" for status, count in result.counts().items())
    window = f" for {result.window}" if result.window else ""
    lines = [f"workflow {result.workflow}{window}: {result.status} ({counts}) in {result.duration_s:.1f} s"]
    if result.status != SUCCEEDED and any(task.status in GOOD for task in result.tasks):
        lines.append("Run the same command again: tasks that have published the window are skipped")
    return lines
