"""Plugins by entry point: looked up by name, loaded lazily, refused clearly."""

from __future__ import annotations

from typing import Any

from ldp_core import _entry_points
from ldp_core.errors import ConfigError, PipelineNotFound

PACKAGES = {
    "ldp.event_sinks": {"quality_store": "ldp-quality"},
    "ldp.gates": {"quality": "ldp-quality"},
    "ldp.kinds": {"Workflow": "ldp-orchestration"},
    "ldp.maintenance_engines": {"spark": "ldp-spark"},
    "ldp.sections": {
        "quality": "ldp-quality",
        "retries": "ldp-orchestration",
        "sla": "ldp-orchestration",
        "maintenance": "ldp-maintenance",
    },
    "ldp.task_kinds": {
        "contract": "ldp-quality",
        "dbt": "ldp-dbt",
        "maintain": "ldp-maintenance",
        "pipeline": "ldp-orchestration",
    },
}
"""Which package brings a well-known name, for the message when it is absent."""


def names(group: str) -> list[str]:
    """The names that plugins offer in a group, sorted. Loads nothing."""
    return sorted(_entry_points.in_group(group))


def providers(group: str) -> dict[str, list[str]]:
    """Each name of a group with the distributions that offer it. Loads nothing."""
    return {
        name: [point.owner for point in points]
        for name, points in sorted(_entry_points.in_group(group).items())
    }


def find(group: str, name: str, *, ignore_case: bool = False) -> str | None:
    """The entry name that a user's word stands for, or None."""
    known = _entry_points.in_group(group)
    if name in known:
        return name
    if ignore_case:
        for candidate in known:
            if candidate.lower() == name.lower():
                return candidate
    return None


def load(group: str, name: str) -> Any:
    """Import the plugin of that name.

    Raises:
        PipelineNotFound: No plugin has the name; lists those that exist and the package to install.
        ConfigError: Two distributions offer the name, or the plugin does not import.
    """
    points = _entry_points.in_group(group).get(name, ())
    if not points:
        known = ", ".join(names(group)) or "none"
        package = PACKAGES.get(group, {}).get(name)
        hint = f"pip install {package}" if package else None
        raise PipelineNotFound(f"no {_word(group)} is called {name!r}; installed: {known}", hint=hint)
    if len(points) > 1:
        owners = " and ".join(sorted(point.owner for point in points))
        raise ConfigError(f"{_word(group)} {name!r} is offered by {owners}", hint="uninstall one of them")
    try:
        return points[0].load()
    except Exception as error:
        owner = points[0].owner
        raise ConfigError(
            f"{_word(group)} {name!r} of {owner} does not load: {type(error).__name__}: {error}",
            hint=f"reinstall or remove {owner}",
        ) from error


def _word(group: str) -> str:
    """``ldp.task_kinds`` as ``task kind``."""
    word = group.removeprefix("ldp.").replace("_", " ")
    return word.removesuffix("s")
