"""A folder with a nightly config, and ticks at chosen moments, for the tests of schedules."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ldp_core import table
from ldp_core.errors import LDPError
from ldp_orchestration.schedule.tick import tick
from ldp_orchestration.schedule.ticked import TickResult, TickWindow

FIRST = datetime(2100, 8, 1, tzinfo=UTC)
"""The first day that has data; far ahead, so that no file is newer than a run by the clock of a test."""
CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}


def night(day: int, **more: float) -> datetime:
    """The fire that owns a day, the first being 0, and some time after it."""
    return FIRST + timedelta(days=day + 1, hours=2, minutes=5) + timedelta(**more)


def config(folder: Path, name: str = "rides", **metadata: Any) -> Path:
    """A scheduled config of one file a day."""
    body = {
        "source": {"name": name, "format": "CSV", "path": "d/{window_start:%Y-%m-%d}.csv"},
        "target": {"name": name, "format": "ICEBERG", "catalog": CATALOG},
        "window": {"size": "day"},
        "schedule": "5 2 * * *",
        **metadata,
    }
    kept = {key: value for key, value in body.items() if value is not None}
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"identifier": name, "metadata": kept}))
    return file


def catching_up(folder: Path, start: str = "2100-08-01", **metadata: Any) -> Path:
    """A workflow of one task that runs every window since a day; its config has no schedule."""
    inner = folder / "cfg"
    inner.mkdir(exist_ok=True)
    place = config(inner)
    data = json.loads(place.read_text())
    del data["metadata"]["schedule"]
    data["metadata"]["source"]["path"] = "../d/{window_start:%Y-%m-%d}.csv"
    data["metadata"]["target"]["catalog"] = {**CATALOG, "warehouse_path": "../wh"}
    place.write_text(json.dumps(data))
    said = {"schedule": "5 2 * * *", "window": {"size": "day"}, "catchup": True, "start": start, **metadata}
    tasks = [{"id": "load", "pipeline": "cfg/rides.json"}]
    file = folder / "nightly.json"
    file.write_text(json.dumps({"kind": "Workflow", "identifier": "w", "metadata": said, "tasks": tasks}))
    return file


def drop(folder: Path, *days: int, rows: int = 1) -> None:
    """The files of days; each row has the number of its day."""
    (folder / "d").mkdir(exist_ok=True)
    for day in days:
        stamp = f"{FIRST + timedelta(days=day):%Y-%m-%d}"
        lines = [f"{day},{stamp} 10:00:00"] * rows
        (folder / "d" / f"{stamp}.csv").write_text("\n".join(["id,ts", *lines]) + "\n")


def loaded(folder: Path, name: str = "rides") -> list[int]:
    """The days whose rows are in the table, in order; a day that was loaded twice stands twice."""
    try:
        return sorted(table(f"nyc.{name}", folder).to_arrow()["id"].to_pylist())
    except LDPError:
        return []


def at(moment: datetime) -> Callable[[], datetime]:
    """A clock that stands still."""
    return lambda: moment


def tick_at(folder: Path, moment: datetime, **options: Any) -> TickResult:
    """A tick by a clock that stands still."""
    return tick(folder, clock=at(moment), **options)


def only(result: TickResult) -> TickWindow:
    """The one window of a tick."""
    (one,) = result.workflows
    (window,) = one.windows
    return window
