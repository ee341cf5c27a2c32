"""Synthetic taxi rides: the same for the same seed, everywhere."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

COLUMNS = ("ride_id", "pickup_ts", "dropoff_ts", "city", "distance_km", "fare")
_CITIES = ("BKK", "NYC", "PAR")
_START = datetime(2026, 8, 1)
_DAYS = 7


def rides(rows: int, seed: int) -> list[dict[str, Any]]:
    """Rides of one week, in the order of their ids.

    Args:
        rows: How many; ids are 1 to ``rows``.
        seed: Makes other rides.
    """
    chance = random.Random(seed)
    return [_ride(number, chance) for number in range(1, rows + 1)]


def changed(batch: Iterable[dict[str, Any]], rows: int, new: int, seed: int) -> list[dict[str, Any]]:
    """A later batch: the first ``rows`` rides with a dearer fare, and ``new`` rides that were not there."""
    chance = random.Random(seed + 1)
    known = list(batch)
    dearer = [{**ride, "fare": f"{float(ride['fare']) + 1:.2f}"} for ride in known[:rows]]
    return dearer + [_ride(len(known) + number, chance) for number in range(1, new + 1)]


def spoiled(batch: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A batch that no check should let through: a negative fare, an unknown city, an id that stands twice."""
    bad = [dict(ride) for ride in batch][:10]
    bad[0]["fare"] = "-5.00"
    bad[1]["city"] = "XXX"
    bad[3]["ride_id"] = bad[2]["ride_id"]
    return bad


def write_csv(path: Path, batch: Iterable[dict[str, Any]]) -> None:
    """Write rides as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(batch)


def _ride(number: int, chance: random.Random) -> dict[str, Any]:
    begin = _START + timedelta(seconds=chance.randrange(_DAYS * 86_400))
    kilometres = round(chance.uniform(0.5, 30), 1)
    return {
        "ride_id": number,
        "pickup_ts": begin.isoformat(sep=" "),
        "dropoff_ts": (begin + timedelta(seconds=int(kilometres * 150))).isoformat(sep=" "),
        "city": chance.choice(_CITIES),
        "distance_km": kilometres,
        "fare": f"{3 + kilometres * 1.75:.2f}",
    }
