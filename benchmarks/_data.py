"""The data of the benchmarks: TPC-H lineitem of a chosen number of rows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bench"

TYPES = {
    "l_orderkey": "BIGINT",
    "l_partkey": "BIGINT",
    "l_suppkey": "BIGINT",
    "l_linenumber": "BIGINT",
    "l_quantity": "BIGINT",
    "l_extendedprice": "DECIMAL(18,2)",
    "l_discount": "DECIMAL(18,2)",
    "l_tax": "DECIMAL(18,2)",
    "l_returnflag": "VARCHAR",
    "l_linestatus": "VARCHAR",
    "l_shipdate": "DATE",
    "l_commitdate": "DATE",
    "l_receiptdate": "DATE",
    "l_shipinstruct": "VARCHAR",
    "l_shipmode": "VARCHAR",
    "l_comment": "VARCHAR",
}

CHECKS = [
    {"check": "row_count", "min": 1},
    {"check": "not_null", "columns": ["l_orderkey", "l_partkey", "l_shipdate"]},
    {"check": "range", "column": "l_quantity", "min": 1, "max": 50},
    {"check": "range", "column": "l_extendedprice", "min": 0},
    {"check": "range", "column": "l_discount", "min": 0, "max": 1},
    {"check": "range", "column": "l_tax", "min": 0, "max": 1},
    {"check": "accepted_values", "column": "l_returnflag", "values": ["A", "N", "R"]},
    {"check": "accepted_values", "column": "l_linestatus", "values": ["O", "F"]},
    {"check": "regex", "column": "l_shipmode", "pattern": "^[A-Z ]+$"},
    {"check": "expression", "expression": "l_receiptdate > l_shipdate"},
    {"check": "freshness", "column": "l_shipdate", "max_age_hours": 876000},
    {"check": "unique", "columns": ["l_orderkey", "l_linenumber"]},
]


def lineitem(rows: int) -> Path:
    """A CSV of exactly ``rows`` lineitem rows, made once and kept."""
    path = CACHE / f"lineitem-{rows}.csv"
    if path.exists():
        return path
    CACHE.mkdir(parents=True, exist_ok=True)
    generator = Path(sys.executable).parent / "tpchgen-cli"
    scale = f"{rows / 5_990_000:.4f}"
    part = path.with_suffix(".part")
    command = [str(generator), "csv", "-s", scale, "--tables", "lineitem", "--stdout"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process,
        part.open("wb") as out,
    ):
        assert process.stdout is not None
        out.writelines(islice(process.stdout, rows + 1))
        process.stdout.close()
        process.wait()
    part.rename(path)
    return path


def workdir(name: str) -> Path:
    """An empty folder for one benchmark."""
    path = CACHE / "work" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
