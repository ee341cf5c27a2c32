"""``ldp tables``, ``ldp describe``, ``ldp snapshots``: what is there, read from metadata alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import cell, env_option, json_option, print_json, print_table, say, warn

if TYPE_CHECKING:
    from ldp_core.commands._lookup import Found

_in_option = click.option(
    "--in",
    "places",
    multiple=True,
    metavar="CONFIG|FOLDER",
    help="Where the table is searched: configs and folders; the present folder by default.",
)


@click.command()
@click.argument("places", nargs=-1, metavar="[CONFIG|FOLDER]...")
@env_option
@json_option
def tables(places: tuple[str, ...], env: str | None, as_json: bool) -> None:
    """List the tables of catalogs with their rows, files and size.

    A config stands for its catalog, a folder for all catalogs in it; without either, the present folder.
    """
    from ldp_core.commands._lookup import catalogs_of, tables_of
    from ldp_core.errors import LDPError, TableNotFound

    found: list[Found] = []
    named = bool(places)
    missing: TableNotFound | None = None
    for catalog in catalogs_of(places or (".",), env):
        try:
            found += tables_of(catalog)
        except TableNotFound as error:
            missing = error
    if missing is not None and named and not found:
        raise missing
    rows = []
    for item in found:
        try:
            rows.append(_overview(item))
        except LDPError as error:
            rows.append({"table": item.label, "catalog": _catalog_label(item), "error": str(error)})
    if as_json:
        print_json({"tables": rows})
        return
    columns = ("table", "rows", "files", "bytes", "snapshots", "updated", "catalog")
    print_table(columns, [[row.get(name) for name in columns] for row in rows])
    for row in rows:
        if "error" in row:
            named = row["table"] in row["error"]
            warn(row["error"] if named else f"{row['table']}: {row['error']}")


@click.command()
@click.argument("table", metavar="TABLE|CONFIG")
@_in_option
@env_option
@json_option
def describe(table: str, places: tuple[str, ...], env: str | None, as_json: bool) -> None:
    """Show a table: columns with their docs, partitioning, properties, current snapshot, rows and size."""
    from ldp_core.commands._lookup import find_table

    found = find_table(table, places or (".",), env)
    body = _description(found)
    if as_json:
        print_json(body)
        return
    say(f"Table {body['table']} (Iceberg format {body['format_version']})")
    snapshot = body["snapshot"]
    lines = {
        "location": body["location"],
        "partitioned by": ", ".join(body["partitioned_by"]) or "nothing",
        "rows": body["rows"],
        "files": body["files"],
        "bytes": body["bytes"],
        "snapshot": f"{snapshot['snapshot_id']} ({snapshot['operation']}, {snapshot['committed_at']})"
        if snapshot
        else "none",
    }
    for name, value in lines.items():
        say(f"  {name + ':':<16}{'unknown' if value is None else cell(value)}")
    say()
    columns = ("column", "type", "required", "doc")
    print_table(columns, [[item[name] for name in columns] for item in body["columns"]], footer=False)
    if body["properties"]:
        say()
        print_table(("property", "value"), sorted(body["properties"].items()), footer=False)


@click.command()
@click.argument("config", metavar="CONFIG|TABLE")
@_in_option
@env_option
@json_option
def snapshots(config: str, places: tuple[str, ...], env: str | None, as_json: bool) -> None:
    """List the snapshots of a config's table, oldest first."""
    from ldp_core.commands._lookup import find_table
    from ldp_core.commands._metadata import snapshot_row

    found = find_table(config, places or (".",), env)
    metadata = found.metadata().data
    listed = sorted(
        metadata.get("snapshots") or [],
        key=lambda item: (item.get("sequence-number", 0), item.get("timestamp-ms", 0)),
    )
    rows = [snapshot_row(item, metadata) for item in listed]
    if as_json:
        print_json({"table": found.label, "snapshots": rows})
        return
    say(f"Snapshots of Iceberg table {found.label}, oldest first:")
    columns = ("snapshot_id", "parent_id", "committed_at_utc", "operation")
    numbers = ("total_records", "added_records", "deleted_records")
    print_table((*columns, *numbers), [_snapshot_cells(row, numbers) for row in rows])


def _snapshot_cells(row: Mapping[str, Any], numbers: tuple[str, ...]) -> list[Any]:
    moment = (row["committed_at"] or "").replace("T", " ").removesuffix("Z")
    parent = row["parent_id"]
    return [
        int(row["snapshot_id"]),
        None if parent is None else int(parent),
        moment,
        row["operation"],
        *(row[name] for name in numbers),
    ]


def _overview(found: Found) -> dict[str, Any]:
    from ldp_core.commands._metadata import counts, current_snapshot, instant

    metadata = found.metadata().data
    snapshot = current_snapshot(metadata)
    return {
        "table": found.label,
        "namespace": found.namespace,
        "name": found.name,
        **counts(metadata),
        "snapshots": len(metadata.get("snapshots") or []),
        "snapshot_id": str(snapshot["snapshot-id"]) if snapshot else None,
        "updated": instant(metadata.get("last-updated-ms")),
        "location": metadata.get("location"),
        "catalog": _catalog_label(found),
    }


def _description(found: Found) -> dict[str, Any]:
    from ldp_core.commands._metadata import (
        counts,
        current_schema,
        current_snapshot,
        partitioning,
        snapshot_row,
        type_text,
    )

    peeked = found.metadata()
    metadata = peeked.data
    snapshot = current_snapshot(metadata)
    return {
        "table": found.label,
        "catalog": _catalog_label(found),
        "format_version": metadata.get("format-version"),
        "table_uuid": metadata.get("table-uuid"),
        "location": metadata.get("location"),
        "metadata_location": peeked.location,
        "partitioned_by": partitioning(metadata),
        **counts(metadata),
        "snapshot": snapshot_row(snapshot, metadata) if snapshot else None,
        "snapshots": len(metadata.get("snapshots") or []),
        "columns": [
            {
                "id": item["id"],
                "column": item["name"],
                "type": type_text(item["type"]),
                "required": bool(item.get("required")),
                "doc": item.get("doc"),
            }
            for item in current_schema(metadata).get("fields") or []
        ],
        "properties": dict(metadata.get("properties") or {}),
    }


def _catalog_label(found: Found) -> str:
    from ldp_core.catalogs.access import type_of
    from ldp_core.config.secrets import mask

    values = found.catalog
    place = values.get("warehouse_path") or values.get("uri") or values.get("warehouse") or ""
    return f"{type_of(values)}:{mask(str(place))}"
