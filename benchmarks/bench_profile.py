"""``ldp contract init`` over ten columns of a Parquet file beside one scan by DuckDB's SUMMARIZE."""

from __future__ import annotations

import sys
from pathlib import Path

from _data import CACHE, lineitem, workdir
from _measure import in_turn, ldp, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """The profile is exact where it says so; SUMMARIZE estimates."""
    whole, ten = CACHE / f"lineitem-{rows}.parquet", CACHE / f"lineitem-ten-{rows}.parquet"
    folder = workdir("profile")
    if not whole.exists():
        run([sys.executable, WAYS, "bare", str(lineitem(rows)), str(whole)], folder)
    if not ten.exists():
        run([sys.executable, WAYS, "ten_columns", str(whole), str(ten)], folder)
    results = in_turn(
        {
            "SUMMARIZE": lambda: run([sys.executable, WAYS, "summarize", str(ten)], folder),
            "ldp contract init": lambda: run(ldp("contract", "init", str(ten)), folder),
            "ldp contract init, 1 row": lambda: run(ldp("contract", "init", str(_one(ten))), folder),
        },
        runs,
    )
    report(f"profile of {rows:,} rows x 10 columns", results, "SUMMARIZE")


def _one(ten: Path) -> Path:
    """A file of one row, for what the command takes to start."""
    path = ten.with_name("lineitem-ten-one.parquet")
    if not path.exists():
        run([sys.executable, WAYS, "ten_columns", str(ten), str(path), "1"], ten.parent)
    return path
