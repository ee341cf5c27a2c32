"""CSV to Iceberg beside the naive way and the bare bound."""

from __future__ import annotations

import sys
from pathlib import Path

from _configs import lineitem_config
from _data import CHECKS, lineitem, workdir
from _measure import Run, in_turn, ldp, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """First load, known schema, with checks; the naive way; the bound."""
    csv = lineitem(rows)

    def bare() -> Run:
        folder = workdir("bare")
        return run([sys.executable, WAYS, "bare", str(csv), str(folder / "out.parquet")], folder)

    def first() -> Run:
        folder = workdir("first")
        return run(ldp("run", str(lineitem_config(folder, csv))), folder)

    def known(checks: bool = False) -> Run:
        folder = workdir("known")
        config = lineitem_config(folder, csv, known=True, quality=CHECKS if checks else None)
        return run(ldp("run", str(config)), folder)

    def naive(checks: str) -> Run:
        folder = workdir("naive")
        return run([sys.executable, WAYS, "naive", str(csv), str(folder / "wh"), checks], folder)

    results = in_turn(
        {
            "bare typed DuckDB copy": bare,
            "ldp run, schema known": known,
            "ldp run, first load": first,
            "ldp run, known, 12 checks": lambda: known(True),
            "pyiceberg read_csv + append": lambda: naive("no"),
            "pyiceberg, 12 checks in pyarrow": lambda: naive("yes"),
        },
        runs,
    )
    report(f"load of {rows:,} rows ({csv.stat().st_size / 1e6:,.0f} MB)", results, "bare typed DuckDB copy")
