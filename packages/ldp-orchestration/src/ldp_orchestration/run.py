"""Running a workflow for one window: every task once, in order, again where another attempt may succeed."""

from __future__ import annotations

import random as _random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core._signals import asked_to_stop
from ldp_core.clock import Clock, system_clock
from ldp_core.errors import DataQualityError, Interrupted, UsageError
from ldp_core.events.batch import batched
from ldp_core.ids import new_id
from ldp_core.spi import Task, TaskCall, TaskResult
from ldp_core.window.parse import parse_window

from ldp_orchestration.graph import order
from ldp_orchestration.links import apart
from ldp_orchestration.load import load_workflow, refuse, workflow_problems
from ldp_orchestration.model import (
    BLOCKED,
    FAILED,
    GOOD,
    NOT_RUN,
    SKIPPED,
    UPSTREAM_FAILED,
    TaskMove,
    TaskOutcome,
    Workflow,
    WorkflowResult,
)
from ldp_orchestration.recording import Recording
from ldp_orchestration.retry import is_retriable, wait_after
from ldp_orchestration.waiting import Sleep, pause
from ldp_orchestration.workers import Workers

if TYPE_CHECKING:
    from ldp_core.spi import Progress
    from ldp_core.window.model import Window

OnTask = Callable[[TaskMove], object]


def run_workflow(
    workflow: Workflow | str | Path,
    window: Any = None,
    *,
    run_id: str | None = None,
    attempt: int = 1,
    carried: Mapping[str, tuple[str, int]] | None = None,
    replace: bool = False,
    jobs: int = 1,
    memory_limit: str | None = None,
    env: str | None = None,
    clock: Clock = system_clock,
    sleep: Sleep = time.sleep,
    random: Callable[[], float] = _random.random,
    on_task: OnTask | None = None,
    progress: Callable[[str], Progress] | None = None,
    look: Callable[[], object] | None = None,
    turn: Callable[[str], object] | None = None,
    readings: Any = None,
    told: Mapping[str, Any] | None = None,
    checked: bool = False,
) -> WorkflowResult:
    """Run a workflow, or a dataset config as a workflow of one task, for a window.

    A task that fails, or that a gate blocks, leaves those that depend on it ``upstream_failed``; the others
    run. What a window has published already is found by its key and skipped, so running it again does what is
    left. Nothing runs when something is wrong with the file or with a config that it names.

    Args:
        workflow: The workflow, or its file.
        window: ``START/END``, a pair, a ``Window``, ``yesterday``, ``last-week``, ``last-month``; None runs
            every task without one.
        run_id: The run of the workflow; made when it is None.
        attempt: The attempt of that run, from 1.
        carried: For tasks that an earlier attempt began, the run id and the number of the attempt to begin.
        replace: Load again what the window has published, in its place.
        jobs: How many tasks that nothing orders may run at the same time. The result does not depend on it.
        memory_limit: The memory of each engine, such as ``400MB``; each job has one.
        env: The environment of ``ldp.yaml``, where ``workflow`` is a file.
        clock: The time.
        sleep: Sleeps for some seconds, at most half a second at a time.
        random: A number from 0 up to 1, for the waits before retries.
        on_task: Hears of every attempt that begins, fails or ends; never from two threads at once.
        progress: Gives, for a task, where its long steps report.
        look: Called before each attempt and while it waits; what it raises ends the run. For who runs several
            workflows in threads, which no signal reaches.
        turn: Called with a task right before what it did becomes visible; returns when it is its turn among
            windows that run side by side.
        readings: What was read of text files for other windows; see ``ldp_core.spi.RunContext``.
        told: What ``workflow.started`` tells besides, as JSON.
        checked: The configs were checked already.

    Raises:
        ConfigError: The file, a config or the window is wrong; carries every problem, and nothing has run.
    """
    found = workflow if isinstance(workflow, Workflow) else load_workflow(workflow, env)
    asked = None if window is None else parse_window(window, found.zone, clock())
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs must be a whole number from 1, got {jobs!r}")
    if not checked:
        refuse(workflow_problems(found, replace))
    known = carried or {}
    runs = {task.id: known.get(task.id) or (new_id(), 1) for task in found.tasks}
    shared = _Shared(
        found, asked, runs, replace, memory_limit, clock, sleep, random, on_task, progress, look or _go_on
    )
    shared.turn = turn
    shared.readings = readings
    shared.told = told or {}
    return _run(shared, run_id or new_id(), attempt, jobs)


@dataclass
class _Shared:
    """What the tasks of one run have in common."""

    workflow: Workflow
    window: Window | None
    runs: Mapping[str, tuple[str, int]]
    replace: bool
    memory_limit: str | None
    clock: Clock
    sleep: Sleep
    random: Callable[[], float]
    on_task: OnTask | None
    progress: Callable[[str], Progress] | None
    look: Callable[[], object]
    turn: Callable[[str], object] | None = None
    readings: Any = None
    told: Mapping[str, Any] = field(default_factory=dict)
    sinks: tuple[tuple[str, Any], ...] = ()
    outcomes: dict[str, TaskOutcome] = field(default_factory=dict)
    begun: dict[str, tuple[int, int]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, move: TaskMove) -> None:
        """Hand on what happened to a task."""
        if self.on_task is not None:
            with self.lock:
                self.on_task(move)

    def end(self, outcome: TaskOutcome) -> None:
        """Take the end of a task."""
        self.outcomes[outcome.id] = outcome
        self.tell(TaskMove(outcome.id, "ended", outcome.attempt, outcome))


def _go_on() -> None:
    """Go on, unless the process was asked to stop and nobody heard."""
    if asked_to_stop():
        raise Interrupted("the run was interrupted")


def _run(shared: _Shared, run_id: str, attempt: int, jobs: int) -> WorkflowResult:
    started = time.monotonic()
    workflow = shared.workflow
    recording = Recording.open(workflow, run_id, attempt, shared.clock)
    shared.sinks = recording.for_tasks
    with batched():
        recording.started(shared.window, shared.runs, replace=shared.replace, told=shared.told)
        try:
            if jobs == 1 or len(workflow.tasks) == 1:
                _one_by_one(shared)
            else:
                _side_by_side(shared, jobs)
        finally:
            result = WorkflowResult(
                workflow.identifier,
                run_id,
                attempt,
                shared.window,
                tuple(shared.outcomes.get(name) or _left(workflow, name) for name in _order(workflow)),
                time.monotonic() - started,
            )
            recording.finished(result)
    return result


def _order(workflow: Workflow) -> list[str]:
    return order({task.id: task.depends_on for task in workflow.tasks})


def _left(workflow: Workflow, name: str) -> TaskOutcome:
    """The end of a task that was not reached."""
    kind = next(task.kind for task in workflow.tasks if task.id == name)
    return TaskOutcome(name, kind, NOT_RUN)


def _one_by_one(shared: _Shared) -> None:
    tasks = {task.id: task for task in shared.workflow.tasks}
    try:
        for name in _order(shared.workflow):
            if _is_ready(tasks[name], shared):
                shared.end(_tried(tasks[name], shared, shared.look))
    except BaseException:
        _cut(shared)
        raise


def _side_by_side(shared: _Shared, jobs: int) -> None:
    """Run what nothing orders at the same time; tasks about the same table run as they do one by one."""
    tasks = {task.id: task for task in shared.workflow.tasks}
    waiting = apart(shared.workflow, shared.window)
    made: Workers[TaskOutcome] = Workers(shared.look)
    try:
        with made:
            while waiting or made.running:
                for name in [name for name, before in waiting.items() if before <= shared.outcomes.keys()]:
                    if made.running >= jobs:
                        break
                    del waiting[name]
                    if _is_ready(tasks[name], shared):
                        made.start(partial(_tried, tasks[name], shared, made.look))
                if made.running:
                    shared.end(made.ended())
    except BaseException:
        shared.outcomes.update({outcome.id: outcome for outcome in made.left()})
        _cut(shared)
        raise


def _is_ready(task: Task, shared: _Shared) -> bool:
    """Whether what a task needs has succeeded; ends it where not."""
    if all(shared.outcomes[name].status in GOOD for name in task.depends_on):
        return True
    shared.end(TaskOutcome(task.id, task.kind, UPSTREAM_FAILED))
    return False


def _cut(shared: _Shared) -> None:
    """What an interrupt cut short has failed, and the events of the run tell of it."""
    cause = Interrupted("the run was interrupted")
    text = f"{type(cause).__name__}: {cause}"
    for task in shared.workflow.tasks:
        if task.id in shared.begun and task.id not in shared.outcomes:
            number, attempt = shared.begun[task.id]
            run_id = shared.runs[task.id][0]
            shared.outcomes[task.id] = TaskOutcome(
                task.id, task.kind, FAILED, number, attempt, run_id, text, True, cause=cause
            )


def _tried(task: Task, shared: _Shared, look: Callable[[], object]) -> TaskOutcome:
    """Attempts of a task, until one succeeds or no other may."""
    run_id, first = shared.runs[task.id]
    retries = shared.workflow.retries[task.id]
    started = time.monotonic()
    number = 1
    while True:
        attempt = first + number - 1
        look()
        shared.begun[task.id] = (number, attempt)
        shared.tell(TaskMove(task.id, "running", attempt))
        try:
            result = _called(task, shared, run_id, attempt)
            ended = TaskOutcome(task.id, task.kind, result.status, number, attempt, run_id, result=result)
            return replace(ended, duration_s=time.monotonic() - started)
        except Interrupted:
            raise
        except Exception as error:
            look()
            again = is_retriable(error)
            text = f"{type(error).__name__}: {error}"
            if not again or number >= retries.max_attempts:
                status = BLOCKED if isinstance(error, DataQualityError) else FAILED
                spent = time.monotonic() - started
                return TaskOutcome(
                    task.id, task.kind, status, number, attempt, run_id, text, again, spent, cause=error
                )
        wait = wait_after(number, retries, shared.random)
        shared.tell(TaskMove(task.id, "waiting", attempt, error=text, wait_s=wait))
        pause(wait, shared.sleep, look)
        number += 1


def _called(task: Task, shared: _Shared, run_id: str, attempt: int) -> TaskResult:
    call = TaskCall(
        window=shared.window,
        run_id=run_id,
        attempt=attempt,
        workflow=shared.workflow.identifier,
        sinks=shared.sinks,
        replace=shared.replace,
        memory_limit=shared.memory_limit,
        progress=shared.progress(task.id) if shared.progress is not None else None,
        clock=shared.clock,
        changed=any(outcome.status not in (SKIPPED, UPSTREAM_FAILED) for outcome in shared.outcomes.values()),
        readings=shared.readings,
        turn=None if shared.turn is None else partial(shared.turn, task.id),
    )
    return shared.workflow.opened[task.id].run(call)
