"""50 workflows with a year of daily windows: a tick, a list, a status; and what a window costs a workflow."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from _data import workdir
from _measure import in_turn, ldp, report, run

WORKFLOWS = 50
START = datetime(2025, 8, 1, tzinfo=UTC)
DAYS = 365
NOW = (START + timedelta(days=DAYS, hours=3)).isoformat()
WAYS = str(Path(__file__).resolve().parent / "_ways.py")
CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
FIRST = "rides00"
FEW = 100


def main(rows: int, runs: int) -> None:
    """Build it, and measure whole processes."""
    del rows
    overhead(workdir("overhead"))
    folder = build(workdir("schedule"))
    ways: dict[str, Callable[[], Any]] = {
        "bare Python": lambda: run([sys.executable, WAYS, "nothing"], folder)
    }
    for words in (("schedule", "tick", "."), ("schedule", "list", "."), ("status", ".")):
        name = f"ldp {' '.join(words)}"
        ways[name] = lambda words=words: run(ldp(*words, "--now", NOW), folder)
    title = f"{WORKFLOWS} workflows x {DAYS} published windows, process and all (2 s at most)"
    report(title, in_turn(ways, max(runs, 3)), "bare Python")


def overhead(folder: Path) -> None:
    """Windows of one load of 10 rows without checks, as a workflow and each as a run of its own."""
    from ldp_core import run_config
    from ldp_orchestration.backfilling import backfill

    days = [START + timedelta(days=day) for day in range(FEW + 1)]
    costs = {}
    for way in ("a run", "a workflow"):
        place = folder / way.replace(" ", "-")
        (place / "in").mkdir(parents=True)
        for day in days:
            text = "\n".join(["id,city", *(f"{number},NYC" for number in range(10))])
            (place / "in" / f"{day:%Y-%m-%d}.csv").write_text(text + "\n")
        source = {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y-%m-%d}.csv"}
        target = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG}
        body = {"source": source, "target": target, "window": {"size": "day"}}
        config = place / "rides.json"
        config.write_text(json.dumps({"identifier": "rides", "metadata": body}))
        cpu = time.process_time()
        if way == "a run":
            for start, end in pairwise(days):
                run_config(config, window=f"{start:%Y-%m-%d}/{end:%Y-%m-%d}")
        else:
            assert backfill(config, days[0], days[-1]).counts()["published"] == FEW
        costs[way] = (time.process_time() - cpu) / FEW * 1000
    print(f"\na load of 10 rows, {FEW} windows: {costs['a run']:.0f} CPU ms as a run, ", end="")
    print(f"{costs['a workflow']:.0f} as a workflow (150 at most)", flush=True)


def build(folder: Path) -> Path:
    """One workflow is loaded day by day, and copied as if each had been loaded so."""
    from ldp_orchestration.backfilling import backfill

    write(folder, FIRST)
    (folder / "in").mkdir()
    for day in range(DAYS):
        lines = [f"{number},NYC" for number in range(10)]
        file = folder / "in" / f"{START + timedelta(days=day):%Y-%m-%d}.csv"
        file.write_text("\n".join(["id,city", *lines]) + "\n")
    file, end = folder / f"{FIRST}.json", START + timedelta(days=DAYS)
    cpu = time.process_time()
    assert backfill(file, START, end).counts()["published"] == DAYS
    loads, cpu = time.process_time() - cpu, time.process_time()
    assert backfill(file, START, end).counts()["skipped"] == DAYS
    skips = time.process_time() - cpu
    print(f"\nthe same with a check, over a year of windows: {loads / DAYS * 1000:.0f} CPU ms a window")
    print(f"the same, published: {skips / DAYS * 1000:.2f} CPU ms a window (3 at most)", flush=True)
    for number in range(1, WORKFLOWS):
        copy(folder, f"rides{number:02}")
    retell(folder / ".ldp" / "events.jsonl", [f"rides{number:02}" for number in range(WORKFLOWS)])
    return folder


def write(folder: Path, name: str) -> None:
    """A workflow that catches up; every other one is a scheduled config of its own."""
    body: dict[str, Any] = {
        "source": {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y-%m-%d}.csv"},
        "target": {"name": name, "format": "ICEBERG", "catalog": CATALOG},
        "quality": {"on_failure": "fail", "checks": [{"check": "row_count", "min": 1}]},
        "window": {"size": "day"},
    }
    schedule = {"schedule": "5 2 * * *", "sla": {"warn_after": "2h", "error_after": "1d"}}
    config = folder / f"{name}.json"
    if int(name[-1]) % 2:
        config.write_text(json.dumps({"identifier": name, "metadata": body | schedule}))
        return
    (folder / "cfg").mkdir(exist_ok=True)
    body["source"]["path"] = f"../{body['source']['path']}"
    body["target"]["catalog"] = CATALOG | {"warehouse_path": "../wh"}
    (folder / "cfg" / f"{name}.json").write_text(json.dumps({"identifier": name, "metadata": body}))
    more = {"catchup": True, "start": f"{START:%Y-%m-%d}", "window": {"size": "day"}}
    tasks = [{"id": name, "pipeline": f"cfg/{name}.json"}]
    whole = {"kind": "Workflow", "identifier": name, "metadata": schedule | more, "tasks": tasks}
    config.write_text(json.dumps(whole))


def copy(folder: Path, name: str) -> None:
    """The table, its keys and its events under another name; it has the same data files."""
    write(folder, name)
    with sqlite3.connect(folder / "wh" / "nyc_catalog.db") as catalog:
        query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = ?"
        (location,) = catalog.execute(query, (FIRST,)).fetchone()
        own = Path(location.removeprefix("file://"))
        text = own.read_text().replace(_tag(FIRST), _tag(name)).replace(FIRST, name)
        keys = dict(zip(_keys(FIRST), _keys(name), strict=True))
        text = re.sub(r"\b[0-9a-f]{64}\b", lambda found: keys.get(found[0], found[0]), text)
        if int(name[-1]) % 2:
            text = text.replace(f"/cfg/{name}.json", f"/{name}.json")
        place = folder / "wh" / "nyc" / name / "metadata" / own.name
        place.parent.mkdir(parents=True)
        place.write_text(text)
        row = ("nyc", "nyc", name, location.replace(FIRST, name), None, "TABLE")
        catalog.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, ?, ?)", row)


def retell(ledger: Path, names: list[str]) -> None:
    """The ledger as if all workflows had run night by night: each event once for each of them."""
    from ldp_core.events.jsonl import append

    nights: list[list[str]] = []
    for line in ledger.read_text().splitlines():
        if '"type":"workflow.started"' in line:
            nights.append([])
        nights[-1].append(line)
    ledger.unlink()
    for night in nights:
        append(ledger, *(event for name in names for event in events(night, name)))


def events(lines: list[str], name: str) -> Iterator[dict[str, Any]]:
    """Events of the first workflow, as another one's: ids that nothing else has."""
    for line in lines:
        event = json.loads(line.replace(FIRST, name))
        for key in ("run_id", "event_id"):
            event[key] = _other(event[key], name)
        for task in event["payload"].get("tasks") or ():
            task["run_id"] = _other(task["run_id"], name)
        yield event


def _other(id_: str, name: str) -> str:
    return f"{id_[:-2]}{int(name[-2:]):02x}"


def _keys(name: str) -> list[str]:
    from ldp_core.config.canonical import idempotency_key

    days = [START + timedelta(days=day) for day in range(DAYS + 1)]
    return [idempotency_key(name, f"nyc.{name}", *bounds) for bounds in pairwise(days)]


def _tag(name: str) -> str:
    return f"ldp.keys.{hashlib.sha256(name.encode()).hexdigest()[:12]}"
