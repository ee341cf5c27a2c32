"""Checks from a config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core.errors import ConfigError

from ldp_quality._words import in_our_words

if TYPE_CHECKING:
    from ldp_quality.checks.base import Check
    from ldp_quality.rule import Rule

GROUP = "ldp.checks"


def checks_from_config(items: Iterable[Mapping[str, Any]]) -> list[Check]:
    """The checks of a config's ``quality``, without what they say besides their parameters.

    Args:
        items: Such as ``[{"check": "not_null", "columns": ["id"]}]``.

    Raises:
        ConfigError: As for ``rules_from_config``.
    """
    return [rule.check for rule in rules_from_config(items)]


def rules_from_config(items: Iterable[Mapping[str, Any]]) -> list[Rule]:
    """The checks of a config's ``quality`` with their severity, tolerances, condition and policy.

    Args:
        items: Such as ``[{"check": "not_null", "columns": ["id"], "fail_above": "1%"}]``.

    Raises:
        ConfigError: A check is unknown, or a parameter is unknown, missing or wrong; names the check by its
            number, from 1.
    """
    return [_build(number, item) for number, item in enumerate(items, start=1)]


def rule_from_item(entry: str, item: Mapping[str, Any]) -> Rule:
    """The rule of one item, its check named by the entry.

    Raises:
        ConfigError: A parameter is unknown, missing or wrong.
    """
    from ldp_quality.rule import KEYS, Rule

    item = in_our_words(item)
    common = {key.name for key in KEYS}
    check: Check = registry.load(GROUP, entry).build(
        {name: value for name, value in item.items() if name not in common}
    )
    return Rule(check=check, **{name: value for name, value in item.items() if name in common})


def _build(number: int, item: Any) -> Rule:
    place = f"quality check #{number}"
    if not isinstance(item, Mapping):
        raise ConfigError(f"{place} must be an object with a key check, got {item!r}")
    word = item.get("check")
    entry = registry.find(GROUP, word, ignore_case=True) if isinstance(word, str) else None
    if entry is None:
        known = ", ".join(registry.names(GROUP))
        raise ConfigError(f"{place} has unknown check {word!r}; expected one of: {known}")
    try:
        rule = rule_from_item(entry, item)
    except ConfigError as error:
        joint = "" if error.message.startswith(("has ", "needs ")) else "is invalid: "
        raise ConfigError(f"{place} ({entry}) {joint}{error.message}", hint=error.hint) from None
    return rule
