"""The events of a workflow's own run, and the sinks that the events of its tasks go to as well.

The ledger beside the file is always one of them. ``workflow.started`` names every task with its run id before
anything runs, so that a run which is killed can be carried on; ``workflow.finished`` tells how each ended.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.clock import Clock
from ldp_core.config.sections.observability import sinks as listed
from ldp_core.errors import Interrupted
from ldp_core.events import model
from ldp_core.events.jsonl import SINK as JSONL
from ldp_core.events.model import Emitter, Event, Sink
from ldp_core.run.observe import error_text, open_sink
from ldp_core.spi import Spec
from ldp_core.window.model import Window

from ldp_orchestration.model import LEDGER, NOT_RUN, TaskOutcome, Workflow, WorkflowResult

logger = logging.getLogger("ldp_core")
INCOMPLETE = "incomplete"
"""The status of a run that stopped before every task ran."""
Sinks = tuple[tuple[str, Sink], ...]


@dataclass(frozen=True)
class Locked:
    """A sink that several threads share, which hears of one event at a time."""

    sink: Any
    lock: threading.Lock

    def __call__(self, event: Event) -> None:
        """Take one event."""
        with self.lock:
            self.sink(event)

    def flush(self) -> None:
        """Let go what is held back."""
        flush = getattr(self.sink, "flush", None)
        if callable(flush):
            with self.lock:
                flush()


@dataclass(frozen=True)
class Recording:
    """The events of one run of a workflow.

    Attributes:
        workflow: The workflow.
        emitter: Numbers its own events.
        for_tasks: The sinks that the events of its tasks go to besides their own.
    """

    workflow: Workflow
    emitter: Emitter
    for_tasks: Sinks

    @classmethod
    def open(cls, workflow: Workflow, run_id: str, attempt: int, clock: Clock) -> Recording:
        """Open the ledger and the sinks of the workflow; a sink that does not open is a warning."""
        base = workflow.path.parent
        ledger: tuple[str, Sink] = ("jsonl", JSONL.open(Spec({"path": LEDGER}, base)))
        found = [
            open_sink(options, base, logger.warning, file=workflow.name)
            for options in listed(workflow.observability, _catalogs(workflow))
        ]
        own = [one for one in found if one is not None and one[1] != ledger[1]]
        shared: list[tuple[str, Sink]] = [(name, Locked(sink, threading.Lock())) for name, sink in own]
        sinks: Sinks = (ledger, *shared)
        emitter = Emitter(sinks, run_id, attempt, warn=logger.warning, clock=clock)
        # The config of a workflow of one task opens its sinks for itself.
        return cls(workflow, emitter, (ledger,) if workflow.kind == "Pipeline" else sinks)

    def started(
        self,
        window: Window | None,
        runs: Mapping[str, tuple[str, int]],
        *,
        replace: bool,
        told: Mapping[str, Any],
    ) -> None:
        """``workflow.started``: the window, the run and first attempt of each task, and what else is told."""
        kinds = {task.id: task.kind for task in self.workflow.tasks}
        self.emitter.emit(
            model.WORKFLOW_STARTED,
            {
                "workflow": self.workflow.identifier,
                "window": _bounds(window),
                "file": self.workflow.path.name,
                "replace": replace,
                **told,
                "tasks": [
                    {"id": name, "kind": kinds[name], "run_id": run_id, "attempt": attempt}
                    for name, (run_id, attempt) in runs.items()
                ],
            },
        )

    def finished(self, result: WorkflowResult) -> None:
        """``workflow.finished``: how the run and each task ended."""
        stopped = any(task.status == NOT_RUN or isinstance(task.cause, Interrupted) for task in result.tasks)
        self.emitter.emit(
            model.WORKFLOW_FINISHED,
            {
                "workflow": result.workflow,
                "window": _bounds(result.window),
                "status": INCOMPLETE if stopped else result.status,
                "duration_s": round(result.duration_s, 3),
                "tasks": _tasks(result.tasks),
            },
        )
        self.emitter.close()


def _bounds(window: Window | None) -> dict[str, Any] | None:
    return None if window is None else {"start": window.start, "end": window.end}


def _tasks(outcomes: Sequence[TaskOutcome]) -> list[dict[str, Any]]:
    """What an event tells of tasks: nothing that may quote the data."""
    return [
        {
            "id": task.id,
            "kind": task.kind,
            "status": task.status,
            "run_id": task.run_id,
            "attempt": task.attempt,
            "attempts": task.attempts,
            "error": None if task.cause is None else error_text(task.cause),
            "retriable": task.retriable,
        }
        for task in outcomes
    ]


def _catalogs(workflow: Workflow) -> Any:
    from ldp_core.config.catalogs import find_catalog

    return lambda name: find_catalog(name, workflow.path.parent, workflow.env)
