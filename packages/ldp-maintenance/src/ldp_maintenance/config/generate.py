"""A table-config file written from what holds now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError

from ldp_maintenance.addressing import Addressed
from ldp_maintenance.config.show import settings


def generated(found: Addressed) -> dict[str, Any]:
    """The file for tables: each with all of its settings, so that it holds whatever else changes.

    Raises:
        ConfigError: The catalog does not tell its warehouse.
    """
    from ldp_core.catalogs.tables import load

    warehouse = found.catalog.properties.get("warehouse")
    if warehouse is None:
        raise ConfigError(
            f"catalog {found.catalog.name} does not tell its warehouse, which the file must name",
            hint="give the catalog its warehouse",
        )
    spaces: dict[str, dict[str, Any]] = {}
    for identifier in found.identifiers:
        target = found.target(identifier)
        own = settings(target.policy, load(found.catalog, identifier).properties)
        spaces.setdefault(identifier[0], {"tables": {}})["tables"][identifier[1]] = own
    return {"version": 2, "warehouse": warehouse, "defaults": {}, "namespaces": spaces}


def write(data: Mapping[str, Any], output: str | None) -> None:
    """Write a file as JSON, or as YAML where it is called so; to standard output without a name."""
    from ldp_core._output import say

    text = json.dumps(data, indent=2, ensure_ascii=False)
    if output is None:
        say(text)
        return
    # JSON is YAML, too: one way of writing serves both names.
    Path(output).write_text(text + "\n", encoding="utf-8")
    say(f"wrote {output}")
