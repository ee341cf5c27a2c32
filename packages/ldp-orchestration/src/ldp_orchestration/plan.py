"""What ``ldp workflow plan`` says: every problem of a workflow, or its tasks in the order they run in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.spi import TaskInfo
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window

from ldp_orchestration.graph import order
from ldp_orchestration.links import meeting
from ldp_orchestration.load import load_workflow, workflow_problems
from ldp_orchestration.model import Workflow


@dataclass(frozen=True)
class WorkflowPlan:
    """A workflow explained.

    Attributes:
        file: The file as the user named it.
        problems: Every finding about the file and the configs that it names.
        workflow: The workflow; None where its structure is wrong.
        window: The window.
        infos: What each task is in the window; empty where something is wrong.
        warnings: Lines that the user should know before it runs.
    """

    file: str
    problems: tuple[Problem, ...]
    workflow: Workflow | None = None
    window: Window | None = None
    infos: dict[str, TaskInfo] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def errors(self) -> list[Problem]:
        """What keeps it from running."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def valid(self) -> bool:
        """Whether ``run`` would start."""
        return not self.errors

    @property
    def order(self) -> list[str]:
        """The tasks as they run one at a time; none where the structure is wrong."""
        tasks = self.workflow.tasks if self.workflow else ()
        return order({task.id: task.depends_on for task in tasks})

    @property
    def notes(self) -> list[str]:
        """Lines that explain."""
        told = [f"task {name!r}: {note}" for name, info in self.infos.items() for note in info.notes]
        return list(dict.fromkeys(told))

    def to_dict(self) -> dict[str, Any]:
        """As JSON; ``errors`` are texts, ``problems`` objects."""
        found = self.workflow
        return {
            "file": self.file,
            "workflow": found.identifier if found else None,
            "kind": found.kind if found else None,
            "valid": self.valid,
            "errors": [str(problem) for problem in self.errors],
            "problems": [problem.to_dict() for problem in self.problems],
            "warnings": list(self.warnings),
            "notes": self.notes,
            "window": str(self.window) if self.window else None,
            "schedule": found.schedule if found else None,
            "timezone": found.zone if found else None,
            "window_size": found.size if found else None,
            "order": self.order,
            "tasks": [self._task(name) for name in self.order],
        }

    def _task(self, name: str) -> dict[str, Any]:
        assert self.workflow is not None
        task = next(task for task in self.workflow.tasks if task.id == name)
        info, retries = self.infos.get(name, TaskInfo()), self.workflow.retries[name]
        return {
            "id": name,
            "kind": task.kind,
            "depends_on": list(task.depends_on),
            "target": info.target,
            "idempotency_key": info.idempotency_key,
            "source_path": info.source_path,
            "reads": [table.name for table in info.reads],
            "writes": [table.name for table in info.writes],
            "max_attempts": retries.max_attempts,
        }

    def lines(self) -> list[str]:
        """For a person."""
        if not self.valid or self.workflow is None:
            count = len(self.errors)
            head = f"{self.file}: {count} {'problem' if count == 1 else 'problems'}:"
            return [head, *(f"  - {problem}" for problem in self.errors)]
        pairs = [("workflow", self.workflow.identifier), *self._when()]
        lines = [f"{label:<10}{text}" for label, text in pairs]
        for at, name in enumerate(self.order):
            lines += [f"{'tasks' if not at else '':<10}{at + 1}. {line}" for line in self._about(name)[:1]]
            lines += [f"{'':<13}{line}" for line in self._about(name)[1:]]
        lines += [f"warning: {text}" for text in self.warnings]
        return lines + [f"note: {text}" for text in self.notes]

    def _when(self) -> list[tuple[str, str]]:
        assert self.workflow is not None
        found = self.workflow
        pairs = [("schedule", f"{found.schedule}, {found.zone}" if found.schedule else None)]
        pairs.append(("window", str(self.window) if self.window else None))
        return [(label, text) for label, text in pairs if text]

    def _about(self, name: str) -> list[str]:
        """The lines of one task."""
        told = self._task(name)
        after = f", after {', '.join(told['depends_on'])}" if told["depends_on"] else ""
        target = f" {'to' if told['writes'] else 'on'} {told['target']}" if told["target"] else ""
        lines = [f"{name}: {told['kind']}{target}{after}"]
        labels = (("idempotency_key", "key"), ("source_path", "source"))
        return lines + [f"{label} {told[key]}" for key, label in labels if told[key]]


def plan_workflow(
    path: str | Path | Workflow, window: Any = None, env: str | None = None, *, clock: Clock = system_clock
) -> WorkflowPlan:
    """Check a workflow and every config that it names, and tell the order of its tasks. Writes nothing.

    Args:
        path: The workflow file or dataset config, or a workflow.
        window: The window whose keys and paths are shown, as ``run_workflow`` takes it.
        env: The environment of ``ldp.yaml``.
        clock: The time, which ``yesterday`` is counted from.
    """
    try:
        workflow = path if isinstance(path, Workflow) else load_workflow(path, env)
    except ConfigError as error:
        return WorkflowPlan(str(path), _problems(error))
    found = workflow_problems(workflow)
    asked = None
    try:
        asked = None if window is None else parse_window(window, workflow.zone, clock())
    except ConfigError as error:
        found += _problems(error)
    told: dict[str, TaskInfo] = {}
    if not any(problem.severity == "error" for problem in found):
        for task in workflow.tasks:
            try:
                told[task.id] = workflow.opened[task.id].info(asked)
            except LDPError as error:
                found += _problems(error, task.key, workflow.name)
    warnings = [
        f"task {name!r}: {text}"
        for name in order({task.id: task.depends_on for task in workflow.tasks})
        for text in (told[name].warnings if name in told else ())
    ]
    warnings += [str(problem) for problem in found if problem.severity == "warning"]
    if len(told) == len(workflow.tasks):
        warnings += [*_unordered(workflow, told), *_alike(workflow)]
    return WorkflowPlan(workflow.name, tuple(found), workflow, asked, told, tuple(dict.fromkeys(warnings)))


def _unordered(workflow: Workflow, told: dict[str, TaskInfo]) -> list[str]:
    """Tasks that read what another one writes, though nothing says which of them comes first."""
    lines = []
    for first, second, table in meeting(workflow, told):
        if table in told[first].writes and table in told[second].writes:
            continue
        reader, writer = (first, second) if table in told[first].reads else (second, first)
        what = f"the table {table.name}" if table.place else f"the file {table.name}"
        lines.append(
            f"task {reader!r} reads {what}, which task {writer!r} writes, and no depends_on connects them, "
            f"so {first!r}, which comes first in the file, runs first"
        )
    return lines


def _alike(workflow: Workflow) -> Iterator[str]:
    """Tasks that run the config of an earlier one, which is most likely a slip of the pen."""
    first: dict[Path, str] = {}
    for task in workflow.tasks:
        config = getattr(workflow.opened[task.id], "config", None)
        path = Path(config.path).resolve() if config is not None and config.path else None
        if path is not None and first.setdefault(path, task.id) != task.id:
            yield (
                f"tasks {first[path]!r} and {task.id!r} run the same config, {task.value}: "
                "what one has published the other skips, and a file is written twice"
            )


def _problems(error: LDPError, key: str = "", file: str | None = None) -> tuple[Problem, ...]:
    if isinstance(error, ConfigError) and error.problems:
        return error.problems
    return (Problem(error.message, error.key or key, error.file or file, error.line, error.hint),)
