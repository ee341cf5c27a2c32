"""Configs that the benchmarks run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _data import TYPES

CONFIG_TYPES = {"BIGINT": "long", "DECIMAL(18,2)": "decimal(18,2)", "VARCHAR": "string", "DATE": "date"}


def lineitem_config(
    folder: Path, csv: Path, *, name: str = "lineitem", known: bool = False, **target: Any
) -> Path:
    """Write ``<name>.json``: lineitem from a CSV into a local Iceberg table."""
    source: dict[str, Any] = {"name": name, "format": "CSV", "path": str(csv)}
    if known:
        source["columns"] = {column: CONFIG_TYPES[kind] for column, kind in TYPES.items()}
    quality = target.pop("quality", None)
    catalog = target.pop("catalog", {"identifier": "b", "warehouse_path": str(folder / "wh")})
    body: dict[str, Any] = {
        "identifier": name,
        "metadata": {
            "source": source,
            "target": {"name": name, "format": "ICEBERG", "catalog": catalog, **target},
        },
    }
    if quality:
        body["metadata"]["quality"] = {"on_failure": "fail", "checks": quality}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(body, indent=1))
    return path
