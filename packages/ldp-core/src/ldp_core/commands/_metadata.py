"""What table metadata (its JSON) says, in a user's words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def current_snapshot(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """The snapshot that main points at."""
    wanted = metadata.get("current-snapshot-id")
    snapshots = metadata.get("snapshots") or []
    return next((item for item in snapshots if item["snapshot-id"] == wanted), None)


def current_schema(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The current schema."""
    schemas = metadata.get("schemas") or [metadata.get("schema") or {}]
    wanted = metadata.get("current-schema-id", 0)
    return next((dict(item) for item in schemas if item.get("schema-id", 0) == wanted), {})


def counts(metadata: Mapping[str, Any]) -> dict[str, int | None]:
    """``rows``, ``files`` and ``bytes`` of the current snapshot; None where its summary does not tell.

    Rows are those of the data files less the position deletes; with equality deletes nobody can tell.
    """
    snapshot = current_snapshot(metadata)
    if snapshot is None:
        return {"rows": 0, "files": 0, "bytes": 0}
    summary = snapshot.get("summary") or {}
    rows = _number(summary, "total-records")
    if _number(summary, "total-equality-deletes"):
        rows = None
    elif rows is not None:
        rows -= _number(summary, "total-position-deletes") or 0
    return {
        "rows": rows,
        "files": _number(summary, "total-data-files"),
        "bytes": _number(summary, "total-files-size"),
    }


def partitioning(metadata: Mapping[str, Any]) -> list[str]:
    """The fields of the default partition spec: ``day(pickup_ts)``, ``bucket[16](id)``, ``city``."""
    specs = metadata.get("partition-specs") or [{"fields": metadata.get("partition-spec") or []}]
    wanted = metadata.get("default-spec-id", 0)
    spec: Any = next((item for item in specs if item.get("spec-id", 0) == wanted), {"fields": []})
    names = _names(current_schema(metadata).get("fields") or [])
    return [
        names.get(item["source-id"], f"#{item['source-id']}")
        if item["transform"] == "identity"
        else f"{item['transform']}({names.get(item['source-id'], item['source-id'])})"
        for item in spec["fields"]
    ]


def type_text(kind: Any) -> str:
    """An Iceberg type as text: ``struct<a: int, b: list<string>>``."""
    if isinstance(kind, str):
        return kind
    if kind["type"] == "struct":
        inner = ", ".join(f"{item['name']}: {type_text(item['type'])}" for item in kind["fields"])
        return f"struct<{inner}>"
    if kind["type"] == "list":
        return f"list<{type_text(kind['element'])}>"
    return f"map<{type_text(kind['key'])}, {type_text(kind['value'])}>"


def instant(milliseconds: int | None) -> str | None:
    """A moment as ``2026-08-01T10:00:00.250Z``, UTC: to the millisecond, so that ``--as-of`` takes it."""
    if milliseconds is None:
        return None
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def snapshot_row(snapshot: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot as JSON: ids are text."""
    summary = snapshot.get("summary") or {}
    own = snapshot["snapshot-id"]
    refs = sorted(name for name, ref in (metadata.get("refs") or {}).items() if ref["snapshot-id"] == own)
    parent = snapshot.get("parent-snapshot-id")
    return {
        "snapshot_id": str(own),
        "parent_id": None if parent is None else str(parent),
        "committed_at": instant(snapshot.get("timestamp-ms")),
        "timestamp_ms": snapshot.get("timestamp-ms"),
        "operation": summary.get("operation"),
        "total_records": _number(summary, "total-records"),
        "added_records": _number(summary, "added-records"),
        "deleted_records": _number(summary, "deleted-records"),
        "current": own == metadata.get("current-snapshot-id"),
        "refs": refs,
        "summary": {key: value for key, value in summary.items() if key != "operation"},
    }


def _number(summary: Mapping[str, Any], key: str) -> int | None:
    value = str(summary.get(key, ""))
    return int(value) if value.isdigit() else None


def _names(fields: list[dict[str, Any]], prefix: str = "") -> dict[int, str]:
    names: dict[int, str] = {}
    for item in fields:
        name = f"{prefix}{item['name']}"
        names[item["id"]] = name
        if isinstance(item["type"], Mapping) and item["type"]["type"] == "struct":
            names |= _names(item["type"]["fields"], f"{name}.")
    return names
