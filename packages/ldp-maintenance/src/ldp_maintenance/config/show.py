"""A policy in the words of a table-config file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from ldp_core.config.validate import check

from ldp_maintenance.config.layers import EVOLVES, PLACES, RULES
from ldp_maintenance.config.properties import STANDARD
from ldp_maintenance.config.shapes import SETTINGS
from ldp_maintenance.policy import (
    MANIFEST_SIZE,
    SNAPSHOT_AGE_DAYS,
    SNAPSHOTS_TO_KEEP,
    TARGET_FILE_SIZE,
    EvolutionRule,
    Ordering,
    PartitionField,
    Policy,
)

_DAY_MS = 86_400_000
_FALLBACKS: Mapping[str, Any] = {
    "rewrite.target_file_size_bytes": TARGET_FILE_SIZE,
    "expire.max_snapshot_age_days": SNAPSHOT_AGE_DAYS,
    "expire.min_snapshots_to_keep": SNAPSHOTS_TO_KEEP,
    "manifests.target_size_bytes": MANIFEST_SIZE,
}
"""What holds where neither a policy nor the table says anything."""


def shown(policy: Policy, properties: Mapping[str, str] | None = None) -> Iterator[tuple[str, Any, str]]:
    """Each setting of a file, the value that holds, and where it comes from.

    Args:
        policy: The policy.
        properties: Of the table: they fill what the policy leaves to them.
    """
    there = properties or {}
    for key, place in PLACES.items():
        origin = policy.origins.get("evolution" if place in (EVOLVES, RULES) else place, "defaults")
        head, _, name = place.partition(".")
        if head == "properties" and name not in policy.properties and name in there:
            origin = "properties"
        yield key, _value(policy, place, there), origin


def settings(policy: Policy, properties: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A table's section of a file that says what holds of it now.

    A property of the table with a value that no file may have, such as an age of zero, is left to the table.
    """
    found: dict[str, Any] = {}
    for key, value, _ in shown(policy, properties):
        if value is None and key != "skip_partitions_newer_than_windows":
            continue
        if key == "partition_evolution.rules" and not value:
            continue
        *outer, last = key.split(".")
        if any(check(SETTINGS, reduce(lambda below, part: {part: below}, reversed(outer), {last: value}))):
            continue
        inner = found
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def value_text(value: Any) -> str:
    """A value on a line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(policy: Policy, place: str, properties: Mapping[str, str]) -> Any:
    if place == EVOLVES:
        return bool(policy.evolution)
    if place == RULES:
        return [_rule(rule) for rule in policy.evolution]
    if place == "partition":
        return None if policy.partition is None else [_field(one) for one in policy.partition]
    if place == "ordering":
        return _ordering(policy.ordering)
    head, _, rest = place.partition(".")
    inner = getattr(policy, head)
    if head == "properties":
        return _typed(inner.get(rest, properties.get(rest)))
    value = getattr(inner, rest) if rest else inner
    return _plain(_filled(place, properties) if value is None else value)


def _filled(place: str, properties: Mapping[str, str]) -> Any:
    """What the table's own property says of a place, else what holds by default."""
    name = next((name for name, filled in STANDARD.items() if filled == place), None)
    text = properties.get(name) if name else None
    if text is None:
        return _FALLBACKS.get(place)
    if not text.strip().lstrip("-").isdigit():
        return text  # who uses it says what is wrong with it
    return int(text) / _DAY_MS if place.endswith("_days") else int(text)


def _plain(value: Any) -> Any:
    """5.0 as 5: as a person would write it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _typed(text: str | None) -> Any:
    word = text.strip().lower() if text is not None else None
    if word in ("true", "false"):
        return word == "true"
    return int(word) if word is not None and word.isdigit() else text


def _rule(rule: EvolutionRule) -> dict[str, Any]:
    return {"from": rule.source, "to": rule.to, "older_than_days": _plain(rule.older_than_days)}


def _field(field: PartitionField) -> dict[str, Any]:
    found = {"column": field.column, "transform": field.transform}
    more = {"num_buckets": field.num_buckets, "width": field.width, "name": field.name}
    return {**found, **{key: value for key, value in more.items() if value is not None}}


def _ordering(ordering: Ordering) -> dict[str, Any] | None:
    """None where the table's declared order holds, for which a file has no word."""
    if ordering.mode == "table":
        return None
    if ordering.mode == "sort":
        keys = [{"column": k.column, "direction": k.direction, "nulls": k.nulls} for k in ordering.sort]
        return {"mode": "sort", "sort": keys}
    if ordering.mode == "zorder":
        zorder = {"columns": list(ordering.zorder), "precision_bits": ordering.precision_bits}
        return {"mode": "zorder", "zorder": zorder}
    return {"mode": "none"}
