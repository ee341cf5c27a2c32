"""What tasks read and write: which of them meet, and in which order they have to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ldp_core.errors import LDPError
from ldp_core.spi import TableName, TaskInfo

from ldp_orchestration.graph import order, unconnected
from ldp_orchestration.model import Workflow

if TYPE_CHECKING:
    from ldp_core.window.model import Window


def infos(workflow: Workflow, window: Window | None, *, replace: bool = False) -> dict[str, TaskInfo]:
    """What each task is in a window; a task that cannot say is about nothing."""
    found = {}
    for task in workflow.tasks:
        try:
            found[task.id] = workflow.opened[task.id].info(window, replace=replace)
        except LDPError:
            found[task.id] = TaskInfo()
    return found


def meeting(workflow: Workflow, told: Mapping[str, TaskInfo]) -> Iterator[tuple[str, str, TableName]]:
    """Pairs of tasks that nothing orders and that are about one table which one of them writes.

    The first of a pair is the one that comes first when tasks run one at a time.
    """
    for first, second in unconnected({task.id: task.depends_on for task in workflow.tasks}):
        one, other = told[first], told[second]
        shared = {*one.writes} & {*other.reads, *other.writes} | {*one.reads} & {*other.writes}
        if shared:
            yield first, second, min(shared)


def apart(workflow: Workflow, window: Window | None) -> dict[str, set[str]]:
    """For each task those that have to end before it begins: what it depends on, and what it meets."""
    found = {task.id: set(task.depends_on) for task in workflow.tasks}
    for first, second, _ in meeting(workflow, infos(workflow, window)):
        found[second].add(first)
    return {name: found[name] for name in order({task.id: task.depends_on for task in workflow.tasks})}
