"""Tasks side by side: the result is that of one by one, and an interrupt stops soon and whole."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import Interrupted
from ldp_orchestration import run_workflow
from ldp_orchestration.model import TaskMove
from ldp_orchestration.workers import Workers, side_by_side

WINDOW = "2026-08-01/2026-08-02"


def _diamond(folder: Any) -> Path:
    """``a`` fails, ``e`` is blocked; ``b`` and ``c`` need ``z``, ``d`` needs both."""
    needs = {"z": [], "b": ["z"], "c": ["z"], "d": ["b", "c"], "a": [], "x": ["a"], "e": []}
    for name in needs:
        folder.pipeline(name, **({"quality": [{"check": "row_count", "min": 9}]} if name == "e" else {}))
        if name != "a":
            folder.source(name)
    tasks = [{"id": name, "pipeline": f"{name}.json", "depends_on": before} for name, before in needs.items()]
    found: Path = folder.workflow(tasks)
    return found


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_the_result_does_not_depend_on_jobs(folder: Any, jobs: int) -> None:
    lock = threading.Lock()
    inside: list[str] = []

    def heard(move: TaskMove) -> None:
        assert lock.acquire(blocking=False), "two threads at once"
        inside.append(move.id)
        lock.release()

    result = run_workflow(_diamond(folder), WINDOW, jobs=jobs, on_task=heard)
    assert [(task.id, task.status, task.attempts) for task in result.tasks] == [
        ("z", "published", 1),
        ("b", "published", 1),
        ("c", "published", 1),
        ("d", "published", 1),
        ("a", "failed", 1),
        ("x", "upstream_failed", 0),
        ("e", "blocked_quality", 1),
    ]
    assert result.exit_code == 1
    assert [folder.rows(name) for name in "zbcd"] == [2, 2, 2, 2]
    ends = [event for event in folder.events() if event["type"] == "run.finished"]
    assert len({event["run_id"] for event in ends}) == 6
    assert set(inside) == {task.id for task in result.tasks}


def test_tasks_about_one_table_run_as_they_do_one_by_one(folder: Any) -> None:
    """Each overwrites what the one before wrote: the last one of the file stands, however many jobs."""
    for name in ("one", "two", "three"):
        target = {"name": "same", "write_mode": "overwrite"}
        folder.pipeline(name, target=target)
        folder.source(name, text=f"id,v\n1,{name}\n")
    reader = {"name": "same", "format": "ICEBERG", "catalog": {"identifier": "nyc", "warehouse_path": "wh"}}
    folder.write(
        "out.json",
        {
            "identifier": "out",
            "metadata": {"source": reader, "target": {"name": "o", "format": "CSV", "path": "out.csv"}},
        },
    )
    names = ["one", "two", "out", "three"]
    path = folder.workflow([{"id": name, "pipeline": f"{name}.json"} for name in names])
    assert run_workflow(path, WINDOW, jobs=4).counts() == {"published": 4}
    assert (folder.path / "out.csv").read_text() == "id,v\n1,two\n"
    from ldp_core import table

    assert table("nyc.same", folder.path / "one.json").to_arrow()["v"].to_pylist() == ["three"]


def test_work_side_by_side_gives_every_result_and_no_more_than_jobs_at_once() -> None:
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()

    def work(number: int) -> int:
        with lock:
            running.append(number)
            most.append(len(running))
        time.sleep(0.01)
        with lock:
            running.remove(number)
        return number

    pieces = ((lambda number=number: work(number)) for number in range(20))
    assert sorted(side_by_side(pieces, 3)) == list(range(20))
    assert max(most) <= 3


def test_an_error_stops_the_work_that_waits() -> None:
    made: Workers[int] = Workers()

    def waits() -> int:
        while True:
            made.look()
            time.sleep(0.01)

    def fails() -> int:
        raise ValueError("no")

    def both() -> None:
        with made:
            made.start(waits)
            made.start(fails)
            made.ended()

    with pytest.raises(ValueError, match="no"):
        both()
    assert made.left() == []
    with pytest.raises(Interrupted):
        made.look()


def test_work_above_that_stops_ends_a_run_that_waits(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", "b", without=("a",), retries={"max_attempts": 9, "delay_s": 60})
    stop = threading.Event()
    began = time.monotonic()

    def look() -> None:
        if stop.is_set():
            raise Interrupted("stopped")

    threading.Timer(1, stop.set).start()
    with pytest.raises(Interrupted):
        run_workflow(path, WINDOW, jobs=2, look=look, random=lambda: 0.9)
    assert time.monotonic() - began < 20
    last = folder.events()[-1]
    assert (last["type"], last["payload"]["status"]) == ("workflow.finished", "incomplete")
    assert [task["status"] for task in last["payload"]["tasks"]] == ["failed", "not_run"]


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_an_interrupt_stops_soon_and_leaves_nothing_half_written(folder: Any, jobs: int) -> None:
    names = ["a", "b", "c", "d"]
    for name in names:
        sql = "SELECT sum(a.range * b.range) AS v FROM range(400000) a, range(400000) b, source LIMIT 5"
        folder.pipeline(name, transforms=[{"sql": sql}])
        folder.source(name)
    path = folder.workflow([{"id": name, "pipeline": f"{name}.json"} for name in names])
    command = [sys.executable, "-c", "from ldp_cli.main import main; raise SystemExit(main())"]
    command += ["workflow", "run", str(path), "--window", WINDOW, "--jobs", str(jobs)]
    process = subprocess.Popen(command, cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started = {"run.started"}
    deadline = time.monotonic() + 60
    while len([1 for event in folder.events() if event["type"] in started]) < jobs:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        output = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, output
    assert time.monotonic() - began < 20
    last = folder.events()[-1]
    assert (last["type"], last["payload"]["status"]) == ("workflow.finished", "incomplete")
    statuses = [task["status"] for task in last["payload"]["tasks"]]
    assert statuses == ["failed"] * jobs + ["not_run"] * (4 - jobs)
    assert all(folder.snapshots(name) == [] for name in names if (folder.path / "wh").exists())
    assert not list((folder.path / "wh").glob("**/*.parquet"))
