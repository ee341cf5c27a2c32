"""A load that puts rows aside beside a plain load: one in a hundred, by a rule and by keys."""

from __future__ import annotations

from typing import Any

from _configs import lineitem_config
from _data import lineitem, workdir
from _measure import Run, in_turn, ldp, report, run

BAD = {"check": "range", "column": "l_partkey", "min": 1, "on_failure": "quarantine"}
KEYS = {"check": "unique", "columns": ["l_orderkey", "l_linenumber"], "on_failure": "quarantine"}


def main(rows: int, runs: int) -> None:
    """The same CSV each time; what is bad in it is bad by the rule, not by the data."""
    csv = lineitem(rows)

    def load(name: str, *checks: dict[str, Any]) -> Run:
        folder = workdir(name)
        config = lineitem_config(folder, csv, known=True, quality=list(checks) or None)
        return run(ldp("run", str(config)), folder)

    def odd(on_failure: str) -> dict[str, Any]:
        """One row in a hundred or so, spread over all files."""
        return {
            "check": "expression",
            "expression": "l_orderkey % 100 <> 7",
            "on_failure": on_failure,
        }

    results = in_turn(
        {
            "plain load": lambda: load("plain"),
            "a rule that only warns": lambda: load("warn", odd("warn")),
            "quarantine, nothing bad": lambda: load("clean", BAD),
            "quarantine, 1% bad": lambda: load("dirty", odd("quarantine")),
            "quarantine, 1% bad, unique keys": lambda: load("keys", odd("quarantine"), KEYS),
        },
        runs,
    )
    report(f"quarantine of {rows:,} rows", results, "plain load")
