"""Secrets in catalog specs: refused where they are written, masked where they are shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ldp_core.errors import ConfigError, Problem
from ldp_core.spi import Spec

_USERINFO = re.compile(r"(?P<head>[a-zA-Z][\w+.-]*://[^/\s:@]*):(?P<secret>[^@\s/]+)@")
_QUERY = re.compile(
    r"(?P<head>[?&;](?:password|passwd|pwd|token|secret|sslpassword)=)(?P<secret>[^&;\s']+)", re.I
)
_SECRET_KEY = re.compile(
    r"(password|passwd|secret|token|credential|access-key|account-key|sas|connection-string|api-key)", re.I
)
_HARMLESS = re.compile(r"(_env$|endpoint|uri|url|expires|access-key-id$)", re.I)
MASK = "***"


def mask_text(text: str) -> str:
    """A text with the passwords of its URIs replaced by ``***``."""
    masked = _USERINFO.sub(rf"\g<head>:{MASK}@", text)
    return _QUERY.sub(rf"\g<head>{MASK}", masked)


def mask(value: Any, key: str = "") -> Any:
    """A spec as it may be shown: values of secret keys and passwords in URIs replaced by ``***``."""
    if isinstance(value, Mapping):
        return {name: mask(item, name if not key.endswith("_env") else key) for name, item in value.items()}
    if isinstance(value, list):
        return [mask(item, key) for item in value]
    if isinstance(value, str):
        return MASK if is_secret(key) else mask_text(value)
    return value


def is_secret(key: str) -> bool:
    """Whether a property of that name holds a secret."""
    return bool(_SECRET_KEY.search(key)) and not _HARMLESS.search(key)


def uri_problems(spec: Spec, remedy: str) -> list[Problem]:
    """Refuse a URI that embeds a password, and secrets among free properties.

    Args:
        spec: The ``catalog`` of a config.
        remedy: The key that takes the secret from the environment: ``password_env``.
    """
    problems = []
    for key in ("uri", "warehouse"):
        value = spec.get(key)
        if isinstance(value, str) and mask_text(value) != value:
            problems.append(
                Problem(
                    f"catalog {key} {mask_text(value)!r} embeds a password; put it in an environment variable "
                    f"and reference it with {remedy!r}",
                    key=key,
                )
            )
    properties = spec.get("properties")
    for name, value in (properties if isinstance(properties, Mapping) else {}).items():
        if is_secret(str(name)) or (isinstance(value, str) and mask_text(value) != value):
            problems.append(
                Problem(
                    f"{name} is a secret and may not stand in a config",
                    key=f"properties.{name}",
                    hint=f'name an environment variable instead: "properties_env": {{"{name}": "VARIABLE"}}',
                )
            )
    return problems


def refuse(problems: list[Problem], spec: Spec) -> None:
    """Raise what a provider found, with the spec's place.

    Raises:
        ConfigError: There is a problem.
    """
    if problems:
        placed = tuple(
            Problem(item.message, f"{spec.key}.{item.key}".strip("."), spec.file, item.line, item.hint)
            for item in problems
        )
        raise ConfigError.from_problems(placed)


def from_environment(spec: Spec, key: str) -> str | None:
    """The value of the variable that a ``*_env`` key names; None without the key.

    Raises:
        ConfigError: The variable is not set.
    """
    variable = spec.get(key)
    if not variable:
        return None
    return _variable(str(variable), spec, key)


def properties_of(spec: Spec) -> dict[str, str]:
    """``properties`` and ``properties_env`` of a spec as pyiceberg takes them.

    Raises:
        ConfigError: A variable is not set.
    """
    plain = {str(name): _as_text(value) for name, value in (spec.get("properties") or {}).items()}
    for name, variable in (spec.get("properties_env") or {}).items():
        plain[str(name)] = _variable(str(variable), spec, f"properties_env.{name}")
    return plain


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
