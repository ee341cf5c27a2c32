"""What became of the windows of a backfill. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core.window import Window

from ldp_orchestration.model import BLOCKED, FAILED, PUBLISHED, SUCCEEDED, WorkflowResult
from ldp_orchestration.state import STATES

DRY_RUN = "dry_run"
OUTCOMES = ("published", "skipped", "blocked", "failed")
"""How a window may end, in the order in which they are counted for people."""


@dataclass(frozen=True)
class BackfillWindow:
    """One window of a backfill.

    Attributes:
        window: The window.
        state: What it was before: ``published``, ``partial``, ``missing``, ``failed`` or ``blocked``.
        keys: The key of each task that has one, by the id of the task.
        outcome: ``published`` (something was written or built), ``skipped`` (all was done before),
            ``blocked`` (a gate held a task back) or ``failed``; None where it was not to run, or not reached.
        error: What went wrong outside its tasks, which have errors of their own.
        result: Its run; None where it did not run.
    """

    window: Window
    state: str
    keys: Mapping[str, str] = field(default_factory=dict)
    outcome: str | None = None
    error: str | None = None
    result: WorkflowResult | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        ran = self.result
        return {
            "window": str(self.window),
            "state": self.state,
            "keys": dict(self.keys),
            "outcome": self.outcome,
            "error": self.error,
            "attempt": ran.attempt if ran else None,
            "workflow_run_id": ran.run_id if ran else None,
            "tasks": [task.brief() for task in ran.tasks] if ran else None,
        }


@dataclass(frozen=True)
class BackfillResult:
    """A backfill.

    Attributes:
        workflow: The identifier.
        windows: The windows of the range in the order in which they were to run.
        dry_run: Whether they were only looked at.
        ledger: The file of the events.
        duration_s: Seconds.
        notes: Lines that explain.
    """

    workflow: str
    windows: tuple[BackfillWindow, ...]
    dry_run: bool = False
    ledger: Path | None = None
    duration_s: float = 0.0
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many windows ended how."""
        return {name: sum(one.outcome == name for one in self.windows) for name in OUTCOMES}

    def states(self) -> dict[str, int]:
        """How many windows were what before."""
        return {name: sum(one.state == name for one in self.windows) for name in STATES}

    @property
    def not_run(self) -> int:
        """Windows that were left out, or not reached."""
        return sum(one.outcome is None for one in self.windows)

    @property
    def status(self) -> str:
        """``failed``, ``blocked_quality`` when gates are the only problem, ``succeeded``; or ``dry_run``."""
        if self.dry_run:
            return DRY_RUN
        found = {one.outcome for one in self.windows}
        return FAILED if "failed" in found else BLOCKED if "blocked" in found else SUCCEEDED

    @property
    def exit_code(self) -> int:
        """0, 1 or 3."""
        return {FAILED: 1, BLOCKED: 3}.get(self.status, 0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "workflow": self.workflow,
            "status": self.status,
            "exit_code": self.exit_code,
            "counts": self.counts(),
            "states": self.states(),
            "not_run": self.not_run,
            "duration_s": round(self.duration_s, 3),
            "notes": list(self.notes),
            "windows": [one.to_dict() for one in self.windows],
            "events": str(self.ledger) if self.ledger else None,
        }


def outcome_of(result: WorkflowResult, upkeep: frozenset[str] = frozenset()) -> str:
    """How a window ended that was run.

    Args:
        result: Its run.
        upkeep: The tasks that leave no window undone: that they ran is not that something was loaded.
    """
    if result.status != SUCCEEDED:
        return "blocked" if result.status == BLOCKED else "failed"
    own = [task.status for task in result.tasks if task.id not in upkeep] or [PUBLISHED]
    return "published" if set(own) & {PUBLISHED, SUCCEEDED} else "skipped"
