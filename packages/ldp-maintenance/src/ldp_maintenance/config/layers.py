"""One source of settings as a layer: values by their place in a ``Policy``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ldp_maintenance.policy import EvolutionRule, Ordering, PartitionField, SortKey

Origin: TypeAlias = Literal["defaults", "file defaults", "properties", "config", "table", "command line"]
"""``file defaults`` are those of a table-config file, ``table`` is a table's own section of it."""

EVOLVES = "evolution.enabled"
RULES = "evolution.rules"
PREVIOUS_VERSIONS = "write.metadata.previous-versions-max"
DELETE_AFTER_COMMIT = "write.metadata.delete-after-commit.enabled"
PLACES: Mapping[str, str] = {
    "description": "description",
    "partition": "partition",
    "partition_evolution.enabled": EVOLVES,
    "partition_evolution.rules": RULES,
    "ordering": "ordering",
    "target_file_size_bytes": "rewrite.target_file_size_bytes",
    "min_input_files": "rewrite.min_input_files",
    "skip_partitions_newer_than_windows": "rewrite.skip_newest",
    "retention.expire_snapshots.enabled": "expire.enabled",
    "retention.expire_snapshots.max_snapshot_age_days": "expire.max_snapshot_age_days",
    "retention.expire_snapshots.min_snapshots_to_keep": "expire.min_snapshots_to_keep",
    "retention.expire_snapshots.max_ref_age_days": "expire.max_ref_age_days",
    "retention.remove_orphan_files.enabled": "orphans.enabled",
    "retention.remove_orphan_files.older_than_days": "orphans.older_than_days",
    "retention.remove_dangling_deletes.enabled": "dangling_deletes",
    "retention.rewrite_manifests.enabled": "manifests.enabled",
    "retention.rewrite_manifests.min_input_manifests": "manifests.min_input_manifests",
    "retention.metadata.previous_versions_max": f"properties.{PREVIOUS_VERSIONS}",
    "retention.metadata.delete_after_commit": f"properties.{DELETE_AFTER_COMMIT}",
}
"""Where a setting of a file stands in a policy. The settings of an ordering hold together, as do rules."""


@dataclass(frozen=True)
class Layer:
    """Settings from one source.

    Attributes:
        origin: The source.
        values: Values by place; what is not in it is left to the layers below.
    """

    origin: Origin
    values: Mapping[str, Any] = field(default_factory=dict)


def layer(origin: Origin, settings: Mapping[str, Any] | None) -> Layer:
    """The layer of settings that fit their shape."""
    values: dict[str, Any] = {}
    for key, place in PLACES.items():
        found, value = _at(settings or {}, key)
        if not found:
            continue
        if place.startswith("properties."):
            if value is not None:
                values[place] = str(value).lower()
        else:
            values[place] = _value(place, value)
    return Layer(origin, values)


def _at(settings: Mapping[str, Any], key: str) -> tuple[bool, Any]:
    """Whether a dotted key is there, and its value."""
    value: Any = settings
    for name in key.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return False, None
        value = value[name]
    return True, value


def _value(place: str, value: Any) -> Any:
    if place == "partition":
        return tuple(PartitionField(**_plain(item)) for item in value)
    if place == RULES:
        return tuple(
            EvolutionRule(item["from"], item["to"], float(item.get("older_than_days", 90))) for item in value
        )
    if place == "ordering":
        return _ordering(value)
    if place.endswith("_days") and value is not None:
        return float(value)
    if isinstance(value, float) and not place.endswith("_days"):
        return int(value)  # 2.0 is a whole number to who wrote it
    return value


def _ordering(value: Mapping[str, Any]) -> Ordering:
    mode = str(value["mode"]).lower()
    if mode == "sort":
        keys = tuple(
            SortKey(
                item["column"],
                "desc" if str(item.get("direction", "asc")).lower() == "desc" else "asc",
                "first" if str(item.get("nulls", "last")).lower() == "first" else "last",
            )
            for item in value["sort"]
        )
        return Ordering("sort", sort=keys)
    if mode == "zorder":
        zorder = value["zorder"]
        return Ordering(
            "zorder",
            zorder=tuple(zorder["columns"]),
            precision_bits=int(zorder.get("precision_bits", 16)),
        )
    return Ordering("none")


def _plain(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if not key.startswith(("x-", "$"))}
