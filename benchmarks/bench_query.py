"""A group-by through ``ldp query`` beside ``read_parquet`` of the same files."""

from __future__ import annotations

import sys
from pathlib import Path

from _configs import lineitem_config
from _data import CACHE, lineitem, workdir
from _measure import in_turn, ldp, report, run

WAYS = str(Path(__file__).resolve().parent / "_ways.py")
SQL = (
    "SELECT l_returnflag, l_linestatus, l_shipmode, count(*) n, sum(l_extendedprice) s, avg(l_discount) d, "
    "max(l_shipdate) m FROM lineitem GROUP BY ALL ORDER BY ALL"
)


def main(rows: int, runs: int) -> None:
    """The table is filled by repeated loads of at most ten million rows, and kept."""
    part = min(rows, 10_000_000)
    folder = CACHE / f"query-{rows}"
    config = folder / "lineitem.json"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        config = lineitem_config(folder, lineitem(part), known=True)
        for _ in range(rows // part):
            run(ldp("run", str(config)), folder)
        (folder / "done").touch()
    pattern = str(folder / "wh" / "**" / "*.parquet")
    place = workdir("query")
    results = in_turn(
        {
            "read_parquet of the same files": lambda: run(
                [sys.executable, WAYS, "group_by_bare", pattern, SQL], place
            ),
            "ldp query": lambda: run(ldp("query", str(config), SQL), place),
        },
        runs,
    )
    report(f"group-by over {rows:,} rows", results, "read_parquet of the same files")
