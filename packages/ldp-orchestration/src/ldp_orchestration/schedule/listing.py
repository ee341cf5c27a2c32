"""What is scheduled under a folder, what comes next and what was missed. Takes no lock and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import Interrupted, UsageError
from ldp_core.window import Window
from ldp_core.window.model import instant

from ldp_orchestration.discovery import Found, Invalid, discover
from ldp_orchestration.fires import next_fire
from ldp_orchestration.ranges import MAX_WINDOWS
from ldp_orchestration.schedule.fill import commands
from ldp_orchestration.schedule.looking import fire_of, last_window, late_window, looked_at, passed_over
from ldp_orchestration.schedule.moment import Moment
from ldp_orchestration.schedule.telling import keeps_failing, local
from ldp_orchestration.schedule.ticked import problem_dict
from ldp_orchestration.state import BLOCKED, PUBLISHED


@dataclass(frozen=True)
class Waiting:
    """A window that keeps failing.

    Attributes:
        window: The window.
        failures: How many runs of it failed in a row.
        next_try: When a tick tries it again, should nothing change before.
    """

    window: Window
    failures: int
    next_try: datetime

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "window": str(self.window),
            "failures": self.failures,
            "next_try": instant(self.next_try),
        }


@dataclass(frozen=True)
class Scheduled:
    """A scheduled file that is valid.

    Attributes:
        file: From the folder.
        workflow: The identifier.
        kind: ``Workflow`` or ``Pipeline``.
        schedule: As written.
        timezone: Of its fires and windows.
        window_size: The size of its windows; None for the interval between two fires.
        catchup: Whether a tick runs every window since ``start``.
        start: No window that begins before it runs.
        next_fire: The next fire.
        last_window: The last window that the ledger holds.
        last_status: How that ran last.
        due: The windows that are due and not done, oldest first.
        waiting: Those of them that keep failing, so that the next tick may leave them alone.
        blocked: Those of them that a gate blocked: each tick tries them again.
        missed: The windows that are not done and that no tick will run, oldest first.
        missed_in_all: How many there are in all, where not each is named.
        commands: What to type to fill them.
        late: The first window that is not done after the last one that is.
        late_since: The fire that owns it.
        error: Why a tick cannot tell what is due.
    """

    file: str
    workflow: str
    kind: str
    schedule: str
    timezone: str
    window_size: str | None
    catchup: bool
    start: datetime | None
    next_fire: datetime | None = None
    last_window: Window | None = None
    last_status: str | None = None
    due: tuple[Window, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    blocked: tuple[Window, ...] = ()
    missed: tuple[Window, ...] = ()
    missed_in_all: int = 0
    commands: tuple[str, ...] = ()
    late: Window | None = None
    late_since: datetime | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        fire = self.next_fire
        return {
            "file": self.file,
            "workflow": self.workflow,
            "kind": self.kind,
            "schedule": self.schedule,
            "timezone": self.timezone,
            "window_size": self.window_size,
            "catchup": self.catchup,
            "start": instant(self.start) if self.start else None,
            "next_fire": instant(fire) if fire else None,
            "next_fire_local": fire.astimezone().isoformat() if fire else None,
            "last_window": str(self.last_window) if self.last_window else None,
            "last_status": self.last_status,
            "due": [str(window) for window in self.due],
            "waiting": [one.to_dict() for one in self.waiting],
            "blocked": [str(window) for window in self.blocked],
            "missed": [str(window) for window in self.missed],
            "missed_in_all": self.missed_in_all,
            "commands": list(self.commands),
            "late": str(self.late) if self.late else None,
            "late_since": instant(self.late_since) if self.late_since else None,
            "error": self.error,
        }

    def lines(self) -> list[str]:
        """For people."""
        size = f"{self.window_size} windows" if self.window_size else "a window from fire to fire"
        catchup = ", catches up" if self.catchup else ""
        found = [f"{self.file}  {self.workflow}: {self.schedule} ({self.timezone}), {size}{catchup}"]
        if self.next_fire:
            found.append(f"  next fire   {instant(self.next_fire)} ({local(self.next_fire)} here)")
        if self.last_window:
            found.append(f"  last window {self.last_window} {self.last_status}")
        found += [f"  due         {text}" for text in _few(self.due)]
        found += [
            f"  waiting     {one.window} {keeps_failing(one.failures, one.next_try)}" for one in self.waiting
        ]
        found += [f"  blocked     {text}" for text in _few(self.blocked)]
        found += [f"  missed      {text}" for text in _few(self.missed, self.missed_in_all)]
        found += [f"  to fill     {text}" for text in self.commands]
        if self.error:
            found.append(f"  error       {self.error}")
        return found


def _few(windows: Sequence[Window], in_all: int = 0) -> list[str]:
    """Windows a line each; of many the first two and the last."""
    texts = [str(window) for window in windows]
    more = max(in_all, len(texts)) - 3
    return texts if more < 1 else [*texts[:2], f"... {more} more", texts[-1]]


@dataclass(frozen=True)
class Listing:
    """What is scheduled under a folder.

    Attributes:
        now: The moment that it is about.
        scheduled: The valid files.
        problems: The files that are not.
    """

    now: datetime
    scheduled: tuple[Scheduled, ...]
    problems: tuple[Invalid, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 when a file is not valid, or nobody can tell what is due; else 0."""
        return 1 if self.problems or any(one.error for one in self.scheduled) else 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "now": instant(self.now),
            "exit_code": self.exit_code,
            "scheduled": [one.to_dict() for one in self.scheduled],
            "problems": [problem_dict(one) for one in self.problems],
        }


def list_scheduled(
    folder: str | Path,
    *,
    now: datetime | str | None = None,
    max_windows: int = MAX_WINDOWS,
    env: str | None = None,
    clock: Clock = system_clock,
) -> Listing:
    """What is scheduled under a folder: the same files and windows that a tick sees.

    Args:
        folder: Where the files are.
        now: The moment that it is about, in UTC; the present one by default.
        max_windows: How many missed windows of each file are named, the oldest first.
        env: The environment of ``ldp.yaml``.
        clock: The time.

    Raises:
        ConfigError: There is no such folder, or ``now`` is no time.
        UsageError: ``max_windows`` is less than 1.
    """
    if type(max_windows) is not int or max_windows < 1:
        raise UsageError(f"max_windows must be a whole number from 1, got {max_windows!r}")
    at = Moment.of(now, clock)
    found = discover(folder, env)
    listed = tuple(scheduled(one, Path(folder), at, max_windows, env) for one in found.found)
    return Listing(at.now, listed, found.problems)


def scheduled(found: Found, folder: Path, at: Moment, max_windows: int, env: str | None = None) -> Scheduled:
    """One file; what keeps a tick from telling what is due in it is its ``error``."""
    workflow = found.workflow
    assert workflow.schedule is not None
    base: dict[str, Any] = {
        "file": found.file,
        "workflow": workflow.identifier,
        "kind": found.kind,
        "schedule": workflow.schedule,
        "timezone": workflow.zone,
        "window_size": workflow.size,
        "catchup": workflow.catchup,
        "start": workflow.start,
    }
    try:
        base["next_fire"] = next_fire(workflow.schedule, workflow.zone, at.now)
        last = last_window(workflow)
        if last is not None:
            base["last_window"], base["last_status"] = last[0], last[1].status
        looked = looked_at(workflow, at, keys=False)
        over = passed_over(workflow, at)
        late = late_window(over, looked)
        since = fire_of(workflow, late) if late else None
    except Interrupted:
        raise
    except Exception as error:
        return Scheduled(**base, error=f"{type(error).__name__}: {error}")
    left = [one for one in looked if not one.done]
    missed = [seen.window for seen in over if seen.state != PUBLISHED]
    named = missed[:max_windows]
    return Scheduled(
        **base,
        due=tuple(one.seen.window for one in left),
        waiting=tuple(
            Waiting(one.seen.window, one.seen.last.failures, one.next_try)
            for one in left
            if one.next_try is not None and one.seen.last is not None
        ),
        blocked=tuple(one.seen.window for one in left if one.seen.state == BLOCKED),
        missed=tuple(named),
        missed_in_all=len(missed),
        late=late,
        late_since=since,
        commands=tuple(commands(workflow, str(folder / found.file), named, env)),
    )
