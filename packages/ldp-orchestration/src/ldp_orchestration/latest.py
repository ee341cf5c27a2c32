"""The last run of each of many configs and tasks, as the ledger beside them tells, read from its end.

A run that found its work done tells nothing of a table: the one before it does, as long as there is one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldp_core.events.fold import RunState, fold_runs
from ldp_core.events.jsonl import lines_back, parsed
from ldp_core.events.model import RUN_FINISHED, RUN_STARTED

from ldp_orchestration.model import SKIPPED

Name = tuple[str | None, str]
"""A workflow and a task of it, or None and a config that ran without one."""

_MOST_LINES = 300_000
"""So far back is looked for what ran last."""
_STRING = rb'"((?:[^"\\]|\\.)*)"'
_TASK = re.compile(rb'"workflow": ?' + _STRING + rb', ?"task": ?' + _STRING + rb"\}\}\s*$")
_CONFIG = re.compile(rb'"type": ?"run\..{1,400}?"payload": ?\{"pipeline": ?' + _STRING)


def last_states(ledger: Path, wanted: Mapping[Name, Any]) -> dict[Any, RunState]:
    """The last run of each of some configs and tasks.

    Args:
        ledger: The file of the events.
        wanted: What is looked for, and what it stands for; of several that stand for the same, the one that
            ran last counts.

    Returns:
        By what it stands for; what never ran is not there.
    """
    missing = set(wanted.values())
    by_name = {_bytes(name): (name, thing) for name, thing in wanted.items()}
    events: dict[tuple[Any, str, int], list[Mapping[str, Any]]] = {}
    chosen: dict[Any, tuple[Any, str, int]] = {}
    idle: dict[Any, dict[tuple[Any, str, int], None]] = {}
    for count, line in enumerate(lines_back(ledger)):
        if not missing or count > _MOST_LINES:
            break
        told = _of_line(line)
        found = by_name.get(told) if told else None
        event = parsed(line) if found and found[1] in missing else None
        if event is None or found is None:
            continue
        thing = found[1]
        key = (found[0], str(event.get("run_id")), int(event.get("attempt") or 1))
        if event["type"] == RUN_FINISHED and (event.get("payload") or {}).get("status") == SKIPPED:
            idle.setdefault(thing, {})[key] = None
        if key in idle.get(thing, ()):
            events.setdefault(key, []).append(event)
            continue
        if chosen.setdefault(thing, key) != key:
            continue
        events.setdefault(key, []).append(event)
        if event["type"] == RUN_STARTED:
            missing.discard(thing)
    states = {}
    for thing, key in {**{thing: next(iter(keys)) for thing, keys in idle.items()}, **chosen}.items():
        folded = fold_runs(reversed(events[key]))
        if folded:
            states[thing] = folded[0]
    return states


def _of_line(line: bytes) -> tuple[bytes | None, bytes] | None:
    at = line.rfind(b'"workflow":')
    if at >= 0:
        found = _TASK.match(line, at)
        return (found[1], found[2]) if found else None
    found = _CONFIG.search(line)
    return (None, found[1]) if found else None


def _bytes(name: Name) -> tuple[bytes | None, bytes]:
    workflow, task = (
        None if part is None else json.dumps(part, ensure_ascii=False)[1:-1].encode() for part in name
    )
    assert task is not None
    return workflow, task
