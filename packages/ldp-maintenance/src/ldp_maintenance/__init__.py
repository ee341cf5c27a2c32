"""Iceberg tables kept small and fast, from one process with no cluster."""

from __future__ import annotations

from typing import Any

__all__ = [
    "OPERATIONS",
    "Address",
    "Addressed",
    "Described",
    "Doing",
    "Engine",
    "EvolutionRule",
    "Expire",
    "Health",
    "Layout",
    "Maintained",
    "Maintenance",
    "Manifests",
    "Operation",
    "Ordering",
    "Orphans",
    "Outcome",
    "PartitionField",
    "Policy",
    "Refused",
    "Rewrite",
    "SafetyAbort",
    "SortKey",
    "TableConfig",
    "Target",
    "abilities",
    "apply_properties",
    "evolve_partitions",
    "expire_snapshots",
    "find",
    "health_of",
    "open_rest",
    "remove_dangling_deletes",
    "remove_orphans",
    "resolve",
    "rewrite_data_files",
    "rewrite_manifests",
]

_HOMES: dict[str, str] = {
    "OPERATIONS": "model",
    "Address": "addressing",
    "Addressed": "addressing",
    "Described": "maintenance",
    "Doing": "model",
    "Engine": "engines",
    "EvolutionRule": "policy",
    "Expire": "policy",
    "Health": "health",
    "Layout": "layout",
    "Maintained": "maintenance",
    "Maintenance": "maintenance",
    "Manifests": "policy",
    "Operation": "model",
    "Ordering": "policy",
    "Orphans": "policy",
    "Outcome": "model",
    "PartitionField": "policy",
    "Policy": "policy",
    "Refused": "errors",
    "Rewrite": "policy",
    "SafetyAbort": "errors",
    "SortKey": "policy",
    "TableConfig": "config.file",
    "Target": "model",
    "abilities": "engines",
    "apply_properties": "properties",
    "evolve_partitions": "evolve.run",
    "expire_snapshots": "expire",
    "find": "addressing",
    "health_of": "health:health",
    "open_rest": "catalogs",
    "remove_dangling_deletes": "dangling",
    "remove_orphans": "orphans.run",
    "resolve": "config.resolve",
    "rewrite_data_files": "rewrite.run",
    "rewrite_manifests": "manifests",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, own = home.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), own or name)
