"""What a command costs before it does anything."""

from __future__ import annotations

import sys
from pathlib import Path

from _configs import lineitem_config
from _data import lineitem, workdir
from _measure import in_turn, ldp, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """Each command over bare Python (subtract its wall)."""
    del rows
    folder = workdir("startup")
    config = str(lineitem_config(folder, lineitem(10_000)))
    run(ldp("run", config), folder)
    query = ("query", config, "SELECT count(*) FROM lineitem")
    run(ldp(*query), folder)
    results = in_turn(
        {
            "bare Python": lambda: run([sys.executable, WAYS, "nothing"], folder),
            "ldp --version": lambda: run(ldp("--version"), folder),
            "ldp --help": lambda: run(ldp("--help"), folder),
            "ldp plan": lambda: run(ldp("plan", config), folder),
            "ldp query, repeated": lambda: run(ldp(*query), folder),
            "ldp snapshots": lambda: run(ldp("snapshots", config), folder),
        },
        max(runs, 7),
    )
    report("start-up", results, "bare Python")
