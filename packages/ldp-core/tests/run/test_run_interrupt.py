"""A run that is stopped from outside leaves the table as it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ldp_core.events import jsonl
from ldp_core.events.fold import fold_runs
from ldp_core.run.registered import run_config
from ldp_core.targets.formats import Iceberg

Project = Callable[..., Path]
SLOW = "SELECT ride_id, pickup_ts, fare FROM source, range(400000000) AS r(i) WHERE i % 400000000 = ride_id"
SILENT = "SELECT count(*) AS n FROM range(3000000) AS a(x), range(3000000) AS b(y) WHERE (x * y) % 7 = 3"


@pytest.mark.parametrize("sql", [SLOW, SILENT])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_discards_what_was_staged(project: Project, number: signal.Signals, sql: str) -> None:
    run_config(project())
    table = Iceberg("rides", {"identifier": "nyc", "warehouse_path": "wh"})
    before = [item["snapshot_id"] for item in table.snapshots()]
    files = sorted(path for path in Path("wh").rglob("*.parquet"))
    slow = project(transforms=[{"sql": sql}], observability={"sinks": ["jsonl"]})
    process = subprocess.Popen(
        [sys.executable, "-m", "ldp_cli", "run", str(slow), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(Path("wh").rglob("staged/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert [item["snapshot_id"] for item in table.snapshots()] == before
    assert sorted(path for path in Path("wh").rglob("*.parquet")) == files
    error = json.loads(out)["error"]
    assert (error["code"], error["retriable"]) == ("interrupted", True)
    state = fold_runs(jsonl.read(Path(".ldp/events.jsonl")))[0]
    assert (state.status, state.code, state.retriable) == ("failed", "interrupted", True)
    assert state.error == "the run was interrupted"
