"""What a workflow is, and how a run of it, of a task and of a window ends. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.spi import OpenTask, Task, TaskResult
from ldp_core.window import Window

LEDGER = ".ldp/events.jsonl"
"""The ledger of a workflow's events, from the folder of its file."""

PUBLISHED = "published"
SKIPPED = "skipped_duplicate"
SUCCEEDED = "succeeded"
BLOCKED = "blocked_quality"
FAILED = "failed"
UPSTREAM_FAILED = "upstream_failed"
NOT_RUN = "not_run"

GOOD = frozenset({PUBLISHED, SKIPPED, SUCCEEDED})
"""The statuses of a task that the tasks after it may build on."""


@dataclass(frozen=True)
class Retries:
    """How often a task is tried.

    Attributes:
        max_attempts: The attempts in all; 1 is no retry.
        delay_s: The longest wait before the first retry, in seconds.
        backoff: What it is multiplied by for each retry after that.
    """

    max_attempts: int = 1
    delay_s: float = 30.0
    backoff: float = 2.0


@dataclass(frozen=True)
class Sla:
    """How late the last window may be, in seconds after the fire that owns it; None says nothing."""

    warn_after: float | None = None
    error_after: float | None = None


@dataclass(frozen=True)
class Workflow:
    """A workflow file, or a dataset config as a workflow of one task. Its structure is right.

    Attributes:
        identifier: Its name.
        path: The file, absolute.
        name: The file as the user named it, for messages.
        kind: ``Workflow`` or ``Pipeline``.
        tasks: In the order of the file.
        opened: The tasks by id, read.
        retries: Of each task by id: the workflow's own, with what the task says above it.
        schedule: The schedule as written: a cron expression or ``@daily``; None without one.
        zone: The IANA name of the time zone of its windows and fires.
        size: The size of its windows: what it says, else what its schedule means; None where neither does.
        catchup: Whether a tick runs every window missed since ``start``.
        start: No window that begins before it runs; in UTC.
        sla: How late it may be.
        observability: What ``metadata.observability`` says, for the events of the workflow.
        env: The environment of ``ldp.yaml`` that holds.
        lines: The line of every key of the file, for messages.
    """

    identifier: str
    path: Path
    name: str
    kind: str
    tasks: tuple[Task, ...]
    opened: Mapping[str, OpenTask]
    retries: Mapping[str, Retries]
    schedule: str | None = None
    zone: str = "UTC"
    size: str | None = None
    catchup: bool = False
    start: datetime | None = None
    sla: Sla | None = None
    observability: Mapping[str, Any] = field(default_factory=dict)
    env: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def ledger(self) -> Path:
        """The file of its events."""
        return self.path.parent / LEDGER


@dataclass(frozen=True)
class TaskOutcome:
    """How a task of a run of a workflow ended.

    Attributes:
        id: The task.
        kind: Its kind.
        status: ``published``, ``skipped_duplicate``, ``succeeded``, ``blocked_quality``, ``failed``,
            ``upstream_failed`` or ``not_run``.
        attempts: How many attempts this run made of it.
        attempt: The number of the last one; higher than ``attempts`` where an earlier run began it.
        run_id: The run of the task; None where it did not run.
        error: Why it ended badly, in one line that begins with the class of the error.
        retriable: Whether another attempt may succeed; None where it ended well.
        duration_s: Seconds over all attempts and waits.
        result: What it did, where it ended well.
        cause: The error itself.
    """

    id: str
    kind: str
    status: str
    attempts: int = 0
    attempt: int = 0
    run_id: str | None = None
    error: str | None = None
    retriable: bool | None = None
    duration_s: float = 0.0
    result: TaskResult | None = None
    cause: BaseException | None = field(default=None, repr=False, compare=False)

    def brief(self) -> dict[str, Any]:
        """As JSON in the list of a window's tasks."""
        return {name: getattr(self, name) for name in ("id", "kind", "status", "attempts", "error")}

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with what it did."""
        done = self.result
        return {
            **self.brief(),
            "attempt": self.attempt,
            "run_id": self.run_id,
            "retriable": self.retriable,
            "duration_s": round(self.duration_s, 3),
            "rows_read": done.rows_read if done else None,
            "rows_written": done.rows_written if done else None,
            "rows_quarantined": done.rows_quarantined if done else None,
            "snapshot_id": str(done.snapshot_id) if done and done.snapshot_id is not None else None,
            "tables": list(done.tables) if done else [],
            "warnings": list(done.warnings) if done else [],
            "detail": dict(done.detail) if done else {},
        }


@dataclass(frozen=True)
class TaskMove:
    """Something that happened to a task while a workflow runs.

    Attributes:
        id: The task.
        state: ``running``, ``waiting`` (for its next attempt), or ``ended``.
        attempt: The attempt that begins, failed or was the last one.
        outcome: How it ended.
        error: Why the attempt failed, where another one follows.
        wait_s: Seconds until that.
    """

    id: str
    state: str
    attempt: int = 0
    outcome: TaskOutcome | None = None
    error: str | None = None
    wait_s: float | None = None


@dataclass(frozen=True)
class WorkflowResult:
    """How a run of a workflow for one window ended.

    Attributes:
        workflow: The identifier.
        run_id: The run of the workflow.
        attempt: From 1; a tick carries a run on that failed before.
        window: The window.
        tasks: In the order in which they were planned.
        duration_s: Seconds.
    """

    workflow: str
    run_id: str
    attempt: int
    window: Window | None
    tasks: tuple[TaskOutcome, ...]
    duration_s: float = 0.0

    @property
    def status(self) -> str:
        """``succeeded``; ``failed`` when a task failed; ``blocked_quality`` when only gates stopped tasks."""
        found = {task.status for task in self.tasks}
        if found <= GOOD:
            return SUCCEEDED
        return FAILED if found & {FAILED, NOT_RUN} else BLOCKED

    @property
    def exit_code(self) -> int:
        """0, 1 or 3."""
        return {SUCCEEDED: 0, BLOCKED: 3}.get(self.status, 1)

    def counts(self) -> dict[str, int]:
        """How many tasks ended in each status; statuses that none has are left out."""
        found: dict[str, int] = {}
        for task in self.tasks:
            found[task.status] = found.get(task.status, 0) + 1
        return found

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "workflow": self.workflow,
            "workflow_run_id": self.run_id,
            "attempt": self.attempt,
            "window": None if self.window is None else str(self.window),
            "status": self.status,
            "exit_code": self.exit_code,
            "counts": self.counts(),
            "duration_s": round(self.duration_s, 3),
            "tasks": [task.to_dict() for task in self.tasks],
        }
