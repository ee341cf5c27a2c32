"""``ldp commits``: which run made which snapshot, for which window, under which key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ldp_core._output import env_option, json_option, print_json, print_table, say

if TYPE_CHECKING:
    from ldp_core.tables.view import Snap, TableView

_KEY_DIGITS = 12
_REF = re.compile(r"ldp_r(?P<run>[0-9a-f]{32})_a(?P<attempt>\d+)_(?P<rest>fenced|\d+)")
_COUNTS = {
    "rows_read": "ldp.rows-read",
    "rows_kept": "ldp.rows-kept",
    "rows_in": "ldp.rows-in",
    "rows_written": "ldp.rows-written",
    "rows_unchanged": "ldp.rows-unchanged",
    "rows_quarantined": "ldp.rows-quarantined",
    "rows_deduplicated": "ldp.rows-deduplicated",
}


@click.command(short_help="List the snapshots of a table with their runs and keys.")
@click.argument("config", metavar="CONFIG|TABLE")
@click.option("--key", metavar="KEY", help="Only what a key, or a key that begins so, has published.")
@click.option("--branches", is_flag=True, help="The private branches and the fences of runs instead.")
@click.option(
    "--in",
    "places",
    multiple=True,
    metavar="CONFIG|FOLDER",
    help="Where the table is searched: configs and folders; the present folder by default.",
)
@env_option
@json_option
def commits(
    config: str, key: str | None, branches: bool, places: tuple[str, ...], env: str | None, as_json: bool
) -> None:
    """List the snapshots of a config's table, newest first: run, attempt, window, key and rows.

    The column main says whether main shows a snapshot; one that was rolled back is not on main, and its key
    is free. A key whose snapshot has expired is found in the table's own list of keys.
    """
    from ldp_core.commands._lookup import find_table
    from ldp_core.tables.view import of_json

    found = find_table(config, places or (".",), env)
    metadata = found.metadata().data
    view = of_json(metadata)
    if branches:
        _branches(found.label, view, metadata, as_json)
        return
    rows = [row for row in _rows(view, metadata) if key is None or str(row["key"] or "").startswith(key)]
    kept = [] if key is None else _listed(view, key, {str(row["key"]) for row in rows})
    if as_json:
        print_json({"table": found.label, "commits": rows, **({} if key is None else {"keys": kept})})
        return
    if key is not None and not rows and not kept:
        say(f"No snapshot of {found.label} carries the key {key}, and it is not among the table's keys.")
        return
    if rows or not kept:
        say(f"Commits of Iceberg table {found.label}, newest first:")
        _print(rows)
    for item in kept:
        say(
            f"key {item['key']} of {item['pipeline']} is published"
            f"{' for ' + item['window'] if item['window'] else ''}; its snapshot has expired"
        )


def _print(rows: list[dict[str, Any]]) -> None:
    columns = ("snapshot_id", "committed_at_utc", "operation", "main", "run_id", "attempt", "window", "key")
    counts = ("rows_read", "rows_written")
    cells = [
        [
            int(row["snapshot_id"]),
            (row["committed_at"] or "").replace("T", " ").removesuffix("Z")[:19],
            row["operation"],
            row["main"],
            row["run_id"],
            row["attempt"],
            row["window"],
            (row["key"] or "")[:_KEY_DIGITS] or None,
            *(row[name] for name in counts),
        ]
        for row in rows
    ]
    print_table((*columns, *counts), cells)


def _rows(view: TableView, metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    from ldp_core.commands._metadata import instant
    from ldp_core.commit.summaries import ATTEMPT, RUN, told

    moments = {item["snapshot-id"]: item.get("timestamp-ms") for item in metadata.get("snapshots") or ()}
    line = {snap.id for snap in view.ancestors()}
    rows = []
    for snap in sorted(
        view.snapshots.values(), key=lambda s: (s.sequence, moments.get(s.id) or 0), reverse=True
    ):
        keyed = told(view, snap)
        added = _number(snap.summary, "added-records")
        counts = {name: _number(snap.summary, key) for name, key in _COUNTS.items()}
        rows.append(
            {
                "snapshot_id": str(snap.id),
                "parent_id": None if snap.parent is None else str(snap.parent),
                "committed_at": instant(moments.get(snap.id)),
                "operation": snap.summary.get("operation"),
                "main": snap.id in line or _on_main(view, snap),
                "run_id": snap.summary.get(RUN),
                "attempt": _number(snap.summary, ATTEMPT),
                "window": str(keyed.window) if keyed and keyed.window else None,
                "key": keyed.key if keyed else None,
                "added_records": added,
                **counts,
            }
        )
    return rows


def _on_main(view: TableView, snap: Snap) -> bool | None:
    """Whether main shows a snapshot that no chain of links leads to; None where nobody can tell."""
    from ldp_core.commit.lineage import Point, on_main

    return on_main(view, Point(snap.id, snap.sequence))


def _listed(view: TableView, key: str, shown: set[str]) -> list[dict[str, Any]]:
    """The keys of the table's own list that no snapshot in the metadata carries any more."""
    from ldp_core.commit.intervals import windows
    from ldp_core.commit.ledger import read_all

    found: dict[str, dict[str, Any]] = {}
    for ledger in read_all(view.properties):
        single = [(item.key, item.window) for item in ledger.recent]
        tiled = [(ledger.key_of(w), w) for interval in ledger.windows for w in windows(interval)]
        others = [(own.key, own.window) for own in ledger.keys]
        for own, window in (*single, *tiled, *others):
            if own.startswith(key) and own not in shown:
                text = str(window) if window is not None else None
                found[own] = {"key": own, "pipeline": ledger.pipeline, "window": text}
    return list(found.values())


def _branches(label: str, view: TableView, metadata: Mapping[str, Any], as_json: bool) -> None:
    from ldp_core.commit.summaries import RUN
    from ldp_core.ids import run_hex

    runs = {run_hex(run): run for snap in view.snapshots.values() if (run := snap.summary.get(RUN))}
    refs = metadata.get("refs") or {}
    rows = [
        {
            "name": name,
            "kind": "fence" if found["rest"] == "fenced" else "branch",
            "run_id": runs.get(found["run"]),
            "attempt": int(found["attempt"]),
            "snapshot_id": str(view.refs[name]),
            "max_ref_age_ms": (refs.get(name) or {}).get("max-ref-age-ms"),
        }
        for name in sorted(view.refs)
        if (found := _REF.fullmatch(name)) is not None
    ]
    if as_json:
        print_json({"table": label, "branches": rows})
        return
    say(f"Branches and fences of runs on Iceberg table {label}:")
    columns = ("name", "kind", "run_id", "attempt")
    print_table(
        (*columns, "snapshot_id"),
        [[*(row[name] for name in columns), int(str(row["snapshot_id"]))] for row in rows],
    )


def _number(summary: Mapping[str, str], key: str) -> int | None:
    value = str(summary.get(key, ""))
    return int(value) if value.isdigit() else None
