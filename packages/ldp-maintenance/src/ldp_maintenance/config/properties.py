"""Settings as properties of the table itself.

What Iceberg has a name for is set by that name; all else by ``ldp.maintenance.`` and the dotted key of the
setting, such as ``ldp.maintenance.retention.remove_orphan_files.older_than_days``. Lists are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ldp_core.config.validate import check
from ldp_core.errors import ConfigError, Problem

from ldp_maintenance.config.layers import Layer, layer
from ldp_maintenance.config.problems import setting_problems
from ldp_maintenance.config.shapes import SETTINGS

PREFIX = "ldp.maintenance."
STANDARD: Mapping[str, str] = {
    "write.target-file-size-bytes": "rewrite.target_file_size_bytes",
    "history.expire.max-snapshot-age-ms": "expire.max_snapshot_age_days",
    "history.expire.min-snapshots-to-keep": "expire.min_snapshots_to_keep",
    "history.expire.max-ref-age-ms": "expire.max_ref_age_days",
    "commit.manifest.target-size-bytes": "manifests.target_size_bytes",
}
"""Properties that Iceberg has a name for, and the place in a policy that they fill where it is None.

The operations read them: branches may say otherwise for themselves.
"""


def layer_of(properties: Mapping[str, str], table: str = "") -> Layer:
    """The layer of a table's properties.

    Args:
        properties: All of the table's properties.
        table: Its name, for messages.

    Raises:
        ConfigError: A property that begins with ``ldp.maintenance.`` is no setting, or its value is not fit.
    """
    settings = _nested(properties)
    problems = [*check(SETTINGS, settings), *setting_problems(settings)]
    if problems:
        where = f"table {table}" if table else None
        raise ConfigError.from_problems(
            tuple(replace(item, key=f"{PREFIX}{item.key}", file=where) for item in problems)
        )
    values = dict(layer("properties", settings).values)
    for name, place in STANDARD.items():
        if properties.get(name) is not None:
            values[place] = None
    return Layer("properties", values)


def _nested(properties: Mapping[str, str]) -> dict[str, Any]:
    """The settings among properties, nested as a file has them."""
    found: dict[str, Any] = {}
    for name, text in sorted(properties.items()):
        if not name.startswith(PREFIX):
            continue
        *outer, last = name[len(PREFIX) :].split(".")
        inner = found
        for part in outer:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"the table property {name} stands below one that has a value")
        value = _parsed(text)
        if isinstance(inner.get(last), dict) and isinstance(value, dict):
            value = {**value, **inner[last]}
        inner[last] = value
    return found


def _parsed(text: str) -> Any:
    """A property's text as JSON, else as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def property_keys() -> Iterator[str]:
    """The names of all properties that are settings, for the reference."""
    from ldp_maintenance.config.layers import PLACES

    yield from STANDARD
    for key, place in PLACES.items():
        if place not in STANDARD.values() and not place.startswith("properties."):
            yield f"{PREFIX}{key}"


def unfit(properties: Mapping[str, str]) -> list[Problem]:
    """What ``layer_of`` would refuse."""
    try:
        layer_of(properties)
    except ConfigError as error:
        return list(error.problems) or [Problem(error.message)]
    return []
