"""Iceberg tables kept small and fast, from one process with no cluster."""

from __future__ import annotations

from typing import Any

__all__ = [
    "OPERATIONS",
    "Address",
    "Addressed",
    "Described",
    "Doing",
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
    "apply_properties",
    "engines",
    "evolve_partitions",
    "expire_snapshots",
    "find",
    "health",
    "open_rest",
    "remove_dangling_deletes",
    "remove_orphans",
    "resolve",
    "rewrite_data_files",
    "rewrite_manifests",
]

_HOMES: dict[str, str] = {
    "Address": "addressing",
    "Addressed": "addressing",
    "Described": "maintenance",
    "Doing": "model",
    "EvolutionRule": "policy",
    "Expire": "policy",
    "Health": "health",
    "Layout": "layout",
    "Maintained": "maintenance",
    "Maintenance": "maintenance",
    "Manifests": "policy",
    "OPERATIONS": "model",
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
    "apply_properties": "properties",
    "engines": "engines",
    "evolve_partitions": "evolve.run",
    "expire_snapshots": "expire",
    "find": "addressing",
    "health": "health",
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

    return getattr(import_module(f"{__name__}.{home}"), name)
