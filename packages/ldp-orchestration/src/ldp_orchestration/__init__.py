"""Workflows, backfills and schedules for LDP."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "Workflow": "ldp_orchestration.model",
    "WorkflowResult": "ldp_orchestration.model",
    "load_workflow": "ldp_orchestration.load",
    "plan_workflow": "ldp_orchestration.plan",
    "run_workflow": "ldp_orchestration.run",
}

__all__ = sorted(_WHERE)
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'ldp_orchestration' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
