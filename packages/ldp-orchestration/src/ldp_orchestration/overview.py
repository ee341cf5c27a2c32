"""How every workflow and table under a folder is: what ran last, how late it is, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.events.fold import RunState
from ldp_core.window.model import instant

from ldp_orchestration.discovery import Found, Invalid, discover
from ldp_orchestration.history import WindowRun, newest_run
from ldp_orchestration.latest import Name, last_states
from ldp_orchestration.links import infos
from ldp_orchestration.model import BLOCKED, Sla, Workflow
from ldp_orchestration.ranges import MAX_WINDOWS
from ldp_orchestration.schedule.listing import Scheduled, scheduled
from ldp_orchestration.schedule.looking import last_window
from ldp_orchestration.schedule.moment import Moment
from ldp_orchestration.schedule.ticked import problem_dict
from ldp_orchestration.unscheduled import named_by, unscheduled

OK = "ok"
LATE = "late"
BREACH = "breach"


@dataclass(frozen=True)
class TableStatus:
    """A table, or what else a task is about.

    Attributes:
        task: The task.
        target: The table or the file; None where the task does not say.
        last: The last run of the task; None where the ledger has none.
        state: How it ended in the last run of the workflow, of a task whose own runs nobody records.
    """

    task: str
    target: str | None = None
    last: RunState | None = None
    state: str | None = None

    @property
    def status(self) -> str | None:
        """How it ran last; None where it never did."""
        return self.last.status if self.last else self.state

    @property
    def quality(self) -> str | None:
        """``passed``, ``failed`` or ``blocked``; None where nothing was checked."""
        if self.status == BLOCKED:
            return "blocked"
        if self.last is None or not self.last.checks:
            return None
        return "failed" if self.last.checks_failed else "passed"

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        last = self.last
        names = (
            "run_id",
            "attempt",
            "status",
            "started",
            "finished",
            "rows_written",
            "checks",
            "checks_failed",
        )
        told = {name: getattr(last, name) if last else None for name in names}
        own = {"task": self.task, "target": self.target}
        return {**own, **told, "status": self.status, "quality": self.quality}


@dataclass(frozen=True)
class WorkflowStatus:
    """A workflow file or a dataset config.

    Attributes:
        file: From the folder.
        workflow: The identifier.
        kind: ``Workflow`` or ``Pipeline``.
        plan: Its schedule, what is due and what was missed; None where nothing schedules it.
        run: The run that began last, of whatever window.
        last_window: The last window that the ledger holds.
        last_status: How that ran last.
        tables: What its tasks are about.
        lateness: How long ago the fire was whose window is the first that is missing; None: nothing is late.
        sla: How late it may be.
        trouble: Why its ledger tells nothing, where it cannot be read.
    """

    file: str
    workflow: str
    kind: str
    plan: Scheduled | None = None
    run: WindowRun | None = None
    last_window: str | None = None
    last_status: str | None = None
    tables: tuple[TableStatus, ...] = ()
    lateness: timedelta | None = None
    sla: Sla | None = None
    trouble: str | None = None

    @property
    def error(self) -> str | None:
        """Why nobody can tell how it is; None where somebody can."""
        return self.trouble or (self.plan.error if self.plan else None)

    @property
    def sla_status(self) -> str | None:
        """``ok``, ``late`` (than ``warn_after``) or ``breach`` (of ``error_after``); None without one."""
        if self.sla is None or self.plan is None or self.error is not None:
            return None
        late = self.lateness.total_seconds() if self.lateness else 0.0
        if self.sla.error_after is not None and late > self.sla.error_after:
            return BREACH
        return LATE if self.sla.warn_after is not None and late > self.sla.warn_after else OK

    @property
    def quality(self) -> str | None:
        """The worst verdict of the last runs of its tasks; None where nothing was checked."""
        found = {table.quality for table in self.tables}
        return next((verdict for verdict in ("blocked", "failed", "passed") if verdict in found), None)

    @property
    def finished(self) -> datetime | None:
        """When something of it ended last."""
        ends = [datetime.fromisoformat(t.last.finished) for t in self.tables if t.last and t.last.finished]
        ends += [self.run.finished] if self.run and self.run.finished else []
        return max(ends, default=None)

    @property
    def status(self) -> str | None:
        """How the run ended that began last; of a config that ran by itself since, how that did."""
        last = self.tables[0].last if len(self.tables) == 1 else None
        alone = last is not None and last.workflow is None
        if self.run is None or alone:
            return last.status if last else None
        return self.run.status

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        run = self.run
        plan = {} if self.plan is None else self.plan.to_dict()
        names = ("schedule", "timezone", "next_fire", "next_fire_local", "late", "late_since")
        lists = ("due", "waiting", "blocked", "missed", "commands")
        return {
            "file": self.file,
            "workflow": self.workflow,
            "kind": self.kind,
            "status": self.status,
            "last_run": None
            if run is None
            else {
                "run_id": run.run_id,
                "attempt": run.attempt,
                "status": run.status,
                "started": instant(run.started) if run.started else None,
                "finished": instant(run.finished) if run.finished else None,
            },
            "last_window": self.last_window,
            "last_status": self.last_status,
            **{name: plan.get(name) for name in names},
            "error": self.error,
            **{name: plan.get(name, []) for name in lists},
            "missed_in_all": plan.get("missed_in_all", 0),
            "lateness_s": self.lateness.total_seconds() if self.lateness else 0.0 if self.plan else None,
            "sla": None
            if self.sla is None
            else {"warn_after_s": self.sla.warn_after, "error_after_s": self.sla.error_after},
            "sla_status": self.sla_status,
            "quality": self.quality,
            "tables": [table.to_dict() for table in self.tables],
        }


@dataclass(frozen=True)
class Status:
    """How everything under a folder is.

    Attributes:
        now: The moment that it is about.
        workflows: By file; those that are scheduled first.
        problems: The scheduled files that are not valid.
    """

    now: datetime
    workflows: tuple[WorkflowStatus, ...] = ()
    problems: tuple[Invalid, ...] = field(default=())

    @property
    def exit_code(self) -> int:
        """2 on a breach of ``error_after``; else 1 when a file is not valid or cannot be judged; else 0."""
        if any(one.sla_status == BREACH for one in self.workflows):
            return 2
        stuck = any(one.error for one in self.workflows)
        return 1 if self.problems or stuck else 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "now": instant(self.now),
            "exit_code": self.exit_code,
            "workflows": [one.to_dict() for one in self.workflows],
            "problems": [problem_dict(one) for one in self.problems],
        }


def status(
    folder: str | Path = ".",
    *,
    now: datetime | str | None = None,
    env: str | None = None,
    clock: Clock = system_clock,
) -> Status:
    """How every workflow and table under a folder is. Takes no lock and writes nothing.

    Files that nothing schedules are there when they have a window, or their ledger tells of a run.

    Args:
        folder: Where the files are.
        now: The moment that it is about, in UTC; the present one by default.
        env: The environment of ``ldp.yaml``.
        clock: The time.

    Raises:
        ConfigError: There is no such folder, or ``now`` is no time.
    """
    root, at = Path(folder), Moment.of(now, clock)
    found = discover(root, env)
    known = [*(one.file for one in found.found), *(one.file for one in found.problems)]
    others = unscheduled(root, known, env)
    named = set(named_by(one.workflow for one in (*found.found, *others)))
    others = [one for one in others if one.path.resolve() not in named]
    told = [_planned(one, root, at, env) for one in found.found] + [_told(one) for one in others]
    files = [*found.found, *others]
    with_tables = _with_tables(files, told)
    return Status(
        at.now,
        tuple(one for one, file in zip(with_tables, files, strict=True) if _speaks(one, file.workflow)),
        found.problems,
    )


def _planned(found: Found, root: Path, at: Moment, env: str | None) -> WorkflowStatus:
    plan = scheduled(found, root, at, MAX_WINDOWS, env)
    late = None if plan.late_since is None else at.now - plan.late_since
    return replace(_told(found), plan=plan, lateness=late, sla=found.workflow.sla)


def _told(found: Found) -> WorkflowStatus:
    """What the ledger tells of a file."""
    workflow = found.workflow
    try:
        last, run = last_window(workflow), newest_run(workflow)
    except OSError as error:
        why = f"the ledger {workflow.ledger} cannot be read: {error.strerror or error}"
        return WorkflowStatus(found.file, workflow.identifier, found.kind, trouble=why)
    return WorkflowStatus(
        found.file,
        workflow.identifier,
        found.kind,
        run=run,
        last_window=str(last[0]) if last else None,
        last_status=last[1].status if last else None,
    )


def _with_tables(files: Sequence[Found], told: Sequence[WorkflowStatus]) -> list[WorkflowStatus]:
    """The last run of every task; each ledger is read once."""
    wanted: dict[Path, dict[Name, tuple[int, str]]] = {}
    for place, (file, one) in enumerate(zip(files, told, strict=True)):
        workflow = file.workflow
        if one.trouble is not None:
            continue
        names = wanted.setdefault(workflow.ledger, {})
        for task in workflow.tasks:
            if one.run is not None:
                names[workflow.identifier, task.id] = (place, task.id)
            if workflow.kind == "Pipeline":
                names[None, workflow.identifier] = (place, task.id)
    states: dict[tuple[int, str], RunState] = {}
    for ledger, names in wanted.items():
        states |= last_states(ledger, names)
    found = []
    for place, (file, one) in enumerate(zip(files, told, strict=True)):
        about = infos(file.workflow, None)
        tables = tuple(
            TableStatus(task.id, about[task.id].target, states.get((place, task.id)), _state(one, task.id))
            for task in file.workflow.tasks
        )
        found.append(replace(one, tables=tables))
    return found


def _state(one: WorkflowStatus, task: str) -> str | None:
    ran = one.run.tasks.get(task) if one.run else None
    return ran.status if ran else None


def _speaks(one: WorkflowStatus, workflow: Workflow) -> bool:
    """Whether there is something to tell of a file."""
    ran = one.run is not None or any(table.last for table in one.tables)
    return one.plan is not None or workflow.size is not None or ran or one.trouble is not None
