"""``ldp datasets``: pin, list and export named states of a table."""

from __future__ import annotations

from pathlib import Path

import click

from ldp_core._output import env_option, json_option, print_json, print_table, say

_CONFIG = click.option("--config", "config", metavar="CONFIG", required=True, help="The config of the table.")


@click.group(short_help="Pin, list and export named states of a table.")
def datasets() -> None:
    """Keep named, numbered states of a table: each pin is a tag and a manifest in the warehouse."""


@datasets.command(short_help="Pin the table's state under a name.")
@click.argument("config")
@click.argument("name")
@click.option("--filter", "row_filter", metavar="SQL", help="Only rows for which this predicate is true.")
@click.option("--fields", metavar="A,B", help="Only these columns, in this order.")
@click.option("--snapshot", type=int, metavar="ID", help="A snapshot; the current one by default.")
@env_option
@json_option
def pin(
    config: str,
    name: str,
    row_filter: str | None,
    fields: str | None,
    snapshot: int | None,
    env: str | None,
    as_json: bool,
) -> None:
    """Pin the state of CONFIG's table as the next version of the dataset NAME."""
    from ldp_core.datasets import pin as core
    from ldp_core.query.refs import find_tables

    chosen = None if fields is None else [field.strip() for field in fields.split(",")]
    ref = find_tables([config], env)[0]
    manifest, place = core.pin(ref, name, row_filter=row_filter, fields=chosen, snapshot_id=snapshot)
    if as_json:
        print_json({**manifest.to_dict(), "manifest": place})
        return
    say(
        f"Pinned {manifest.label}: {_rows(manifest.rows)} of {manifest.table} at snapshot "
        f"{manifest.snapshot_id} (tag {manifest.tag})"
    )
    say(f"  manifest: {place}")


@datasets.command("list", short_help="List datasets, or the versions of one.")
@click.argument("name", required=False)
@_CONFIG
@env_option
@json_option
def list_(name: str | None, config: str, env: str | None, as_json: bool) -> None:
    """List the newest version of each dataset in the warehouse, or every version of NAME."""
    from ldp_core.datasets import pin as core
    from ldp_core.query.refs import find_tables

    found = core.listing(find_tables([config], env)[0], name)
    if as_json:
        print_json(found)
        return
    columns = ["name", "version", "table", "snapshot_id", "rows", "row_filter", "fields", "created_at_utc"]
    rows = [
        [
            item["name"],
            item["version"],
            item["table"],
            item["snapshot_id"],
            item["rows"],
            item["row_filter"] or "-",
            "*" if item["fields"] is None else ",".join(item["fields"]),
            item["created_at"].replace("T", " ").removesuffix("Z"),
            *([item["versions"]] if name is None else []),
        ]
        for item in found
    ]
    print_table(columns + (["versions"] if name is None else []), rows)


@datasets.command(short_help="Write a pinned dataset to a file.")
@click.argument("dataset", metavar="NAME@vN")
@click.argument("file")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["parquet", "csv", "jsonl"]),
    help="The ending of FILE decides by default, else parquet.",
)
@_CONFIG
@env_option
@json_option
def export(dataset: str, file: str, kind: str | None, config: str, env: str | None, as_json: bool) -> None:
    """Write a version of a dataset to FILE; NAME alone is its newest version."""
    from ldp_core.datasets import pin as core
    from ldp_core.query.refs import find_tables

    ending = Path(file).suffix.lower().lstrip(".")
    chosen = kind or (ending if ending in core.EXPORTS else "parquet")
    manifest, rows = core.export(find_tables([config], env)[0], dataset, file, chosen)
    if as_json:
        print_json({**manifest.to_dict(), "file": file, "format": chosen, "rows": rows})
        return
    say(f"Exported {manifest.label} ({_rows(rows)}, snapshot {manifest.snapshot_id}) to {file} as {chosen}")


def _rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"
