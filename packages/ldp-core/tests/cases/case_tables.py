"""What a table holds, read by pyiceberg and not by the code under test."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any


def look_at(folder: Path, step: dict[str, Any]) -> dict[str, Any]:
    """What the ``table`` step of a case asks for."""
    warehouse, namespace = folder / step.get("warehouse", "wh"), step.get("namespace", "nyc")
    file = warehouse / f"{namespace}_catalog.db"
    if not file.exists():
        return {"table": None, "catalog": False}
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(namespace, uri=f"sqlite:///{file}", warehouse=f"file://{warehouse}")
    try:
        if not catalog.table_exists(f"{namespace}.{step['name']}"):
            return {"table": None, "catalog": True}
        table = catalog.load_table(f"{namespace}.{step['name']}")
        data = table.scan().to_arrow()
        names = {field.field_id: field.name for field in table.schema().fields}
        parts = {
            str(
                {
                    field.name: _part(field, file.file.partition[at])
                    for at, field in enumerate(table.spec().fields)
                }
            )
            for file in table.scan().plan_files()
        }
        return {
            "rows": data.num_rows,
            "schema": {field.name: type_name(str(field.type)) for field in data.schema},
            "spec": [
                (field.name, str(field.transform), names.get(field.source_id))
                for field in table.spec().fields
            ],
            "data": sorted(json.dumps(plain(row)) for row in data.to_pylist()),
            "partitions": parts,
        }
    finally:
        catalog.close()


def snapshots_of(folder: Path, step: dict[str, Any]) -> list[dict[str, str]] | None:
    """The summaries of a table's snapshots, oldest first; None where there is no table."""
    warehouse, namespace = folder / step.get("warehouse", "wh"), step.get("namespace", "nyc")
    file = warehouse / f"{namespace}_catalog.db"
    if not file.exists():
        return None
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(namespace, uri=f"sqlite:///{file}", warehouse=f"file://{warehouse}")
    try:
        if not catalog.table_exists(f"{namespace}.{step['name']}"):
            return None
        table = catalog.load_table(f"{namespace}.{step['name']}")
        return [dict(snap.summary.additional_properties) for snap in table.metadata.snapshots if snap.summary]
    finally:
        catalog.close()


def _part(field: Any, value: Any) -> Any:
    """A partition value as the cases write it: days as dates."""
    if str(field.transform) == "day" and isinstance(value, int):
        return str(date(1970, 1, 1) + timedelta(days=value))
    return plain(value)


def type_name(text: str) -> str:
    """An Arrow type without the difference between large and small offsets."""
    return text.replace("large_", "")


def plain(value: Any) -> Any:
    """A value as the cases write it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, datetime | date | time | Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return value
