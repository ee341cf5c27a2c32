"""Upserts: half a million rows into one million; 100,000 clustered keys into ten million."""

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


def one(name: str, base: int, low: int, high: int) -> Run:
    """Fill a table with ``base`` rows, then measure the upsert of ids ``low`` to ``high``."""
    folder = workdir(name)
    for file, rows, extra in (("base", f"range({base})", "0"), ("batch", f"range({low}, {high})", "1")):
        duckdb.execute(
            f"COPY (SELECT {COLUMNS}, {extra} AS version FROM {rows} r(i)) TO '{folder / file}.parquet' "
            "(FORMAT parquet, COMPRESSION zstd)"
        )
    run(ldp("run", config(folder, "base", folder / "base.parquet", "append")), folder)
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
            "100k clustered into 10M": lambda: one("clustered", 10_000_000, 5_000_000, 5_100_000),
        },
        runs,
    )
    report("upsert", results, "1 row into 1 (start-up)")
