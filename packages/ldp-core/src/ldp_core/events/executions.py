"""Which events belong together: those of one execution of an attempt, whatever order they come in.

A run id names a run of one pipeline: ``ldp run a.json b.json --run-id job`` makes two runs. An attempt may be
made again under the same number, such as after a rollback; the places of its events begin anew then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ldp_core.events.model import RUN_FINISHED, WORKFLOW_FINISHED, Event

_LAST = (RUN_FINISHED, WORKFLOW_FINISHED)


@dataclass
class Execution:
    """Once through an attempt of a run.

    Attributes:
        run_id: The run.
        attempt: The attempt.
        pipeline: The config's identifier, or the workflow's; None where no event tells it.
        events: Its events, in their order.
    """

    run_id: str
    attempt: int
    pipeline: str | None = None
    events: list[Event] = field(default_factory=list)


def run_of(event: Event) -> str:
    """The run of an event."""
    return str(event.get("run_id"))


def attempt_of(event: Event) -> int:
    """The attempt of an event."""
    return int(event.get("attempt") or 1)


def pipeline_of(event: Event) -> str | None:
    """The pipeline of a run's event, the workflow of a workflow's.

    None in the ledgers of older versions, where the first event of a run alone named it.
    """
    workflow = str(event.get("type")).startswith("workflow.")
    found = (event.get("payload") or {}).get("workflow" if workflow else "pipeline")
    return None if found is None else str(found)


def is_of_a_run(event: Event) -> bool:
    """Whether an event is one of a run or a workflow's run."""
    return str(event.get("type")).startswith(("run.", "quality.", "workflow."))


def executions(events: Iterable[Event]) -> list[Execution]:
    """The events of runs by execution, those of an attempt oldest first; one that comes twice counts once."""
    seen: set[str] = set()
    attempts: dict[tuple[str, int], list[Event]] = {}
    for event in events:
        if is_of_a_run(event) and event["event_id"] not in seen:
            seen.add(event["event_id"])
            attempts.setdefault((run_of(event), attempt_of(event)), []).append(event)
    return [made for (run_id, attempt), own in attempts.items() for made in _apart(run_id, attempt, own)]


def _apart(run_id: str, attempt: int, own: list[Event]) -> list[Execution]:
    """The executions among the events of one attempt under one run id."""
    names = {pipeline_of(event) for event in own} - {None}
    if len(names) <= 1 and len({_place(event) for event in own}) == len(own):
        # Nothing happened twice: the places alone tell the order, also where the clock was put back.
        return [Execution(run_id, attempt, next(iter(names), None), sorted(own, key=_place))]
    found: list[Execution] = []
    for event in sorted(own, key=_when):
        name = pipeline_of(event)
        made = next((item for item in reversed(found) if _goes_on(item, event, name)), None)
        if made is None:
            made = Execution(run_id, attempt)
            found.append(made)
        made.pipeline = made.pipeline or name
        made.events.append(event)
    named = [item for item in found if item.pipeline is not None]
    return named or found  # without a name, the end of one whose beginning was not read


def _goes_on(made: Execution, event: Event, name: str | None) -> bool:
    """Whether an event is a later one of an execution."""
    last = made.events[-1]
    same = name is None or made.pipeline is None or name == made.pipeline
    return same and last.get("type") not in _LAST and _place(last) < _place(event)


def _place(event: Event) -> int:
    return int(event.get("seq") or 0)


def _when(event: Event) -> tuple[str, int, str]:
    return str(event.get("ts")).removesuffix("Z"), _place(event), str(event["event_id"])
