"""Running a workflow for every window of a range: what is published is skipped, what is left is done."""

from __future__ import annotations

import random as _random
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import Interrupted, UsageError
from ldp_core.events.batch import batched
from ldp_core.run._scratch import scratch_folder
from ldp_core.sources.readings import Readings
from ldp_core.window import Window

from ldp_orchestration.backfilled import BackfillResult, BackfillWindow, outcome_of
from ldp_orchestration.load import load_workflow, refuse, workflow_problems
from ldp_orchestration.model import TaskMove, Workflow, WorkflowResult
from ldp_orchestration.ranges import MAX_WINDOWS, parse_range, size_of, windows_of
from ldp_orchestration.run import run_workflow
from ldp_orchestration.side import obstacle
from ldp_orchestration.state import MISSING, PUBLISHED
from ldp_orchestration.turns import Turns
from ldp_orchestration.waiting import Sleep
from ldp_orchestration.windows import Seen, look_at
from ldp_orchestration.workers import Workers

OnWindow = Callable[[BackfillWindow, int, int], object]
OnTask = Callable[[Window, TaskMove], object]
End = tuple[int, BackfillWindow]
"""The place of a window in the order, and how it ended."""


def backfill(
    path: Workflow | str | Path,
    start: Any,
    end: Any = None,
    *,
    dry_run: bool = False,
    replace: bool = False,
    only_missed: bool = False,
    run_backwards: bool = False,
    stop_on_failure: bool = False,
    max_windows: int = MAX_WINDOWS,
    jobs: int = 1,
    memory_limit: str | None = None,
    env: str | None = None,
    clock: Clock = system_clock,
    sleep: Sleep = time.sleep,
    random: Callable[[], float] = _random.random,
    on_window: OnWindow | None = None,
    on_task: OnTask | None = None,
) -> BackfillResult:
    """Run a workflow, or a dataset config with a window, for every window of a range.

    A window that is published is skipped without being read. The others run; one that fails, or that a gate
    blocks, does not stop them. The same call again does what is left.

    Args:
        path: The workflow, or its file.
        start: Where the first window starts: a date, a datetime or ISO 8601 text; what has no offset is in
            the time zone of the workflow.
        end: Where the last window ends; by default the end of the last complete one.
        dry_run: Only look. Nothing is created.
        replace: Load again what windows have published, in its place.
        only_missed: Run only windows of which nothing is there, or that the ledger has no run of.
        run_backwards: The newest window first.
        stop_on_failure: Run no window after the first that fails or that a gate blocks.
        max_windows: A range with more windows is refused.
        jobs: How many windows may run at the same time. The result does not depend on it: where windows
            cannot run side by side they run one at a time, and a note says why.
        memory_limit: The memory of each engine, such as ``400MB``; each job has one.
        env: The environment of ``ldp.yaml``, where ``path`` is a file.
        clock: The time.
        sleep: Sleeps for some seconds, at most half a second at a time.
        random: A number from 0 up to 1, for the waits before retries.
        on_window: Hears of every window that ends, with its place in the order and the number of windows.
        on_task: Hears what happens to the tasks of each window.

    Raises:
        ConfigError: The file, a config or the range is wrong; carries every problem, and nothing has run.
        LDPError: Nobody can tell what is published; nothing has run.
    """
    started = time.monotonic()
    if type(jobs) is not int or jobs < 1:
        raise UsageError(f"jobs must be a whole number from 1, got {jobs!r}")
    workflow = path if isinstance(path, Workflow) else load_workflow(path, env)
    bounds = parse_range(workflow, start, end, clock())
    windows = windows_of(size_of(workflow), workflow.zone, *bounds, max_windows)
    refuse(workflow_problems(workflow, replace))
    if run_backwards:
        windows.reverse()
    seen = look_at(workflow, windows, replace=replace)
    ends = {at: BackfillWindow(one.window, one.state, one.keys) for at, one in enumerate(seen)}
    notes: tuple[str, ...] = ()
    if not dry_run:
        todo = _todo(seen, only_missed, again=replace and not _has_keys(workflow))
        why = (
            _one_at_a_time(workflow, windows, replace, stop_on_failure)
            if jobs > 1 and len(todo) > 1
            else None
        )
        notes = (f"windows run one at a time: {why}",) if why else ()
        run = partial(
            run_workflow,
            workflow,
            replace=replace,
            memory_limit=memory_limit,
            clock=clock,
            sleep=sleep,
            random=random,
            checked=True,
        )
        together = jobs > 1 and len(todo) > 1 and why is None
        with batched(), _read_once(windows if len(todo) > 1 else ()) as readings:
            job = Job(workflow, seen, partial(run, readings=readings), _heard_once(on_task))
            ending = job.side_by_side(todo, jobs) if together else job.one_by_one(todo, jobs, stop_on_failure)
            with closing(ending):
                for at, ended in ending:
                    ends[at] = ended
                    if on_window is not None:
                        on_window(ended, at + 1, len(seen))
    took = time.monotonic() - started
    in_order = tuple(ends[at] for at in range(len(seen)))
    return BackfillResult(workflow.identifier, in_order, dry_run, workflow.ledger, took, notes)


def _todo(seen: Sequence[Seen], only_missed: bool, again: bool) -> list[int]:
    """The places of the windows that are to run.

    Args:
        seen: The windows.
        only_missed: Leave out those of which something is there, or that failed or were blocked.
        again: Nothing can tell that a window is done.
    """
    left = [at for at, one in enumerate(seen) if again or one.state != PUBLISHED]
    return [at for at in left if not only_missed or seen[at].state == MISSING or seen[at].last is None]


@contextmanager
def _read_once(windows: Sequence[Window]) -> Iterator[Readings | None]:
    """What is read of text files is kept for other windows, where there are any."""
    if not windows:
        yield None
        return
    with scratch_folder() as folder:
        yield Readings(folder, sorted(windows))


def _has_keys(workflow: Workflow) -> bool:
    """Whether a key can tell that a window was replaced."""
    return any(opened.vouched and opened.counts for opened in workflow.opened.values())


def _one_at_a_time(workflow: Workflow, windows: Sequence[Window], replace: bool, stop: bool) -> str | None:
    """Why windows that were asked to run side by side do not."""
    if stop:
        return "with --stop-on-failure none may begin before the one before it has ended"
    return obstacle(workflow, windows[0], replace=replace)


def _heard_once(on_task: OnTask | None) -> OnTask | None:
    """The listener, which never hears of two things at once."""
    if on_task is None:
        return None
    lock = threading.Lock()

    def hear(window: Window, move: TaskMove) -> None:
        with lock:
            on_task(window, move)

    return hear


@dataclass(frozen=True)
class Job:
    """The windows of a backfill on their way.

    Attributes:
        workflow: The workflow.
        seen: What was known of each window before.
        run: Runs the workflow for a window.
        on_task: Hears of tasks.
    """

    workflow: Workflow
    seen: Sequence[Seen]
    run: Callable[..., WorkflowResult]
    on_task: OnTask | None

    def one_by_one(self, todo: Sequence[int], jobs: int, stop: bool) -> Generator[End]:
        """Run windows in order; tasks of a window that nothing orders may run side by side."""
        for at in range(len(self.seen)):
            if at in todo:
                ended = self._one(at, jobs=jobs)
                yield at, ended
                if stop and ended.outcome in ("failed", "blocked"):
                    return
            elif self.seen[at].state == PUBLISHED:
                yield at, self._skipped(at)

    def side_by_side(self, todo: Sequence[int], jobs: int) -> Generator[End]:
        """Run windows at the same time; they publish in order."""
        turns = Turns([task.id for task in self.workflow.tasks])
        for at in sorted(set(range(len(self.seen))) - set(todo)):
            if self.seen[at].state == PUBLISHED:
                yield at, self._skipped(at)
        made: Workers[End] = Workers()
        with made:
            waiting = list(enumerate(todo))
            while waiting or made.running:
                while waiting and made.running < jobs:
                    made.start(partial(self._beside, *waiting.pop(0), turns, made.look))
                yield made.ended()

    def _beside(self, place: int, at: int, turns: Turns, look: Callable[[], object]) -> End:
        """Run a window in a thread of its own."""

        def hear(move: TaskMove) -> None:
            if move.state == "ended":
                turns.ended(place, move.id)

        try:
            return at, self._one(at, hear, look=look, turn=lambda task: turns.wait(place, task, look))
        finally:
            turns.ended(place)

    def _one(
        self, at: int, hear: Callable[[TaskMove], object] | None = None, **options: Any
    ) -> BackfillWindow:
        """Run a window."""
        one = self.seen[at]

        def on_task(move: TaskMove) -> None:
            if hear is not None:
                hear(move)
            if self.on_task is not None:
                self.on_task(one.window, move)

        try:
            result = self.run(window=one.window, on_task=on_task, **options)
        except Interrupted:
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            return BackfillWindow(one.window, one.state, one.keys, "failed", text)
        upkeep = frozenset(name for name, opened in self.workflow.opened.items() if not opened.counts)
        return BackfillWindow(one.window, one.state, one.keys, outcome_of(result, upkeep), None, result)

    def _skipped(self, at: int) -> BackfillWindow:
        one = self.seen[at]
        return BackfillWindow(one.window, one.state, one.keys, "skipped")
