"""A table-config file written from what holds now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError, UsageError

from ldp_maintenance.addressing import Addressed
from ldp_maintenance.config.show import settings


def generated(found: Addressed, *, whole: bool = False) -> dict[str, Any]:
    """The file for tables: each with all of its settings, so that it holds whatever else changes.

    Args:
        found: The tables.
        whole: Whether it is for all tables of the warehouse, those too that come later: that is what a file
            with defaults is for.

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
    defaults = found.file.defaults if found.file is not None else None
    head: dict[str, Any] = {"version": 2, "warehouse": warehouse}
    return {**head, **({"defaults": defaults or {}} if whole else {}), "namespaces": spaces}


def write(data: Mapping[str, Any], output: str | None, *, force: bool = False) -> None:
    """Write a file as JSON, which is YAML, too; to standard output without a name.

    Args:
        data: Its content.
        output: Its name; its folder is made.
        force: Whether one that is there is written over.

    Raises:
        UsageError: It is there already.
        ConfigError: It cannot be written.
    """
    from ldp_core._output import say

    text = json.dumps(data, indent=2, ensure_ascii=False)
    if output is None:
        say(text)
        return
    path = Path(output)
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", hint="give another -o, or --force to overwrite it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=str(path)) from error
    say(f"wrote {path}")
