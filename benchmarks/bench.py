"""``python benchmarks/bench.py load|partition|checks|quarantine|...|all``: see README.md."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

NAMES = (
    "load",
    "partition",
    "checks",
    "quarantine",
    "profile",
    "upsert",
    "query",
    "windows",
    "schedule",
    "maintenance",
    "startup",
    "s3",
)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*NAMES, "all"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    for name in NAMES if args.name == "all" else (args.name,):
        importlib.import_module(f"bench_{name}").main(args.rows, args.runs)


if __name__ == "__main__":
    main()
