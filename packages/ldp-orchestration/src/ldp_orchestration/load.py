"""Reading a workflow: a workflow file, or a dataset config as a workflow of one task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.config.fitting import within
from ldp_core.config.load import Document, load_document
from ldp_core.config.secrets import mask
from ldp_core.config.sections.schedule import ALIASES, derived
from ldp_core.errors import ConfigError, Problem
from ldp_core.spi import Task
from ldp_core.window.parse import moment

from ldp_orchestration.model import Workflow
from ldp_orchestration.sections.retries import retries
from ldp_orchestration.sections.sla import sla
from ldp_orchestration.shape import GROUP, kinds
from ldp_orchestration.structure import structure_problems

if TYPE_CHECKING:
    from ldp_core.config import Config

PIPELINE = "pipeline"
_SIZES = {ALIASES["@hourly"]: "hour", ALIASES["@daily"]: "day"}
_SECTIONS = ("schedule", "window", "retries", "sla", "observability")
_OWN = ("kind", "apiVersion", "identifier", "when", *(f"metadata.{name}" for name in _SECTIONS))
"""The keys of a dataset config that make it a workflow; what is wrong elsewhere is a problem of its task."""


def load_workflow(path: str | Path, env: str | None = None) -> Workflow:
    """Read a workflow file or a dataset config, JSON or YAML. Its tasks are opened, and not checked.

    Args:
        path: The file.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: The file cannot be read, or is no workflow; carries every problem of its structure.
    """
    name = str(path)
    document = load_document(Path(path).absolute(), name=name)
    if document.data.get("kind") == "Workflow":
        return _of_file(document, env)
    return _of_config(document, env)


def workflow_problems(workflow: Workflow, replace: bool = False) -> list[Problem]:
    """What is wrong with the tasks of a workflow: every config that they name is checked.

    Args:
        workflow: The workflow.
        replace: Whether they are to load again what their windows have published.

    Returns:
        Errors, warnings and notes, each with file and line.
    """
    document = Document({}, workflow.lines, workflow.path, workflow.name)
    found = [
        _of_task(problem, task, document)
        for task in workflow.tasks
        for problem in (*workflow.opened[task.id].problems(replace=replace), *_zones(task, workflow))
    ]
    return list(dict.fromkeys(found))


def _zones(task: Task, workflow: Workflow) -> Iterator[Problem]:
    """A config whose path would name another day than the windows of the workflow do."""
    from ldp_core.plan.keyed import zone_of
    from ldp_core.window.placeholders import placeholders

    config = getattr(workflow.opened[task.id], "config", None)
    path = config.source.get("path") if config is not None else None
    if config is None or not isinstance(path, str) or not placeholders(path):
        return
    own = zone_of(config)
    if own != workflow.zone:
        yield Problem(
            f"the windows of the workflow are those of {workflow.zone}, and {placeholders(path)[0]} in the "
            f"source path shows them in {own}",
            key="metadata.window.timezone",
            file=config.name,
            line=config.document.line_of("metadata.window"),
            hint=f"set metadata.window.timezone of the config to {workflow.zone}",
            severity="warning",
        )


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the errors among problems, where there are any.

    Raises:
        ConfigError: Carries them all.
    """
    errors = tuple(problem for problem in problems if problem.severity == "error")
    if errors:
        raise ConfigError.from_problems(errors)


def size_of(schedule: str | None) -> str | None:
    """The size of window that a schedule means: ``@daily`` and ``0 0 * * *`` a day; None for most."""
    word = " ".join((schedule or "").split())
    return _SIZES.get(ALIASES.get(word, word))


def _of_file(document: Document, env: str | None) -> Workflow:
    data, name = document.data, str(document.name)
    structure = structure_problems(data)
    if any(problem.severity == "error" for problem in structure):
        found = [placed(problem, document) for problem in structure]
        refuse(dict.fromkeys((*found, *_of_configs(structure, document, env))))
    said: dict[str, Any] = data.get("metadata") or {}
    window: dict[str, Any] = said.get("window") or {}
    zone = str(window.get("timezone") or "UTC")
    own = said.get("schedule") or derived(data.get("when"))
    above = retries(said.get("retries"))
    path = Path(str(document.path))
    tasks = tuple(_task(item, at, path, name, env) for at, item in enumerate(data["tasks"]))
    written = {item["id"]: item.get("retries") for item in data["tasks"]}
    return Workflow(
        identifier=data["identifier"],
        path=path,
        name=name,
        kind="Workflow",
        tasks=tasks,
        opened={task.id: registry.load(GROUP, task.kind).open(task) for task in tasks},
        retries={task.id: retries(written[task.id], above) for task in tasks},
        schedule=own,
        zone=zone,
        size=window.get("size") or size_of(own),
        catchup=bool(said.get("catchup")),
        start=moment(said["start"], "metadata.start", zone) if said.get("start") else None,
        sla=sla(said["sla"]) if said.get("sla") else None,
        observability=said.get("observability") or {},
        env=env,
        lines=document.lines,
    )


def _of_configs(structure: Iterable[Problem], document: Document, env: str | None) -> Iterator[Problem]:
    """What is wrong with the configs that tasks name, in a file whose structure is wrong, too."""
    wrong = {problem.key for problem in structure}
    tasks = document.data.get("tasks")
    for at, item in enumerate(tasks if isinstance(tasks, list) else ()):
        said = [word for word in kinds() if isinstance(item, Mapping) and word in item]
        key = f"tasks[{at}]"
        if len(said) != 1 or any(key == bad or within(bad, f"{key}.{said[0]}") for bad in wrong):
            continue
        name = item["id"] if isinstance(item.get("id"), str) else key
        task = _task(
            {**item, "id": name, "depends_on": ()}, at, Path(str(document.path)), str(document.name), env
        )
        for problem in registry.load(GROUP, task.kind).open(task).problems():
            yield _of_task(problem, task, document)


def _task(item: Mapping[str, Any], at: int, path: Path, name: str, env: str | None) -> Task:
    kind = next(word for word in kinds() if word in item)
    needs = tuple(dict.fromkeys(item.get("depends_on") or ()))
    return Task(item["id"], kind, item[kind], needs, path.parent, f"tasks[{at}]", name, env)


def _of_config(document: Document, env: str | None) -> Workflow:
    from ldp_core.config import Config
    from ldp_core.plan.keyed import section, zone_of

    from ldp_orchestration.kinds.pipeline import OpenPipeline

    config = Config.from_document(document, env)
    refuse(problem for problem in config.problems() if _is_own(problem, config))
    path, name = Path(str(document.path)), str(document.name)
    task = Task(config.identifier, PIPELINE, path.name, (), path.parent, "", name, env)
    said = config.section("sla")
    return Workflow(
        identifier=config.identifier,
        path=path,
        name=name,
        kind="Pipeline",
        tasks=(task,),
        opened={task.id: OpenPipeline(task, config)},
        retries={task.id: retries(config.section("retries"))},
        schedule=config.schedule,
        zone=zone_of(config),
        size=section(config).get("size") or size_of(config.schedule),
        sla=sla(said) if said else None,
        observability=config.section("observability") or {},
        env=env,
        lines=document.lines,
    )


def _is_own(problem: Problem, config: Config) -> bool:
    """Whether a problem of a dataset config keeps it from being a workflow at all."""
    if problem.file not in (None, config.name):
        return False
    return problem.key in ("", "metadata") or any(within(problem.key, key) for key in _OWN)


def placed(problem: Problem, document: Document) -> Problem:
    """A problem of a file with file and line, and without anything secret in its text."""
    text = mask(problem.message)
    if problem.file is not None:
        return replace(problem, message=text)
    return replace(problem, message=text, file=document.name, line=document.line_of(problem.key))


def _of_task(problem: Problem, task: Task, document: Document) -> Problem:
    """A problem of a task, whose key starts at the task, in the file of the workflow."""
    if problem.file is not None:
        return problem
    key = ".".join(part for part in (task.key, problem.key) if part)
    return placed(replace(problem, key=key), document)
