"""What a tick did. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.window.model import instant

from ldp_orchestration.backfilled import OUTCOMES, BackfillWindow
from ldp_orchestration.discovery import Invalid
from ldp_orchestration.model import BLOCKED, FAILED, SUCCEEDED

NOT_RUN = "not_run"
"""A window that waits for the next tick, because this one has run as many as it may."""
WAITING = "waiting"
"""A window that keeps failing, and whose next try has not come."""


@dataclass(frozen=True)
class TickWindow(BackfillWindow):
    """A window that a tick looked at. Its outcome may be ``not_run`` or ``waiting``, too.

    Attributes:
        failures: How many runs of it failed in a row before.
        next_try: When it is tried again, where it is ``waiting``.
    """

    failures: int = 0
    next_try: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        ran = self.result is not None
        wait = {"failures": self.failures, "next_try": instant(self.next_try)} if self.next_try else {}
        all_of_it = {**super().to_dict(), **wait}
        return all_of_it if ran else {k: v for k, v in all_of_it.items() if k not in _OF_A_RUN}


_OF_A_RUN = ("workflow_run_id", "tasks")


@dataclass(frozen=True)
class WorkflowTick:
    """What a tick did with one file.

    Attributes:
        file: From the folder of the tick.
        workflow: The identifier.
        kind: ``Workflow`` or ``Pipeline``.
        windows: The windows that it looked at, oldest first.
        error: What kept it from looking at them.
        notes: Lines that explain.
    """

    file: str
    workflow: str
    kind: str
    windows: tuple[TickWindow, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def due(self) -> int:
        """How many windows were not done when the tick came."""
        return sum(window.outcome != "skipped" or window.result is not None for window in self.windows)

    @property
    def exit_code(self) -> int:
        """0, 1 or 3; a window that waits counts as it ended last."""
        found = {window.outcome for window in self.windows}
        if self.error is not None or found & {"failed", WAITING}:
            return 1
        return 3 if "blocked" in found else 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "file": self.file,
            "workflow": self.workflow,
            "kind": self.kind,
            "due": self.due,
            "exit_code": self.exit_code,
            "error": self.error,
            "notes": list(self.notes),
            "windows": [window.to_dict() for window in self.windows],
        }


@dataclass(frozen=True)
class TickResult:
    """What a tick did.

    Attributes:
        now: The moment that it was about.
        lock: Its lock file.
        overlapped: Whether another tick was running, so that it did nothing.
        workflows: What it did with each file.
        problems: The scheduled files that are not valid.
        duration_s: Seconds.
    """

    now: datetime
    lock: Path
    overlapped: bool = False
    workflows: tuple[WorkflowTick, ...] = ()
    problems: tuple[Invalid, ...] = ()
    duration_s: float = 0.0

    def counts(self) -> dict[str, int]:
        """How many windows ended how; windows that were left alone are counted where there are any."""
        found = [window.outcome for one in self.workflows for window in one.windows]
        counts = {name: found.count(name) for name in OUTCOMES}
        return counts | {name: found.count(name) for name in (WAITING, NOT_RUN) if name in found}

    @property
    def exit_code(self) -> int:
        """1 when a window failed, a file is not valid or could not be ticked; 3 for gates alone; else 0."""
        codes = {one.exit_code for one in self.workflows}
        if self.problems or 1 in codes:
            return 1
        return 3 if 3 in codes else 0

    @property
    def status(self) -> str:
        """``succeeded``, ``failed``, or ``blocked_quality`` when gates are the only problem."""
        return {1: FAILED, 3: BLOCKED}.get(self.exit_code, SUCCEEDED)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "now": instant(self.now),
            "status": self.status,
            "exit_code": self.exit_code,
            "counts": self.counts(),
            "overlapped": self.overlapped,
            "lock": str(self.lock),
            "problems": [problem_dict(one) for one in self.problems],
            "workflows": [one.to_dict() for one in self.workflows],
            "duration_s": round(self.duration_s, 3),
        }


def problem_dict(one: Invalid) -> dict[str, Any]:
    """A file that is not valid, as JSON."""
    return {
        "file": one.file,
        "kind": one.kind,
        "errors": [str(problem) for problem in one.problems],
        "problems": [problem.to_dict() for problem in one.problems],
    }
