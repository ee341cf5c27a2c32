"""What is wrong with the structure of a workflow file, found in one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ldp_core import registry
from ldp_core.config.fitting import UNKNOWN, within
from ldp_core.config.names import nearest
from ldp_core.config.secrets import find_secrets
from ldp_core.config.sections.observability import SECTION as OBSERVABILITY
from ldp_core.config.sections.schedule import notes_of_when
from ldp_core.config.sections.schedule import wrong as wrong_schedule
from ldp_core.config.sections.window import is_zone
from ldp_core.config.validate import check
from ldp_core.errors import ConfigError, LDPError, Problem
from ldp_core.spi import Section, Spec
from ldp_core.window.parse import moment

from ldp_orchestration.graph import cycles
from ldp_orchestration.sections.sla import SECTION as SLA
from ldp_orchestration.shape import GROUP, kinds, workflow_shape


def structure_problems(data: Mapping[str, Any]) -> list[Problem]:
    """Every finding about a workflow file but those about what its tasks name; keys are those of the file."""
    secrets = find_secrets(data)
    tasks = _tasks(data)
    used = {name for task in tasks for name in task if name in registry.names(GROUP)}
    shape = [*_better(check(workflow_shape(used), data)), *_absent(data)]
    wrong = {problem.key for problem in shape}
    metadata = data.get("metadata")
    more = [*_metadata(metadata if isinstance(metadata, Mapping) else {}, wrong), *_graph(tasks)]
    hidden = {problem.key for problem in secrets}
    found = [problem for problem in (*shape, *more) if not any(within(problem.key, key) for key in hidden)]
    when = data.get("when")
    notes = notes_of_when(when, (metadata or {}).get("schedule")) if isinstance(when, str) else ()
    return list(dict.fromkeys((*secrets, *found, *notes)))


def _tasks(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = data.get("tasks")
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []


def _better(problems: list[Problem]) -> Iterator[Problem]:
    """The problems that the shape found, some in words that say why."""
    for problem in problems:
        if problem.key == "metadata.window.column" and problem.message == UNKNOWN:
            yield Problem(
                "does not belong in a workflow, because each dataset config names the column that selects "
                "its own rows",
                key=problem.key,
                hint="leave it out here",
            )
        else:
            yield problem


def _absent(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Kinds whose package is not installed, or does not load."""
    for at, task in enumerate(data["tasks"] if isinstance(data.get("tasks"), list) else ()):
        for name in kinds() if isinstance(task, Mapping) else ():
            key = f"tasks[{at}].{name}"
            if name in task and name not in registry.names(GROUP):
                package = registry.PACKAGES[GROUP][name]
                yield Problem(f"needs {package}, which is not installed", key, hint=f"pip install {package}")
            elif name in task:
                try:
                    registry.load(GROUP, name)
                except LDPError as error:
                    yield Problem(error.message, key, hint=error.hint)


def _metadata(said: Mapping[str, Any], wrong: set[str]) -> Iterator[Problem]:
    """What the shapes cannot say of the metadata; parts whose shape is wrong are left alone."""

    def given(key: str, kind: type) -> Any:
        value: Any = said
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value if isinstance(value, kind) and f"metadata.{key}" not in wrong else None

    schedule, zone = given("schedule", str), given("window.timezone", str)
    if schedule is not None and (why := wrong_schedule(schedule)):
        yield Problem(why, key="metadata.schedule")
    known = zone is None or is_zone(zone)
    if not known:
        hint = "write an IANA name: Europe/Paris"
        yield Problem(f"unknown time zone {zone!r}", key="metadata.window.timezone", hint=hint)
    if given("catchup", bool) and said.get("start") is None:
        yield Problem(
            "is true, and a catch-up needs metadata.start, the first window that it runs",
            key="metadata.catchup",
        )
    start = given("start", str)
    if start is not None:
        try:
            moment(start, "start", (zone or "UTC") if known else "UTC")
        except ConfigError:
            yield Problem(f"must be an ISO 8601 date or time, not {start!r}", key="metadata.start")
    sections: tuple[tuple[str, Section], ...] = (("observability", OBSERVABILITY), ("sla", SLA))
    for name, section in sections:
        value = given(name, dict)
        if value is not None and not any(within(key, f"metadata.{name}") for key in wrong):
            for problem in section.problems(value, Spec(said, Path(), "metadata")):
                yield replace(problem, key=f"metadata.{name}.{problem.key}")


def _graph(tasks: list[Mapping[str, Any]]) -> Iterator[Problem]:
    """Ids that stand twice, ids that no task has, and cycles."""
    depends_on: dict[str, list[str]] = {}
    twice = False
    for at, task in enumerate(tasks):
        name = task.get("id")
        if not isinstance(name, str):
            continue
        if name in depends_on:
            twice = True
            yield Problem(f"another task is called {name!r} already", key=f"tasks[{at}].id")
        needs = task.get("depends_on")
        listed = [item for item in needs if isinstance(item, str)] if isinstance(needs, list) else []
        depends_on.setdefault(name, []).extend(listed)
    for at, task in enumerate(tasks):
        needs = task.get("depends_on")
        for number, other in enumerate(needs if isinstance(needs, list) else ()):
            if isinstance(other, str) and other not in depends_on:
                near = nearest(other, [name for name in depends_on if name != task.get("id")])
                yield Problem(
                    f"no task is called {other!r}",
                    key=f"tasks[{at}].depends_on[{number}]",
                    hint=f"did you mean {near}?" if near else f"the tasks are {', '.join(depends_on)}",
                )
    known = {name: [item for item in needs if item in depends_on] for name, needs in depends_on.items()}
    for found in () if twice else cycles(known):
        yield Problem(f"depend on each other in a cycle: {' -> '.join(found)}", key="tasks")
