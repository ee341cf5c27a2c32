"""What a catalog takes from environment variables, and the refusal of secrets that are written down."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ldp_core.config.secrets import find_secrets
from ldp_core.errors import ConfigError, Problem
from ldp_core.spi import Spec


def refuse(problems: Iterable[Problem], spec: Spec) -> None:
    """Raise what a provider found, and any secret in the spec, with the spec's place.

    Raises:
        ConfigError: There is a problem.
    """
    own = tuple(
        replace(item, key=f"{spec.key}.{item.key}".strip("."), file=item.file or spec.file)
        for item in (*find_secrets(spec.values), *problems)
        if item.severity == "error"
    )
    if own:
        raise ConfigError.from_problems(own)


def from_environment(spec: Spec, key: str) -> str | None:
    """The value of the variable that a ``*_env`` key names; None without the key.

    Raises:
        ConfigError: The variable is not set.
    """
    variable = spec.get(key)
    return _variable(str(variable), spec, key) if variable else None


def properties_of(spec: Spec) -> dict[str, str]:
    """``properties`` and ``properties_env`` of a spec as pyiceberg takes them.

    Where the warehouse is in an object store, the environment fills in what they leave out.

    Raises:
        ConfigError: A variable is not set.
    """
    from ldp_core.fs import is_local, with_environment

    plain = {str(name): _as_text(value) for name, value in (spec.get("properties") or {}).items()}
    for name, variable in (spec.get("properties_env") or {}).items():
        plain[str(name)] = _variable(str(variable), spec, f"properties_env.{name}")
    warehouse = spec.get("warehouse")
    if spec.get("type") in ("rest", "glue") or (isinstance(warehouse, str) and not is_local(warehouse)):
        return with_environment(plain)
    return plain


def catalog_name(spec: Spec) -> str:
    """The catalog's name: ``name``, else ``identifier``, else ``namespace``."""
    return str(spec.get("name") or spec.get("identifier") or spec.get("namespace") or "ldp")


def namespace_of(spec: Spec) -> str:
    """The namespace of a spec: ``namespace``, else ``identifier``.

    Raises:
        ConfigError: Neither is there.
    """
    value = spec.get("namespace") or spec.get("identifier")
    if not value:
        raise ConfigError(
            "the catalog needs a namespace", key=f"{spec.key}.namespace".strip("."), file=spec.file
        )
    return str(value)


def namespace_problems(spec: Spec) -> list[Problem]:
    """A namespace that is absent or has an empty part."""
    value = spec.get("namespace") or spec.get("identifier")
    if value is None:
        return [Problem("the catalog needs a namespace (or an identifier)", key="namespace")]
    if isinstance(value, str) and any(not part.strip() for part in value.split(".")):
        return [Problem(f"{value!r} is no namespace: a part of it is empty", key="namespace")]
    return []


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _variable(name: str, spec: Spec, key: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise ConfigError(
            f"the environment variable {name} is not set",
            key=f"{spec.key}.{key}".strip("."),
            file=spec.file,
            hint=f"export {name}=...",
        )
    return value
