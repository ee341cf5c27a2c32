"""Ninety day partitions beside no partitions."""

from __future__ import annotations

import sys
from pathlib import Path

from _configs import lineitem_config
from _data import CACHE, lineitem, workdir
from _measure import Run, in_turn, ldp, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """``l_shipdate`` is folded into ninety days first."""
    csv = CACHE / f"lineitem-90d-{rows}.csv"
    if not csv.exists():
        run([sys.executable, WAYS, "ninety_days", str(lineitem(rows)), str(csv)], CACHE)

    def load(name: str, **target: object) -> Run:
        folder = workdir(name)
        return run(ldp("run", str(lineitem_config(folder, csv, known=True, **target))), folder)

    results = in_turn(
        {
            "ldp run, unpartitioned": lambda: load("plain"),
            "ldp run, 90 days": lambda: load(
                "days", partition_by=[{"column": "l_shipdate", "transform": "day"}]
            ),
        },
        runs,
    )
    report(f"partitioned load of {rows:,} rows", results, "ldp run, unpartitioned")
