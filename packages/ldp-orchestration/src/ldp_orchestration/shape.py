"""The shape of a workflow file, put together from the kinds of tasks that are installed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ldp_core import registry
from ldp_core.config.pipeline import API_VERSION, NOT_EMPTY, SECTION_DOCS
from ldp_core.config.sections.observability import OBSERVABILITY
from ldp_core.config.sections.schedule import SECTION as SCHEDULE
from ldp_core.config.sections.window import WINDOW
from ldp_core.errors import LDPError
from ldp_core.shape import Anything, Bool, Key, ListOf, Literal, OneOf, Shape, Text, Type

from ldp_orchestration.sections.retries import RETRIES
from ldp_orchestration.sections.sla import SLA

GROUP = "ldp.task_kinds"
_LABEL = OneOf((Text(), Literal(None)))
_SIZE, _ZONE = (next(key for key in WINDOW.keys if key.name == name) for name in ("size", "timezone"))
METADATA = Shape(
    keys=(
        Key("schedule", SCHEDULE.shape, SECTION_DOCS["schedule"]),
        Key(
            "window",
            Shape((replace(_SIZE, required=False), _ZONE)),
            "The windows that it runs for. Which rows a window has, each config says for itself.",
        ),
        Key("catchup", Bool(), "Whether a tick runs every window missed since `start`.", default=False),
        Key("start", NOT_EMPTY, "A date or a time (ISO 8601); no window that begins before it runs."),
        Key("retries", RETRIES, "How often a task is tried."),
        Key("sla", SLA, "When the data must be there."),
        Key("observability", OBSERVABILITY, "Sinks for the events of the whole run, besides the ledger."),
    ),
    doc="What holds for the whole workflow.",
)
_OF_A_TASK = (
    Key("id", NOT_EMPTY, "Its name, which no other task of the file has.", required=True),
    Key("depends_on", ListOf(NOT_EMPTY), "The tasks that must succeed first.", default=[]),
    Key("retries", RETRIES, "How often it is tried; a key here stands above that of the workflow."),
)


def kinds() -> list[str]:
    """The words for what a task may do: kinds that are installed, and well-known ones that are not."""
    return sorted({*registry.names(GROUP), *registry.PACKAGES[GROUP]})


def task_shape(used: Collection[str] | None = None) -> Shape:
    """The shape of a task.

    Args:
        used: Load the plugins of these kinds alone; what stands under the others may be anything.
    """
    keys = tuple(Key(name, _type(name, used), f"What a task of the kind {name} does.") for name in kinds())
    return Shape((*_OF_A_TASK, *keys), exactly_one=(tuple(kinds()),), doc="One task: an id and one kind.")


def _type(name: str, used: Collection[str] | None) -> Type:
    if name not in registry.names(GROUP) or (used is not None and name not in used):
        return Anything()
    try:
        found: Type = registry.load(GROUP, name).shape
    except LDPError:
        return Anything()
    return found


def workflow_shape(used: Collection[str] | None = None) -> Shape:
    """The shape of a workflow file; ``used`` as for ``task_shape``."""
    return Shape(
        keys=(
            Key("apiVersion", Literal(API_VERSION), "The version of the format.", default=API_VERSION),
            Key("kind", Literal("Workflow"), "What the file is.", required=True),
            Key("identifier", NOT_EMPTY, "The name of the workflow.", required=True),
            Key("who", _LABEL, "A label: who it is for."),
            Key("what", _LABEL, "A label: what it does."),
            Key("where", _LABEL, "A label: where it is."),
            Key("when", _LABEL, "hourly, daily, weekly or monthly mean a schedule; else a label."),
            Key("how", _LABEL, "A label: how it runs."),
            Key("metadata", METADATA, "What holds for the whole workflow."),
            Key("tasks", ListOf(task_shape(used), min_items=1), "What it runs.", required=True),
        ),
        doc="A workflow: tasks and their order, run for each window.",
    )
