"""Whether the windows of a workflow may run side by side."""

from __future__ import annotations

from collections import Counter

from ldp_core.window import Window

from ldp_orchestration.links import infos
from ldp_orchestration.model import Workflow


def obstacle(workflow: Workflow, window: Window, *, replace: bool = False) -> str | None:
    """Why windows have to run one at a time; None where they may run side by side.

    Args:
        workflow: The workflow.
        window: One of them.
        replace: Whether they are to be replaced.
    """
    for task in workflow.tasks:
        if not workflow.opened[task.id].side_by_side:
            return (
                f"task {task.id!r} may not run for several windows at once: only an append, or an "
                "overwrite with window.column, into a table may"
            )
    told = infos(workflow, window, replace=replace)
    writes = Counter(table for info in told.values() for table in set(info.writes))
    for table, count in sorted(writes.items()):
        if count > 1:
            return f"several tasks write {table.name}"
    for name, info in told.items():
        for table in sorted(writes.keys() & set(info.reads)):
            return f"task {name!r} reads {table.name}, which a task of the workflow writes"
    return None
