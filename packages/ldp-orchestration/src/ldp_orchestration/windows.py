"""What is known of windows before they run: their keys, which of them main holds, and how they ran last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ldp_core.window import Window

from ldp_orchestration.history import WindowRun, last_runs
from ldp_orchestration.model import GOOD, Workflow
from ldp_orchestration.state import window_state


@dataclass(frozen=True)
class Seen:
    """A window before it runs.

    Attributes:
        window: The window.
        state: ``published``, ``partial``, ``missing``, ``failed`` or ``blocked``.
        keys: The key of each task that has one, by the id of the task.
        last: Its last run in the ledger; None where it has none, or where nobody had to look.
    """

    window: Window
    state: str
    keys: Mapping[str, str] = field(default_factory=dict)
    last: WindowRun | None = None


def look_at(
    workflow: Workflow, windows: Sequence[Window], *, replace: bool = False, keys: bool = True
) -> list[Seen]:
    """The state of each window. One look at the metadata of each table, and at the ledger; creates nothing.

    Args:
        workflow: Without errors.
        windows: The windows.
        replace: Whether they are to be replaced: published is then what was replaced.
        keys: Whether somebody wants to see their keys.

    Raises:
        LDPError: A table cannot be asked.
    """
    counting = [(task.id, workflow.opened[task.id]) for task in workflow.tasks]
    counting = [(name, opened) for name, opened in counting if opened.counts]
    done = [opened.done(windows, replace=replace) for _, opened in counting if opened.vouched]
    by_window = [[one[at] for one in done] for at in range(len(windows))]
    unvouched = any(not opened.vouched for _, opened in counting)
    all_there = bool(done) and not unvouched and all(map(all, by_window))
    last = {} if all_there else last_runs(workflow)
    shown = _keys(workflow, windows, replace) if keys else [{} for _ in windows]
    found = []
    for window, keyed, own in zip(windows, by_window, shown, strict=True):
        run = last.get(window)
        every = run is not None and all(
            name in run.tasks and run.tasks[name].status in GOOD for name, _ in counting
        )
        state = window_state(keyed, unvouched, run.status if run else None, every)
        found.append(Seen(window, state, own, run))
    return found


def _keys(workflow: Workflow, windows: Sequence[Window], replace: bool) -> list[dict[str, str]]:
    """The keys of each window."""
    found: list[dict[str, str]] = [{} for _ in windows]
    for task in workflow.tasks:
        opened = workflow.opened[task.id]
        for own, key in zip(
            found, opened.keys(windows, replace=replace) if opened.vouched else (), strict=False
        ):
            own[task.id] = key
    return found
