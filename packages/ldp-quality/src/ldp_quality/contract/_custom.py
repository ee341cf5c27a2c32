"""``type: custom`` with ``engine: ldp``: a check as a config has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core import registry
from ldp_core.config.validate import check as fits
from ldp_core.errors import ConfigError, Problem
from ldp_core.shape import Named

from ldp_quality.config import GROUP, rule_from_item
from ldp_quality.contract.model import ContractProperty, QualityItem
from ldp_quality.rule import KEYS, Rule

_ITEM = Named(GROUP, by="check", also=KEYS)


def is_ours(item: QualityItem) -> bool:
    """Whether LDP is the engine."""
    return str(item.values.get("engine", "")).strip().lower() == "ldp"


def ldp_rule(item: QualityItem, column: ContractProperty | None) -> tuple[Rule | None, tuple[Problem, ...]]:
    """The rule of an item, or what is wrong with it; a check of one column is about the property's own."""
    key = f"{item.origin.key}.implementation"
    written = item.values.get("implementation")
    try:
        values = _parsed(written) if isinstance(written, str) else written
    except ConfigError as error:
        return None, (Problem(f"is neither YAML nor JSON: {error.message}", key=key),)
    if not isinstance(values, Mapping):
        return None, (Problem("must be one check, such as {check: not_null, columns: [id]}", key=key),)
    word = values.get("check")
    entry = registry.find(GROUP, word, ignore_case=True) if isinstance(word, str) else None
    if entry is not None:
        values = _about(values, entry, column)
    problems = fits(_ITEM, values, key)
    if problems or entry is None:
        return None, tuple(problems)
    named = values if item.name is None or "name" in values else {**values, "name": item.name}
    try:
        return rule_from_item(entry, named), ()
    except ConfigError as error:
        place = f"{key}.{error.key}" if error.key else key
        return None, (Problem(error.message, key=place, hint=error.hint),)


def _parsed(text: str) -> Any:
    from ldp_core.config._yaml import parse_yaml

    return parse_yaml(text, "implementation")[0]


def _about(values: Mapping[str, Any], entry: str, column: ContractProperty | None) -> Mapping[str, Any]:
    """Filled in with the column that the item stands under, where the check needs one and names none."""
    if column is None:
        return values
    wanted = {key.name for key in registry.load(GROUP, entry).shape.keys if key.required}
    filled = {"column": column.column, "columns": [column.column]}
    return {**{name: value for name, value in filled.items() if name in wanted}, **values}
