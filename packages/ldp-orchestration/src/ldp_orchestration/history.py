"""The last run of each window of a workflow, as the ledger beside its file tells."""

from __future__ import annotations

import re
import threading
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.events import model
from ldp_core.events.follow import Follower
from ldp_core.events.jsonl import parsed
from ldp_core.window import Window, parse_window

from ldp_orchestration.model import BLOCKED, FAILED, NOT_RUN, SUCCEEDED, Workflow

UNFINISHED = "unfinished"
INCOMPLETE = "incomplete"
RUNNING = "running"
"""The status of a task that began and whose end nobody recorded."""

_ENDS = {SUCCEEDED: SUCCEEDED, BLOCKED: "blocked", FAILED: FAILED}
"""How a run of a window ended, by the status in its last event."""
_KEPT = re.compile(rb'"type": ?"(workflow|run\.started|run\.finished)')
_HEAD = re.compile(
    rb'\{"event_id":"[^"]*","type":"workflow\.(started|finished)","schema_version":\d+,"ts":"([^"]*)",'
    rb'"run_id":"([^"\\]*)","attempt":(\d+),"seq":\d+,"table_uuid":null,"payload":\{"workflow":"([^"]*)",'
    rb'"window":\{"start":"([^"]*)","end":"([^"]*)"\}(?:,"(?:status|file)":"([^"]*)")?'
)
"""How a line begins that this version wrote; any other is read as JSON."""
_TYPE_ENDS = 120
"""Bytes of a line within which its type stands."""


@dataclass(frozen=True)
class TaskRun:
    """What the ledger tells of a task of a run.

    Attributes:
        run_id: The run of the task.
        attempt: The highest attempt of it; of a task that did not begin, the one that it was to begin with.
        status: As a task of a run of a workflow ends; ``running`` where nobody recorded the end.
    """

    run_id: str
    attempt: int
    status: str


@dataclass(frozen=True)
class WindowRun:
    """The last run of a window.

    Attributes:
        run_id: The run of the workflow.
        attempt: Its highest attempt.
        status: ``succeeded``, ``failed``, ``blocked``, ``incomplete`` (it stopped before every task ran) or
            ``unfinished`` (nobody recorded its end).
        tasks: Its tasks by id.
        started: When it began.
        finished: When it ended; None while it runs, or where it was killed.
        failures: How many runs of the window failed one after the other up to now. A run that was cut short
            neither counts nor ends the row; one that succeeded, or that a gate blocked, ends it.
        tick: What a tick told when it began: ``now``, ``inputs``; empty for a run that no tick began.
    """

    run_id: str
    attempt: int
    status: str
    tasks: Mapping[str, TaskRun] = field(default_factory=dict)
    started: datetime | None = None
    finished: datetime | None = None
    failures: int = 0
    tick: Mapping[str, Any] = field(default_factory=dict)


def last_runs(workflow: Workflow) -> Mapping[Window, WindowRun]:
    """The last run of every window that the ledger tells of, in the order in which windows ran first.

    A ledger that was read before is read on from where it ended then.
    """
    runs = runs_in(workflow.ledger)
    own = runs.get(_name(workflow.identifier, workflow.path.name), {})
    nameless = runs.get(_name(workflow.identifier), {})
    return ChainMap(dict(own), dict(nameless)) if own and nameless else own or nameless


def newest_run(workflow: Workflow) -> WindowRun | None:
    """The run that began last, of whatever window."""
    every = runs_in(workflow.ledger)
    names = (_name(workflow.identifier, workflow.path.name), _name(workflow.identifier))
    runs = next((found for name in names if (found := every.get(name))), None)
    if not isinstance(runs, _Runs):
        return None
    return runs[max(runs, key=lambda window: runs.windows[window][-1].started or "")]


def runs_in(ledger: Path) -> Mapping[str, Mapping[Window, WindowRun]]:
    """The last run of every window of every workflow that a ledger tells of.

    A workflow is known by its identifier and its file: two files of one folder may have one identifier.
    """
    with _lock:
        known = _known.pop(ledger, None) or _History(ledger)
        _known[ledger] = known  # the one that was asked for last stands last
        while len(_known) > _MOST:
            _known.pop(next(iter(_known)))
        return known.runs()


class _Runs(Mapping[Window, WindowRun]):
    """The last runs of the windows of a workflow; what one was is put together when it is asked for."""

    def __init__(self) -> None:
        self.windows: dict[Window, list[_Run]] = {}
        self.made: dict[Window, WindowRun] = {}

    def __getitem__(self, window: Window) -> WindowRun:
        found = self.made.get(window)
        if found is None:
            found = self.made[window] = _told(self.windows[window])
        return found

    def __iter__(self) -> Iterator[Window]:
        return iter(list(self.windows))

    def __len__(self) -> int:
        return len(self.windows)


_MOST = 64
"""Ledgers that are kept in memory."""
_known: dict[Path, _History] = {}
_lock = threading.Lock()


@dataclass
class _Run:
    """A run of a workflow for a window, while events tell of it.

    Lines whose head was enough to know how it ended are kept, and read when somebody asks for its tasks.
    """

    run_id: str
    attempt: int
    started: str | None
    status: str = UNFINISHED
    finished: str | None = None
    known: dict[str, TaskRun] = field(default_factory=dict)
    tick: Mapping[str, Any] = field(default_factory=dict)
    unread: list[bytes] = field(default_factory=list)

    @property
    def tasks(self) -> dict[str, TaskRun]:
        """Its tasks, as far as events told of them."""
        lines, self.unread = self.unread, []
        for event in filter(None, map(parsed, lines)):
            self.take(event["type"], event.get("payload") or {})
        return self.known

    def take(self, type: str, payload: Mapping[str, Any]) -> None:
        """What the begin or the end of the run tells of its tasks."""
        self.known.update(_tasks(payload))
        if type == model.WORKFLOW_STARTED:
            told = payload.get("tick")
            self.tick = told if isinstance(told, Mapping) else {}
            return
        for task, status in _statuses(payload):
            if task in self.known:  # one that did not run
                self.known[task] = replace(self.known[task], status=status)


Key = tuple[str, int]
"""A run and its attempt."""


def _name(identifier: str, file: str | None = None) -> str:
    """What a ledger knows a workflow by; the file is None where the begin of a run does not tell it."""
    return f"{identifier}\n{file}" if file else identifier


class _History:
    """Folds a ledger, event by event.

    What the events of tasks tell is needed only of runs that did not finish, so their lines are put by and
    read when no end of the run turned up.
    """

    def __init__(self, ledger: Path) -> None:
        self._follower = Follower(ledger, _is_kept)
        self._clear()

    def _clear(self) -> None:
        self._windows: dict[str, _Runs] = {}
        self._names: dict[str, dict[str, None]] = {}
        self._open: dict[tuple[str, *Key], tuple[str, Window, _Run]] = {}
        self._put_by: list[bytes] = []
        self._tasks: dict[Key, tuple[str, Window, str, _Run]] = {}
        self._changed: dict[tuple[str, Window], None] = {}

    def runs(self) -> Mapping[str, Mapping[Window, WindowRun]]:
        """All that the ledger tells by now."""
        anew, lines = self._follower.lines()
        if anew:
            self._clear()
        for line in lines:
            if b'"workflow.' not in line[:_TYPE_ENDS]:
                self._put_by.append(line)
                continue
            if self._took(line):
                continue
            event = parsed(line)
            if event is not None:
                self._take(event)
        self._read_tasks()
        for name, window in self._changed:
            runs = self._windows[name]
            runs.made.pop(window, None)
            own = runs.windows[window]
            if own[-1].status in (SUCCEEDED, "blocked"):  # no count needs those before
                del own[:-1]
        self._changed.clear()
        return self._windows

    def _took(self, line: bytes) -> bool:
        """Take an event by the head of its line, which is all that most of them are needed for."""
        head = _HEAD.match(line)
        if head is None or not line.rstrip().endswith(b"}}") or b"\\" in head[5] + (head[8] or b""):
            return False
        type, ts, run_id, attempt, name, start, end = (head[part].decode() for part in range(1, 8))
        said = head[8].decode() if head[8] else ""  # the file at the begin, the status at the end
        window = _of_bounds(start, end)
        if window is None:
            return True
        key = (run_id, int(attempt))
        if type == "started":
            run = self._began(name, said, window, key, ts)
        else:
            cut = NOT_RUN.encode() in line
            run = self._ended(name, key, ts, INCOMPLETE if cut else _ENDS.get(said, INCOMPLETE))
        if run is not None:
            run.unread.append(line)
        return True

    def _take(self, event: Mapping[str, Any]) -> None:
        payload = event.get("payload") or {}
        name, window = str(payload.get("workflow")), _window(payload)
        run = None
        if event["type"] == model.WORKFLOW_STARTED and window is not None:
            file = payload.get("file")
            run = self._began(
                name, file if isinstance(file, str) else "", window, _key(event), event.get("ts")
            )
        elif event["type"] == model.WORKFLOW_FINISHED:
            run = self._ended(name, _key(event), event.get("ts"), _status(payload))
        if run is not None:
            _ = run.tasks  # what was told before comes first
            run.take(event["type"], payload)

    def _began(self, identifier: str, file: str, window: Window, key: Key, ts: str | None) -> _Run | None:
        if (identifier, *key) in self._open:
            return None
        name = _name(identifier, file)
        self._names.setdefault(identifier, {})[name] = None
        runs = self._windows.setdefault(name, _Runs()).windows.setdefault(window, [])
        if runs and runs[-1].finished is None:
            self._read_tasks()
            self._open.pop((identifier, runs[-1].run_id, runs[-1].attempt), None)
        run = _Run(*key, ts)
        self._open[(identifier, *key)] = (name, window, run)
        runs.append(run)
        self._changed[name, window] = None
        return run

    def _ended(self, identifier: str, key: Key, ts: str | None, status: str) -> _Run | None:
        found = self._open.pop((identifier, *key), None)
        if found is None:
            return None
        name, window, run = found
        run.finished, run.status = ts, status
        self._changed[name, window] = None
        if not self._open:
            self._put_by.clear()
            self._tasks.clear()
        return run

    def _read_tasks(self) -> None:
        """Read the events of tasks that were put by, for the runs that are open still."""
        lines, self._put_by = self._put_by, []
        for event in filter(None, map(parsed, lines if self._open else ())):
            payload = event.get("payload") or {}
            if event["type"] == model.RUN_STARTED:
                self._task_started(event, payload)
            else:
                self._task_finished(event, payload)

    def _task_started(self, event: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        window, task = _window(payload), payload.get("task")
        if window is None or not isinstance(task, str):
            return
        open_ = [
            (name, runs[-1])
            for name in self._names.get(str(payload.get("workflow")), ())
            if (runs := self._windows[name].windows.get(window)) and runs[-1].finished is None
        ]
        # Of two workflows of one identifier, the one that said it would begin this run of the task.
        said = [one for one in open_ if (t := one[1].tasks.get(task)) and t.run_id == event.get("run_id")]
        for name, run in (said or open_)[:1]:
            run.tasks[task] = TaskRun(*_key(event), RUNNING)
            self._changed[name, window] = None
            self._tasks[_key(event)] = (name, window, task, run)

    def _task_finished(self, event: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        found = self._tasks.pop(_key(event), None)
        if found is not None:
            name, window, task, run = found
            run.tasks[task] = TaskRun(*_key(event), str(payload.get("status")))
            self._changed[name, window] = None


def _told(runs: list[_Run]) -> WindowRun:
    """The last of the runs of a window, and how many of them failed one after the other."""
    last = runs[-1]
    failures = 0
    for run in reversed(runs):
        if run.status in (SUCCEEDED, "blocked"):
            break
        failures += run.status == FAILED
    tasks = dict(last.tasks)
    return WindowRun(
        last.run_id,
        last.attempt,
        last.status,
        tasks,
        _moment(last.started),
        _moment(last.finished),
        failures,
        last.tick,
    )


def _is_kept(line: bytes) -> bool:
    return _KEPT.search(line, 0, _TYPE_ENDS) is not None


def _key(event: Mapping[str, Any]) -> Key:
    return str(event.get("run_id")), int(event.get("attempt") or 1)


def _window(payload: Mapping[str, Any]) -> Window | None:
    bounds = payload.get("window")
    if not isinstance(bounds, Mapping):
        return None
    return _of_bounds(str(bounds.get("start")), str(bounds.get("end")))


@lru_cache(maxsize=4096)
def _of_bounds(start: str, end: str) -> Window | None:
    try:
        return parse_window((start, end))
    except ConfigError:
        return None


def _tasks(payload: Mapping[str, Any]) -> Iterator[tuple[str, TaskRun]]:
    """The tasks that an event of a workflow names with their runs."""
    for told in payload.get("tasks") or ():
        if isinstance(told, Mapping) and told.get("run_id"):
            run = TaskRun(
                str(told["run_id"]), int(told.get("attempt") or 1), str(told.get("status") or NOT_RUN)
            )
            yield str(told.get("id")), run


def _statuses(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How the tasks ended of which an event of a workflow tells that."""
    for told in payload.get("tasks") or ():
        if isinstance(told, Mapping) and told.get("status"):
            yield str(told.get("id")), str(told["status"])


def _status(payload: Mapping[str, Any]) -> str:
    told = [task.get("status") for task in payload.get("tasks") or () if isinstance(task, Mapping)]
    if NOT_RUN in told:
        return INCOMPLETE
    return _ENDS.get(str(payload.get("status")), INCOMPLETE)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
