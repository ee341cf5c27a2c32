"""Twelve checks in one gate beside pyarrow one by one."""

from __future__ import annotations

import sys
from pathlib import Path

from _data import CACHE, lineitem, workdir
from _measure import in_turn, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """Over one Parquet file of lineitem."""
    parquet = CACHE / f"lineitem-{rows}.parquet"
    folder = workdir("checks")
    if not parquet.exists():
        run([sys.executable, WAYS, "bare", str(lineitem(rows)), str(parquet)], folder)
    results = in_turn(
        {
            "pyarrow, one by one": lambda: run(
                [sys.executable, WAYS, "checks_pyarrow", str(parquet)], folder
            ),
            "ldp_quality, one gate": lambda: run([sys.executable, WAYS, "checks_ldp", str(parquet)], folder),
            "bare Python": lambda: run([sys.executable, WAYS, "nothing"], folder),
        },
        runs,
    )
    report(f"twelve checks over {rows:,} rows", results, "pyarrow, one by one")
