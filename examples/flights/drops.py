"""Cuts nights out of data/flights.csv, as an airport drops them. Usage: python drops.py [--broken] DAY...

Each DAY (2013-01-01) becomes data/nightly/flights_DAY.csv; with --broken one flight of it has a distance
below 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "data"


def drop(day: str, broken: bool = False) -> Path:
    """Write the file of one day; returns its path."""
    year, month, number = (int(part) for part in day.split("-"))
    begins = f"{year},{month},{number},"
    if not (FOLDER / "flights.csv").exists():
        raise SystemExit("data/flights.csv is not there: run python fetch.py first")
    with (FOLDER / "flights.csv").open(encoding="utf-8") as file:
        header = next(file)
        rows = [line for line in file if line.startswith(begins)]
    if broken:
        parts = rows[10].split(",")
        parts[15] = "-1"
        rows[10] = ",".join(parts)
    path = FOLDER / "nightly" / f"flights_{day}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + "".join(rows), encoding="utf-8")
    return path


if __name__ == "__main__":
    words = sys.argv[1:]
    for word in words:
        if word != "--broken":
            print(drop(word, "--broken" in words))
