"""The engines that are installed."""

from __future__ import annotations

import functools
from typing import Any

from ldp_core import registry
from ldp_core.errors import LDPError, UsageError

from ldp_maintenance.engines.protocol import Engine
from ldp_maintenance.model import OPERATIONS, Operation, Run

GROUP = "ldp.maintenance_engines"


def engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        PipelineNotFound: None is called so; lists those that are installed and the package to install.
        ConfigError: It does not load.
    """
    if name == "local":
        from ldp_maintenance.engines.local import local

        return local
    found: Engine = registry.load(GROUP, name)
    return found


def engines() -> list[Engine]:
    """The engines that are installed, ``local`` first.

    Raises:
        ConfigError: One does not load.
    """
    return [engine(name) for name in _names()]


def operation_on(name: str, operation: Operation, *, commit: bool = True) -> Run:
    """The function that does an operation on an engine.

    Args:
        name: The engine.
        operation: Which.
        commit: Whether it is to take effect; an engine that cannot preview it is refused else.

    Raises:
        PipelineNotFound: There is no such engine.
        UsageError: It does not do the operation, or cannot preview it.
    """
    found = engine(name)
    able = found.can().get(operation)
    if able is None:
        why = found.refuses().get(operation)
        raise UsageError(
            f"engine {name} does not do {operation}{f': {why}' if why else ''}",
            hint="use --engine local, or see ldp maintain engines",
        )
    if not commit and not able.preview:
        raise UsageError(
            f"engine {name} cannot preview {operation}: it can only do it at once",
            hint="add --yes to let it, or preview with --engine local",
        )
    return functools.partial(found.run, operation)


def abilities() -> dict[str, dict[str, dict[str, Any]]]:
    """For each engine and operation: ``can``, ``previews``, ``note`` and ``refuses`` (lines), as JSON.

    An engine that does not load can do nothing, and says why.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in _names():
        try:
            one = engine(name)
            found[name] = {operation: _ability(one, operation) for operation in OPERATIONS}
        except LDPError as error:
            none = {"can": False, "previews": False, "note": "", "refuses": [error.message]}
            found[name] = {operation: dict(none) for operation in OPERATIONS}
    return found


def _ability(one: Engine, operation: Operation) -> dict[str, Any]:
    able = one.can().get(operation)
    if able is None:
        why = one.refuses().get(operation)
        return {"can": False, "previews": False, "note": "", "refuses": [why] if why else []}
    return {"can": True, "previews": able.preview, "note": able.note, "refuses": list(able.refuses)}


def _names() -> list[str]:
    return ["local", *(name for name in registry.names(GROUP) if name != "local")]
