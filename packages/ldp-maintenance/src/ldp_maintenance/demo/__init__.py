"""``ldp demo maintenance``: five days of small loads, and what upkeep makes of the tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.run.demo import Demo

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

Say = Callable[[str], None]
QUERIES: Mapping[str, tuple[str, str]] = {
    "revenue of each day": (
        "",
        "SELECT ordered_at::DATE AS day, round(sum(amount), 2) AS revenue FROM t GROUP BY 1 ORDER BY 1",
    ),
    "states of one day's orders": (
        "ordered_at >= '2026-08-05T00:00:00' and ordered_at < '2026-08-06T00:00:00'",
        "SELECT status, count(*) AS n FROM t WHERE ordered_at::DATE = '2026-08-05' GROUP BY 1 ORDER BY 1",
    ),
    "one customer's orders": (
        "customer = 'c07'",
        "SELECT order_id, status, amount FROM t WHERE customer = 'c07' ORDER BY 1",
    ),
    "open orders": ("status = 'open'", "SELECT count(*) AS open FROM t WHERE status = 'open'"),
}
"""By what they ask: the filter that chooses files, as pyiceberg takes it, and the SQL."""


@dataclass(frozen=True)
class Answer:
    """A query's answer.

    Attributes:
        rows: The rows.
        files: Data files and delete files that it has to open.
        ms: Milliseconds.
    """

    rows: list[tuple[Any, ...]]
    files: int
    ms: float


def run_demo(folder: Path, say: Say) -> dict[str, Any]:
    """Load five days into a copy-on-write and a merge-on-read table, query, look after them, query again.

    Args:
        folder: A folder for the warehouse; it is made.
        say: Takes each line that is told.

    Returns:
        For each table: its layout before and after, and each query's files and answers.
    """
    from ldp_core.catalogs import LocalIcebergCatalog

    from ldp_maintenance.demo.days import DAYS, LOADS, MODES, Writer, loads

    folder.mkdir(parents=True, exist_ok=True)
    catalog = LocalIcebergCatalog("shop", folder / "warehouse")
    say(f"1. {DAYS} days of orders, {LOADS} loads a day, into two tables that are written to in two ways")
    writers = [Writer(catalog, mode) for mode in MODES]
    for load in loads():
        for writer in writers:
            writer.ingest(load)
    found: dict[str, Any] = {"workdir": str(folder)}
    for step, (mode, called) in enumerate(MODES.items(), start=2):
        say(f"{step}. the {called} table, before and after: ldp maintain run shop.{mode} --skip-newest none")
        found[mode] = _looked_after(catalog, mode, say)
    return found


def _looked_after(catalog: Catalog, mode: str, say: Say) -> dict[str, Any]:
    from ldp_maintenance.demo.upkeep import look_after

    before = _answers(catalog.load_table(("shop", mode)))
    told = look_after(catalog, ("shop", mode))
    after = _answers(catalog.load_table(("shop", mode)))
    for line in told.lines:
        say(f"   {line}")
    queries = {}
    for name, was in before.items():
        now = after[name]
        same = was.rows == now.rows
        answer = "the same answer" if same else "ANOTHER ANSWER"
        say(f"   {name}: {was.files} files, then {now.files}; {was.ms:.0f} ms, then {now.ms:.0f}; {answer}")
        queries[name] = {"files_before": was.files, "files_after": now.files, "same": same}
    return {**told.detail, "queries": queries}


def _answers(table: Table) -> dict[str, Answer]:
    return {name: _ask(table, *query) for name, query in QUERIES.items()}


def _ask(table: Table, where: str, sql: str) -> Answer:
    """Ask by pyiceberg and DuckDB, as any reader would; nothing of this package takes part."""
    import duckdb

    started = time.perf_counter()
    scan = table.scan(row_filter=where) if where else table.scan()
    tasks = list(scan.plan_files())
    opened = {task.file.file_path for task in tasks}
    opened |= {delete.file_path for task in tasks for delete in task.delete_files}
    with duckdb.connect() as con:
        con.register("t", scan.to_arrow())
        rows = con.execute(sql).fetchall()
    return Answer(rows, len(opened), (time.perf_counter() - started) * 1000)


DEMO = Demo(
    "five days of small loads, copy-on-write and merge-on-read, and what upkeep makes of them", run_demo
)
"""Registered as ``maintenance``."""
