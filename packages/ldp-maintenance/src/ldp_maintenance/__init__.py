"""Iceberg tables kept small and fast, from one process with no cluster."""

from __future__ import annotations

from typing import Any

__all__: list[str] = []

_HOMES: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
