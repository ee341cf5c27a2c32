"""Upserts: half a million rows into one million; 100,000 clustered keys into ten million.

The table of ten million was filled by twenty loads, as a table that is appended to is: twenty files, each
with a range of the keys of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
from _data import workdir
from _measure import Run, in_turn, ldp, report, run

COLUMNS = (
    "i AS id, TIMESTAMP '2026-01-01' + INTERVAL (i % 7776000) SECOND AS ts, "
    "'user-' || (hash(i) % 100000) AS rider, "
    "CAST((hash(i * 3) % 10000) / 100 AS DECIMAL(10,2)) AS fare, CAST(hash(i * 5) % 500 AS DOUBLE) / 7 AS km"
)


def config(folder: Path, name: str, parquet: Path, mode: str) -> str:
    """Write a config that loads a Parquet file into ``b.t``."""
    target = {
        "name": "t",
        "format": "ICEBERG",
        "write_mode": mode,
        "catalog": {"identifier": "b", "warehouse_path": "wh"},
    }
    if mode == "upsert":
        target["join_cols"] = ["id"]
    source = {"name": "t", "format": "PARQUET", "path": str(parquet)}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"identifier": "t", "metadata": {"source": source, "target": target}}))
    return str(path)


def one(name: str, base: int, low: int, high: int, loads: int = 1) -> Run:
    """Fill a table with ``base`` rows, then measure the upsert of ids ``low`` to ``high``.

    Args:
        name: The folder to work in.
        base: Rows of the table.
        low: First id of the batch.
        high: The id after the last of the batch.
        loads: How many loads fill the table, each with the next ids.
    """
    folder = workdir(name)
    parts = [(base * part // loads, base * (part + 1) // loads) for part in range(loads)]
    files = [(f"base{first}", first, end, 0) for first, end in parts] + [("batch", low, high, 1)]
    for file, first, end, version in files:
        duckdb.execute(
            f"COPY (SELECT {COLUMNS}, {version} AS version FROM range({first}, {end}) r(i)) "
            f"TO '{folder / file}.parquet' (FORMAT parquet, COMPRESSION zstd)"
        )
    for file, _, _, _ in files[:-1]:
        run(ldp("run", config(folder, "base", folder / f"{file}.parquet", "append")), folder)
    return run(ldp("run", config(folder, "batch", folder / "batch.parquet", "upsert")), folder)


def start_up() -> Run:
    """The same command with a batch and a table of one row: what remains is start-up."""
    return one("tiny", 1, 0, 1)


def main(rows: int, runs: int) -> None:
    """The sizes are those of the budget."""
    del rows
    results = in_turn(
        {
            "1 row into 1 (start-up)": start_up,
            "500k into 1M": lambda: one("half", 1_000_000, 750_000, 1_250_000),
            "100k clustered into 10M": lambda: one("clustered", 10_000_000, 5_000_000, 5_100_000, 20),
        },
        runs,
    )
    report("upsert", results, "1 row into 1 (start-up)")
