"""What is due in a workflow: one way to see it for the tick that runs it and for those that only tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from ldp_core.window import Window

from ldp_orchestration.due import due, missed
from ldp_orchestration.fires import next_fire
from ldp_orchestration.history import WindowRun, last_runs
from ldp_orchestration.model import SUCCEEDED, Workflow
from ldp_orchestration.schedule.moment import Moment, waits_until
from ldp_orchestration.state import PUBLISHED
from ldp_orchestration.windows import Seen, look_at

_SAMPLE = 20
"""How many runs tell how long one takes."""


@dataclass(frozen=True)
class Due:
    """A window that a tick looks at.

    Attributes:
        seen: Its state before.
        next_try: Until when the tick leaves it alone, because it keeps failing.
    """

    seen: Seen
    next_try: datetime | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return self.seen.state == PUBLISHED


def looked_at(workflow: Workflow, at: Moment, *, force: bool = False, keys: bool = True) -> list[Due]:
    """The windows that a tick looks at, oldest first.

    Args:
        workflow: A scheduled one without errors.
        at: The moment.
        force: Whether no window is left alone.
        keys: Whether somebody wants to see the keys of the windows.

    Raises:
        LDPError: Nobody can tell which windows there are, or what is published.
    """
    assert workflow.schedule is not None
    windows = due(workflow.schedule, workflow.zone, workflow.size, workflow.catchup, workflow.start, at.now)
    return [
        Due(seen, None if force else waits_until(workflow, seen.window, seen.last, at))
        if seen.state != PUBLISHED
        else Due(seen)
        for seen in look_at(workflow, windows, keys=keys)
    ]


def passed_over(workflow: Workflow, at: Moment) -> list[Seen]:
    """The windows that fires own and that no tick will run, done or not, oldest first.

    Raises:
        LDPError: Nobody can tell which windows there are, or what is published.
    """
    assert workflow.schedule is not None
    if workflow.catchup:
        return []
    since = None
    if workflow.start is None:
        since = min((window.start for window in last_runs(workflow)), default=None)
    found = missed(workflow.schedule, workflow.zone, workflow.size, False, workflow.start, since, at.now)
    return look_at(workflow, found, keys=False)


def late_window(over: Sequence[Seen], looked: Sequence[Due]) -> Window | None:
    """The first window that is not done after the last one that is; None where the latest is done."""
    late = None
    for seen in reversed([*over, *(one.seen for one in looked)]):
        if seen.state == PUBLISHED:
            break
        late = seen.window
    return late


def fire_of(workflow: Workflow, window: Window) -> datetime:
    """The first fire that owns a window."""
    assert workflow.schedule is not None
    return next_fire(workflow.schedule, workflow.zone, window.end - timedelta(seconds=1))


def last_window(workflow: Workflow) -> tuple[Window, WindowRun] | None:
    """The last window that the ledger holds, and how it ran last."""
    runs = last_runs(workflow)
    if not runs:
        return None
    window = max(runs, key=lambda one: (one.start, one.end))
    return window, runs[window]


def usual_length(runs: Sequence[WindowRun]) -> timedelta | None:
    """How long a run that succeeds takes, by the last ones of a ledger."""
    took = sorted(
        (run.finished, (run.finished - run.started).total_seconds())
        for run in runs
        if run.status == SUCCEEDED and run.finished is not None and run.started is not None
    )
    return timedelta(seconds=median(length for _, length in took[-_SAMPLE:])) if took else None
