"""What a window costs as windows grow, and what it costs to see that one is published."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from _data import workdir
from _measure import in_turn, ldp, report, run

START = datetime(2026, 1, 1, tzinfo=UTC)
SHOWN = (1, 2, 100, 300)
WAYS = str(Path(__file__).resolve().parent / "_ways.py")


def main(rows: int, runs: int) -> None:
    """300 tiny windows, 365 skips in one process, and one skip as a process."""
    del rows
    folder = workdir("windows")
    config = write_config(folder)
    print(
        f"\nwindows of 10 rows, one process\n{'window':>8} {'wall s':>8} {'cpu ms':>8} {'over a file ms':>15}"
    )
    for number in range(1, max(SHOWN) + 1):
        window = (START + timedelta(hours=number), START + timedelta(hours=number + 1))
        wall, cpu = load(folder, config, window)
        if number in SHOWN:
            _, bare = min(
                (load(folder, folder / "file.json", window) for _ in range(3)), key=lambda it: it[1]
            )
            print(f"{number:8} {wall:8.3f} {cpu * 1000:8.0f} {(cpu - bare) * 1000:15.0f}", flush=True)
    files = [path for path in (folder / "wh/nyc/rides/metadata").iterdir() if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"metadata of {max(SHOWN)} windows: {size:.1f} MB in {len(files)} files (10 MB at most)")
    skips(folder, config)
    first = f"{(START + timedelta(hours=1)).isoformat()}/{(START + timedelta(hours=2)).isoformat()}"
    ways: dict[str, Callable[[], Any]] = {
        "bare Python": lambda: run([sys.executable, WAYS, "nothing"], folder),
        "ldp run --window, published": lambda: run(ldp("run", str(config), "--window", first), folder),
    }
    report("a published window, process and all (0.3 s at most)", in_turn(ways, max(runs, 7)), "bare Python")


def skips(folder: Path, config: Path) -> None:
    """365 published windows, skipped in one process."""
    number = max(SHOWN)
    while number < 365:
        number += 1
        load(folder, config, (START + timedelta(hours=number), START + timedelta(hours=number + 1)))
    from ldp_core.api import run_config
    from ldp_core.config import Config

    wall, cpu = time.perf_counter(), time.process_time()
    loaded = Config.from_file(config)
    for number in range(1, 366):
        window = (START + timedelta(hours=number), START + timedelta(hours=number + 1))
        assert run_config(loaded, window=window).status == "skipped_duplicate"
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"365 published windows skipped in one process: {wall:.2f} s, {cpu:.2f} CPU s (1 s at most)")


def write_config(folder: Path) -> Path:
    """The config of hourly windows into a table, and the same into a file."""
    source = {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y%m%dT%H}.csv"}
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    targets = {
        "rides": {"name": "rides", "format": "ICEBERG", "catalog": catalog},
        "file": {"name": "rides", "format": "PARQUET", "path": "out.parquet"},
    }
    for name, target in targets.items():
        body = {"source": source, "target": target, "window": {"size": "hour"}}
        (folder / f"{name}.json").write_text(json.dumps({"identifier": name, "metadata": body}))
    (folder / "in").mkdir(exist_ok=True)
    return folder / "rides.json"


def load(folder: Path, config: Path, window: tuple[datetime, datetime]) -> tuple[float, float]:
    """Load a window; seconds of wall and of CPU."""
    from ldp_core.api import run_config

    lines = [f"{number},{window[0]:%Y-%m-%dT%H:%M:%S},NYC" for number in range(10)]
    (folder / "in" / f"{window[0]:%Y%m%dT%H}.csv").write_text("\n".join(["id,at,city", *lines]) + "\n")
    wall, cpu = time.perf_counter(), time.process_time()
    run_config(config, window=window)
    return time.perf_counter() - wall, time.process_time() - cpu
