"""A tick: what is due and not done under a folder is run once. Whoever calls it is the clock."""

from __future__ import annotations

import random as _random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import ConfigError, Interrupted, UsageError
from ldp_core.events.batch import batched
from ldp_core.locks import try_lock
from ldp_core.window import Window

from ldp_orchestration.backfilled import BackfillWindow
from ldp_orchestration.backfilling import Job
from ldp_orchestration.discovery import Found, discover
from ldp_orchestration.history import UNFINISHED, WindowRun, last_runs
from ldp_orchestration.model import NOT_RUN as TASK_NOT_RUN
from ldp_orchestration.model import SUCCEEDED, UPSTREAM_FAILED, TaskMove, Workflow, WorkflowResult
from ldp_orchestration.ranges import MAX_WINDOWS
from ldp_orchestration.run import run_workflow
from ldp_orchestration.schedule.looking import Due, looked_at, usual_length
from ldp_orchestration.schedule.moment import Moment, told_of
from ldp_orchestration.schedule.telling import about
from ldp_orchestration.schedule.ticked import NOT_RUN, WAITING, TickResult, TickWindow, WorkflowTick
from ldp_orchestration.side import obstacle
from ldp_orchestration.waiting import Sleep

LOCK = ".ldp/locks/schedule.lock"
"""The lock of the ticks of a folder."""

OnWindow = Callable[[str, BackfillWindow], object]
OnTask = Callable[[str, Window, TaskMove], object]
OnNote = Callable[[str, str], object]


@dataclass(frozen=True)
class _How:
    """How the windows of a tick run."""

    at: Moment
    max_windows: int
    force: bool
    jobs: int
    memory_limit: str | None
    clock: Clock
    sleep: Sleep
    random: Callable[[], float]
    on_window: OnWindow
    on_task: OnTask | None
    on_note: OnNote


def tick(
    folder: str | Path,
    *,
    now: datetime | str | None = None,
    max_windows: int = MAX_WINDOWS,
    force: bool = False,
    jobs: int = 1,
    memory_limit: str | None = None,
    env: str | None = None,
    clock: Clock = system_clock,
    sleep: Sleep = time.sleep,
    random: Callable[[], float] = _random.random,
    on_window: OnWindow | None = None,
    on_task: OnTask | None = None,
    on_note: OnNote | None = None,
) -> TickResult:
    """Run every window that is due and not done, of every scheduled workflow and config under a folder.

    A window whose last run failed, was blocked by a gate or never ended is carried on: as the next attempt of
    the same runs, so that whatever the old one left behind can publish no more. A window that keeps failing
    is left alone for a while that grows. One tick at a time: where another is at work, this one does nothing.

    Args:
        folder: Where the files are.
        now: The moment that the tick is about, in UTC; the present one by default.
        max_windows: How many windows of each workflow may run; the others are left to the next tick.
        force: Run windows that keep failing without waiting.
        jobs: How many windows of a catch-up, or else tasks of a window, may run at the same time.
        memory_limit: The memory of each engine, such as ``400MB``.
        env: The environment of ``ldp.yaml``.
        clock: The time.
        sleep: Sleeps for some seconds, at most half a second at a time.
        random: A number from 0 up to 1, for the waits before retries.
        on_window: Hears of every window that ran, with its file.
        on_task: Hears of every attempt of a task, with its file and window; never of two at once.
        on_note: Hears of what is worth telling before it is over, with its file.

    Raises:
        ConfigError: There is no such folder, or ``now`` is no time.
        UsageError: ``jobs`` or ``max_windows`` is less than 1.
    """
    begun = time.monotonic()
    for name, value in (("jobs", jobs), ("max_windows", max_windows)):
        if type(value) is not int or value < 1:
            raise UsageError(f"{name} must be a whole number from 1, got {value!r}")
    root = Path(folder)
    if not root.is_dir():
        raise ConfigError(f"{root} is {'a file, not a folder' if root.exists() else 'not there'}")
    at = Moment.of(now, clock)
    how = _How(
        at,
        max_windows,
        force,
        jobs,
        memory_limit,
        clock,
        sleep,
        random,
        on_window or _nobody,
        on_task,
        on_note or _nobody,
    )
    lock = root / LOCK
    with try_lock(lock) as held:
        if not held:
            return TickResult(at.now, lock, overlapped=True)
        found = discover(root, env)
        with batched():
            done = tuple(_one(each, how) for each in found.found)
    return TickResult(
        at.now, lock, workflows=done, problems=found.problems, duration_s=time.monotonic() - begun
    )


def _nobody(*_: Any) -> None:
    """Nobody listens."""


def _one(found: Found, how: _How) -> WorkflowTick:
    """One file; what goes wrong with it stops no other."""
    workflow = found.workflow
    notes: list[str] = []
    try:
        windows = _windows(found, how, notes)
    except Interrupted:
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return WorkflowTick(found.file, workflow.identifier, found.kind, (), text, tuple(notes))
    return WorkflowTick(found.file, workflow.identifier, found.kind, windows, None, tuple(notes))


def _windows(found: Found, how: _How, notes: list[str]) -> tuple[TickWindow, ...]:
    workflow = found.workflow
    looked = looked_at(workflow, how.at, force=how.force)
    ready = [place for place, one in enumerate(looked) if not one.done and one.next_try is None]
    todo, left = ready[: how.max_windows], set(ready[how.max_windows :])
    ends = {place: _unrun(one, place in left) for place, one in enumerate(looked)}

    def tell(text: str) -> None:
        notes.append(text)
        how.on_note(found.file, text)

    if len(todo) > 1 or left:
        tell(_catch_up(workflow, len(todo), len(left)))
    for place, one in _ran(found, how, looked, todo, tell) if todo else ():
        ends[place] = one
        how.on_window(found.file, one)
    return tuple(ends[place] for place in range(len(looked)))


def _unrun(one: Due, left: bool) -> TickWindow:
    """A window that does not run now."""
    seen = one.seen
    outcome = "skipped" if one.done else NOT_RUN if left else WAITING
    failures = seen.last.failures if seen.last else 0
    return TickWindow(seen.window, seen.state, seen.keys, outcome, None, None, failures, one.next_try)


def _ran(
    found: Found, how: _How, looked: Sequence[Due], todo: Sequence[int], tell: Callable[[str], object]
) -> Iterator[tuple[int, TickWindow]]:
    """Run windows, as a backfill does."""
    workflow = found.workflow
    by_window = {one.seen.window: one.seen.last for one in looked}
    side_by_side = how.jobs > 1 and len(todo) > 1
    if side_by_side and (why := obstacle(workflow, looked[todo[0]].seen.window)):
        tell(f"windows run one at a time: {why}")
        side_by_side = False

    def run(*, window: Window, **options: Any) -> WorkflowResult:
        return run_workflow(
            workflow,
            window,
            **carried_on(by_window[window]),
            told=told_of(workflow, window, how.at),
            memory_limit=how.memory_limit,
            clock=how.clock,
            sleep=how.sleep,
            random=how.random,
            checked=True,
            **options,
        )

    def heard(window: Window, move: TaskMove) -> None:
        if how.on_task is not None:
            how.on_task(found.file, window, move)

    job = Job(workflow, [one.seen for one in looked], run, heard)
    ending = job.side_by_side(todo, how.jobs) if side_by_side else job.one_by_one(todo, how.jobs, False)
    wanted = set(todo)
    with closing(ending):
        for place, ended in ending:
            if place in wanted:
                yield place, _ticked(ended, by_window[ended.window])


def _ticked(ended: BackfillWindow, last: WindowRun | None) -> TickWindow:
    values = {field.name: getattr(ended, field.name) for field in fields(BackfillWindow)}
    return TickWindow(**values, failures=last.failures if last else 0)


def carried_on(last: WindowRun | None) -> dict[str, Any]:
    """The run, the attempts and the runs of tasks that the next run of a window goes on with.

    A run that succeeded is over, and so are windows without one: what comes next is a run of its own. A task
    begins with the attempt after the highest that the ledger knows, or with that one where it surely did not
    begin.
    """
    if last is None or last.status == SUCCEEDED:
        return {}
    unsure = last.status == UNFINISHED
    carried = {
        name: (run.run_id, run.attempt + (unsure or run.status not in (TASK_NOT_RUN, UPSTREAM_FAILED)))
        for name, run in last.tasks.items()
    }
    return {"run_id": last.run_id, "attempt": last.attempt + 1, "carried": carried}


def _catch_up(workflow: Workflow, count: int, left: int) -> str:
    """How many windows run, and about how long that takes."""
    usual = usual_length(list(last_runs(workflow).values()))

    def takes(windows: int) -> str:
        return f", {about(usual * windows)}" if usual is not None else ""

    text = f"catching up: {count} window{'' if count == 1 else 's'}{takes(count)}"
    return f"{text}; {left} more are left to the next ticks{takes(left)}" if left else text
