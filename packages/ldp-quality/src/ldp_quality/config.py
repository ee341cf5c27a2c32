"""Checks from a config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from ldp_quality.checks.base import Check

GROUP = "ldp.checks"


def checks_from_config(items: Iterable[Mapping[str, Any]]) -> list[Check]:
    """The checks of a config's ``quality``.

    Args:
        items: Such as ``[{"check": "not_null", "columns": ["id"]}]``.

    Raises:
        ConfigError: A check is unknown, or a parameter is unknown, missing or wrong; names the check by its
            number, from 1.
    """
    return [_build(number, item) for number, item in enumerate(items, start=1)]


def _build(number: int, item: Any) -> Check:
    place = f"quality check #{number}"
    if not isinstance(item, Mapping):
        raise ConfigError(f"{place} must be an object with a key check, got {item!r}")
    word = item.get("check")
    entry = registry.find(GROUP, word, ignore_case=True) if isinstance(word, str) else None
    if entry is None:
        known = ", ".join(registry.names(GROUP))
        raise ConfigError(f"{place} has unknown check {word!r}; expected one of: {known}")
    try:
        check: Check = registry.load(GROUP, entry).build(item)
    except ConfigError as error:
        joint = "" if error.message.startswith(("has ", "needs ")) else "is invalid: "
        raise ConfigError(f"{place} ({entry}) {joint}{error.message}", hint=error.hint) from None
    return check
