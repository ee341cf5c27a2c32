"""The commands that fill windows nobody will run by himself."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

from ldp_core.window import Window, iter_windows
from ldp_core.window.calendar import is_midnight, local_day
from ldp_core.window.model import instant

from ldp_orchestration.model import Workflow
from ldp_orchestration.ranges import MAX_WINDOWS


def commands(workflow: Workflow, file: str, windows: Sequence[Window], env: str | None = None) -> list[str]:
    """What to type to fill windows.

    Windows of a size take one ``ldp backfill`` from the first to the last, which skips those between them
    that are done. Others take an ``ldp workflow run`` each.

    Args:
        workflow: Whose windows they are.
        file: Its file, as it is called from where the user is.
        windows: The windows, oldest first.
        env: The environment of ``ldp.yaml``.
    """
    if not windows:
        return []
    name, more = shlex.quote(file), f" --env {shlex.quote(env)}" if env else ""
    if workflow.size is None:
        return [f"ldp workflow run {name} --window {window}{more}" for window in windows]
    first, last = windows[0].start, windows[-1].end
    count = len(list(iter_windows(first, last, workflow.size, workflow.zone)))
    if count > MAX_WINDOWS:
        more += f" --max-windows {count}"
    zone = workflow.zone
    return [f"ldp backfill {name} --from {_bound(first, zone)} --to {_bound(last, zone)}{more}"]


def _bound(moment: datetime, zone: str) -> str:
    """A bound as ``ldp backfill`` reads it: a local date where it is one, else an instant."""
    return local_day(moment, zone).isoformat() if is_midnight(moment, zone) else instant(moment)
