"""Workflows, backfills and schedules for LDP."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldp_orchestration.backfilled import BackfillResult
    from ldp_orchestration.backfilling import backfill
    from ldp_orchestration.discovery import Discovery, discover
    from ldp_orchestration.load import load_workflow
    from ldp_orchestration.model import TaskOutcome, Workflow, WorkflowResult
    from ldp_orchestration.overview import Status, status
    from ldp_orchestration.plan import WorkflowPlan, plan_workflow
    from ldp_orchestration.run import run_workflow
    from ldp_orchestration.schedule.listing import Listing, list_scheduled
    from ldp_orchestration.schedule.tick import tick
    from ldp_orchestration.schedule.ticked import TickResult

__all__ = [
    "BackfillResult",
    "Discovery",
    "Listing",
    "Status",
    "TaskOutcome",
    "TickResult",
    "Workflow",
    "WorkflowPlan",
    "WorkflowResult",
    "backfill",
    "discover",
    "list_scheduled",
    "load_workflow",
    "plan_workflow",
    "run_workflow",
    "status",
    "tick",
]

__version__ = "0.2.0"

# No module is called as what it offers: importing it would put the module in place of the name.
_MODULES = {
    "BackfillResult": "backfilled",
    "Discovery": "discovery",
    "Listing": "schedule.listing",
    "Status": "overview",
    "TaskOutcome": "model",
    "TickResult": "schedule.ticked",
    "Workflow": "model",
    "WorkflowPlan": "plan",
    "WorkflowResult": "model",
    "backfill": "backfilling",
    "discover": "discovery",
    "list_scheduled": "schedule.listing",
    "load_workflow": "load",
    "plan_workflow": "plan",
    "run_workflow": "run",
    "status": "overview",
    "tick": "schedule.tick",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _MODULES:
        return getattr(import_module(f"ldp_orchestration.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'ldp_orchestration' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
