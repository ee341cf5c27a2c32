"""``ldp demo``: the main job in eight steps, on rides made up on the spot, with no network."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldp_core.config import Config
from ldp_core.errors import DataQualityError
from ldp_core.run.demo_data import changed, rides, spoiled, write_csv
from ldp_core.run.registered import run_config
from ldp_core.run.result import PipelineResult

Say = Callable[[str], None]
CATALOG = {"type": "local", "identifier": "nyc", "warehouse_path": "warehouse"}
CHECKS = [
    {"check": "row_count", "min": 1},
    {"check": "not_null", "columns": ["ride_id", "pickup_ts"]},
    {"check": "unique", "columns": ["ride_id"]},
    {"check": "accepted_values", "column": "city", "values": ["BKK", "NYC", "PAR"]},
    {"check": "range", "column": "fare", "min": 0},
]


@dataclass(frozen=True)
class Demo:
    """A demo, registered in ``ldp.demos``.

    Attributes:
        about: What it shows, in a few words.
        run: Takes a folder and a function that prints a line; returns what happened as JSON.
    """

    about: str
    run: Callable[[Path, Say], dict[str, Any]]


def run_demo(workdir: str | Path, rows: int = 1000, seed: int = 42, say: Say = print) -> dict[str, Any]:
    """Walk through the main job: append, overwrite, upsert, partitions, checks, SQL, time travel, export.

    Args:
        workdir: A folder for the files and the warehouse; it is made.
        rows: Rides to make up.
        seed: Makes other rides.
        say: Takes each line that is told.

    Returns:
        What each step found, by the step's name.

    Raises:
        LDPError: A step failed.
    """
    started = time.monotonic()
    folder = Path(workdir)
    folder.mkdir(parents=True, exist_ok=True)
    batch = rides(rows, seed)
    write_csv(folder / "rides.csv", batch)
    found: dict[str, Any] = {"workdir": str(folder), "rows": rows}
    steps: list[tuple[str, str, Callable[[], dict[str, Any]]]] = [
        ("config", "a config in JSON says what is loaded", lambda: _config(folder, say)),
        ("modes", "append adds rows each time, overwrite does not", lambda: _modes(folder, say)),
        ("upsert", "upsert replaces rows by key", lambda: _upsert(folder, batch, seed, say)),
        ("partitions", "a table with a partition a day", lambda: _partitions(folder, say)),
        ("quality", "checks hold a bad batch back", lambda: _quality(folder, batch, say)),
        ("query", "SQL over the table", lambda: _query(folder, say)),
        ("time_travel", "the table as it was", lambda: _time_travel(folder, say)),
        ("export", "back to CSV", lambda: _export(folder, say)),
    ]
    for number, (name, title, step) in enumerate(steps, start=1):
        say(f"{number}. {title}")
        found[name] = step()
    found["duration_s"] = round(time.monotonic() - started, 3)
    say(f"done in {found['duration_s']:.1f}s")
    return found


def _write_config(
    folder: Path, name: str, *, table: str = "rides", file: str = "rides.csv", **more: Any
) -> Path:
    """A config from a CSV file to an Iceberg table, as a JSON file."""
    checks = more.pop("checks", None)
    metadata: dict[str, Any] = {
        "source": {"name": "rides", "format": "CSV", "path": file},
        "target": {"name": table, "format": "ICEBERG", "catalog": CATALOG, **more},
    }
    if checks is not None:
        metadata["quality"] = {"on_failure": "fail", "checks": checks}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"identifier": name, "metadata": metadata}, indent=2) + "\n", encoding="utf-8")
    return path


def _config(folder: Path, say: Say) -> dict[str, Any]:
    config = Config.from_json(_write_config(folder, "rides"))
    config.validate()
    say(f"   rides.json: {config.route()}, spec hash {config.spec_hash()[:12]}")
    return {"route": config.route(), "spec_hash": config.spec_hash()}


def _modes(folder: Path, say: Say) -> dict[str, Any]:
    counts: dict[str, list[int | None]] = {}
    for mode in ("append", "overwrite"):
        results = [run_config(folder / "rides.json", mode=mode) for _ in range(2)]
        counts[mode] = [result.write_result.rows_after for result in results]
        say(f"   {mode} twice: {counts[mode][0]}, then {counts[mode][1]} rows")
    return counts


def _upsert(folder: Path, batch: list[dict[str, Any]], seed: int, say: Say) -> dict[str, Any]:
    known = max(1, len(batch) // 10)
    write_csv(folder / "changes.csv", changed(batch, known, known // 2, seed))
    config = _write_config(folder, "changes", file="changes.csv", write_mode="upsert", join_cols=["ride_id"])
    wrote = run_config(config).write_result
    say(f"   {known} changed and {known // 2} new rides: {wrote.rows_before} -> {wrote.rows_after} rows")
    again = run_config(config).write_result
    say(f"   the same batch again: {again.rows_written} rows written")
    return {
        "rows_before": wrote.rows_before,
        "rows_after": wrote.rows_after,
        "rows_written": wrote.rows_written,
        "written_again": again.rows_written,
    }


def _partitions(folder: Path, say: Say) -> dict[str, Any]:
    by_day = [{"column": "pickup_ts", "transform": "day"}]
    result = run_config(
        _write_config(
            folder, "rides_by_day", table="rides_by_day", write_mode="overwrite", partition_by=by_day
        )
    )
    say(f"   {result.rows_written} rows in {result.write_result.files} files, one a day")
    return {"rows": result.rows_written, "files": result.write_result.files}


def _quality(folder: Path, batch: list[dict[str, Any]], say: Say) -> dict[str, Any]:
    good = run_config(
        _write_config(folder, "checked", table="checked", write_mode="overwrite", checks=CHECKS)
    )
    say(f"   {len(CHECKS)} checks pass on {good.rows_written} rows")
    write_csv(folder / "bad.csv", spoiled(batch))
    bad = _write_config(folder, "bad", table="checked", file="bad.csv", checks=CHECKS)
    try:
        run_config(bad)
    except DataQualityError as error:
        lines = error.message.splitlines()
        say(f"   the bad batch is not published: {lines[0].rstrip(':')}")
        for line in lines[1:]:
            if line.startswith("  -"):
                say(f"   {line}")
    rows = _rows(folder, "checked")
    say(f"   the table still has {rows} rows")
    return {"passed": _passed(good), "blocked": rows == good.rows_written, "rows_after": rows}


def _passed(result: PipelineResult) -> bool:
    return result.quality is not None and bool(result.quality.to_dict().get("passed"))


def _query(folder: Path, say: Say) -> dict[str, Any]:
    from ldp_core.query.engine import DuckDBEngine

    with DuckDBEngine() as engine:
        engine.register_iceberg(_iceberg(folder, "rides"), "rides")
        rows = engine.query(
            "SELECT city, count(*) AS rides, round(avg(fare), 2)::DOUBLE AS fare "
            "FROM rides GROUP BY city ORDER BY city"
        ).to_pylist()
    for row in rows:
        say(f"   {row['city']}: {row['rides']} rides, {row['fare']:.2f} on average")
    return {"cities": rows}


def _time_travel(folder: Path, say: Say) -> dict[str, Any]:
    table = _iceberg(folder, "rides")
    snapshots = table.snapshots()
    first = table.get(snapshot_id=snapshots[0]["snapshot_id"]).num_rows
    now = table.row_count()
    say(f"   {len(snapshots)} snapshots; {first} rows in the first, {now} now")
    return {"snapshots": len(snapshots), "rows_first": first, "rows_now": now}


def _export(folder: Path, say: Say) -> dict[str, Any]:
    config = {
        "identifier": "export",
        "metadata": {
            "source": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG},
            "target": {"name": "export", "format": "CSV", "path": "export/rides.csv"},
        },
    }
    path = folder / "export.json"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    result = run_config(path)
    say(f"   {result.rows_written} rows in {folder / 'export' / 'rides.csv'}")
    return {"rows": result.rows_written, "path": str(folder / "export" / "rides.csv")}


def _iceberg(folder: Path, name: str) -> Any:
    from ldp_core.targets.formats import Iceberg

    return Iceberg(name, CATALOG, base_dir=folder)


def _rows(folder: Path, name: str) -> int:
    return int(_iceberg(folder, name).row_count())


DEMO = Demo(
    "taxi rides: load, upsert, partitions, checks, SQL, time travel, export",
    lambda folder, say: run_demo(folder, say=say),
)
"""Registered as ``taxi``."""
