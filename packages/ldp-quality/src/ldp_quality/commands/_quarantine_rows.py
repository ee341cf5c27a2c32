"""Rows that were put aside, on a terminal or in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ldp_core._output import cell, print_table, say
from ldp_core.errors import UsageError
from ldp_core.tables import quarantine as q

if TYPE_CHECKING:
    from ldp_core.query.session import Query

_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def format_of(word: str | None, output: str | None, as_json: bool) -> str:
    """The format that the options mean.

    Raises:
        UsageError: Two formats, Parquet without a file, or a table into one.
    """
    if as_json and word is not None:
        raise UsageError(f"--json and --format {word} exclude each other")
    ending = _ENDINGS.get(Path(output).suffix.lower()) if output else None
    chosen = "json" if as_json else word or ending or "table"
    if chosen == "parquet" and output is None:
        raise UsageError("--format parquet needs --output FILE")
    if chosen == "table" and output is not None:
        raise UsageError(f"--output {output}: say --format csv, jsonl or parquet")
    return chosen


def write(query: Query, chosen: str, output: str | None, limit: int | None) -> int:
    """Write rows as a program reads them; how many."""
    from ldp_core.query import output as out

    writers = {"json": out.write_json, "csv": out.write_csv, "jsonl": out.write_jsonl}
    if output is None:
        return writers[chosen](query, sys.stdout, limit)
    with out.atomic(output) as partial:
        if chosen == "parquet":
            return out.write_parquet(query, partial, limit)
        with partial.open("w", encoding="utf-8", newline="") as file:
            return _write(writers[chosen], query, file, limit)


def _write(writer: Any, query: Query, file: IO[str], limit: int | None) -> int:
    rows: int = writer(query, file, limit)
    return rows


def print_rows(query: Query, label: str, limit: int) -> None:
    """Print rows for a person: those with values, then those that could not be read."""
    from ldp_core.query.output import table_rows

    names, rows, total = table_rows(query, limit)
    at = {name: number for number, name in enumerate(names)}
    if not total:
        say(f"No rows in {label}.")
        return
    unread = [row for row in rows if _unread(row, at)]
    values = [row for row in rows if not _unread(row, at)]
    own = [name for name in names if not name.startswith(q.PREFIX)]
    batches = {row[at[q.BATCH]] for row in rows}
    lead = [q.BATCH] if len(batches) > 1 else []
    if not lead:
        say(f"batch {batches.pop()} of {label}:" if batches else f"{label}:")
    if values:
        columns = [*lead, q.ROW, *own, q.RULES, q.REASON]
        _print(columns, [[row[at[name]] for name in columns] for row in values])
    if unread:
        say("rows that could not be read:")
        columns = [*lead, q.ROW, "place", q.RAW, q.REASON]
        lines = [
            [*(row[at[name]] for name in (*lead, q.ROW)), _place(row, at), row[at[q.RAW]], row[at[q.REASON]]]
            for row in unread
        ]
        _print(columns, lines)
    shown = len(rows)
    say(f"({shown} of {total} rows)" if total > shown else f"({total} {'row' if total == 1 else 'rows'})")


def _unread(row: tuple[Any, ...], at: dict[str, int]) -> bool:
    return row[at[q.RAW]] is not None or row[at[q.FILE]] is not None


def _print(columns: list[str], rows: list[list[Any]]) -> None:
    names = [name.removeprefix(q.PREFIX) if name.startswith(q.PREFIX) else name for name in columns]
    rules = columns.index(q.RULES) if q.RULES in columns else None
    if rules is not None:
        rows = [[*row[:rules], ", ".join(row[rules] or ()), *row[rules + 1 :]] for row in rows]
    print_table(names, rows, footer=False)


def _place(row: tuple[Any, ...], at: dict[str, int]) -> str:
    line = row[at[q.LINE]]
    return cell(row[at[q.FILE]] or "") + (f":{line}" if line is not None else "")
