"""Windows side by side: where they may be, the result is that of one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_core import table
from ldp_core.errors import Interrupted
from ldp_core.spi import TaskCall, TaskResult
from ldp_orchestration.backfilling import backfill
from ldp_orchestration.kinds.pipeline import OpenPipeline
from ldp_orchestration.turns import Turns


def told(result: Any) -> list[tuple[str, str, str | None]]:
    return [(str(one.window), one.state, one.outcome) for one in result.windows]


def snapshots(folder: Path, name: str = "rides") -> list[str]:
    """The windows in the order in which they were published."""
    listed = table(f"nyc.{name}", folder).snapshots()
    return [str(snap) for snap in listed]


def content(lake: Any, name: str = "rides") -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    found = table(f"nyc.{name}", lake.folder).to_arrow()
    return [(column.name, str(column.type)) for column in found.schema], lake.rows(name)


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_the_result_does_not_depend_on_the_number_of_jobs(lake: Any, tmp_path: Path, mode: str) -> None:
    seen = []
    for jobs in (1, 4):
        other = type(lake)(tmp_path / str(jobs))
        other.folder.mkdir()
        other.drops(7, missing=(4,))
        # New columns, and one whose later values another type would have met.
        (other.folder / "rides_2026-08-02.csv").write_text("id,ts,tip\n1,2026-08-02 10:00:00,3\n")
        (other.folder / "rides_2026-08-03.csv").write_text("id,ts,note\n2,2026-08-03 10:00:00,x\n")
        (other.folder / "rides_2026-08-06.csv").write_text("id,ts,tip\n5,2026-08-06 10:00:00,none\n")
        window = {"size": "day", "column": "ts"}
        file = other.pipeline(mode=mode, window=window)
        result = backfill(file, "2026-08-01", "2026-08-08", jobs=jobs)
        assert result.notes == ()
        seen.append((told(result), *content(other)))
    assert seen[0] == seen[1]
    assert [outcome for _, _, outcome in seen[0][0]].count("failed") == 2


def test_a_workflow_whose_tasks_do_not_meet_runs_side_by_side(lake: Any) -> None:
    for name in ("a", "b"):
        lake.pipeline(name)
        lake.drops(5, name)
    file = lake.workflow(
        [{"id": "a", "pipeline": "a.json"}, {"id": "b", "pipeline": "b.json", "depends_on": ["a"]}]
    )
    at_once: list[int] = []
    running: set[object] = set()

    def hear(window: object, move: Any) -> None:
        running.add((window, move.id)) if move.state == "running" else running.discard((window, move.id))
        at_once.append(len(running))

    result = backfill(file, "2026-08-01", "2026-08-06", jobs=3, on_task=hear)
    assert [one.outcome for one in result.windows] == ["published"] * 5
    assert 2 <= max(at_once) <= 3
    assert [len(lake.rows(name)) for name in ("a", "b")] == [5, 5]


def test_a_task_that_reads_what_another_writes_keeps_windows_apart(lake: Any) -> None:
    lake.drops(3, "a")
    lake.pipeline("a")
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    source = {"name": "a", "format": "ICEBERG", "catalog": catalog}
    lake.pipeline("b", source=source, mode="overwrite", window={"size": "day", "column": "ts"})
    file = lake.workflow(
        [{"id": "a", "pipeline": "a.json"}, {"id": "b", "pipeline": "b.json", "depends_on": ["a"]}]
    )
    result = backfill(file, "2026-08-01", "2026-08-04", jobs=3)
    assert "task 'b' reads nyc.a, which a task of the workflow writes" in result.notes[0]
    assert [one.outcome for one in result.windows] == ["published"] * 3


@pytest.mark.parametrize("mode", ["upsert", "overwrite"])
def test_what_may_touch_rows_of_other_windows_runs_one_at_a_time(lake: Any, mode: str) -> None:
    lake.drops(3)
    target = {
        "name": "rides",
        "format": "ICEBERG",
        "write_mode": mode,
        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        **({"join_cols": ["id"]} if mode == "upsert" else {}),
    }
    result = backfill(lake.pipeline(target=target), "2026-08-01", "2026-08-04", jobs=3)
    assert "task 'rides' may not run for several windows at once" in result.notes[0]
    assert [one.outcome for one in result.windows] == ["published"] * 3


def test_an_interrupt_stops_what_runs_and_the_same_call_goes_on(
    lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.drops(6)
    file = lake.pipeline()
    real = OpenPipeline.run
    waiting = threading.Event()

    def run(self: OpenPipeline, call: TaskCall) -> TaskResult:
        if call.window is not None and call.window.start.day == 3:
            waiting.set()
            assert call.turn is not None
            while True:  # never ends by itself: the engine would be interrupted here
                time.sleep(0.01)
                looks[0]()
        return real(self, call)

    looks: list[Any] = []

    def stop(one: object, number: int, total: int) -> None:
        waiting.wait()
        raise Interrupted("stop")

    from ldp_orchestration.workers import Workers

    look = Workers.look
    monkeypatch.setattr(OpenPipeline, "run", run)
    monkeypatch.setattr(Workers, "start", _noting(looks, Workers.start))
    began = time.monotonic()
    with pytest.raises(Interrupted):
        backfill(file, "2026-08-01", "2026-08-07", jobs=3, on_window=stop)
    assert time.monotonic() - began < 20
    assert look is Workers.look
    monkeypatch.undo()
    again = backfill(file, "2026-08-01", "2026-08-07", jobs=3)
    assert {one.outcome for one in again.windows} == {"skipped", "published"}
    assert [row["id"] for row in lake.rows()] == [0, 1, 2, 3, 4, 5]


def _noting(looks: list[Any], start: Any) -> Any:
    def noting(self: Any, work: Any) -> None:
        looks.append(self.look)
        start(self, work)

    return noting


@given(st.permutations(range(6)), st.data())
def test_turns_come_in_order_whatever_the_order_of_the_ends(ends: list[int], data: st.DataObject) -> None:
    turns = Turns(["a", "b"])
    ended: set[int] = set()
    for window in ends:
        turns.ended(window, "a")
        if data.draw(st.booleans()):
            turns.ended(window)  # the end of a window is that of all its tasks
        ended.add(window)
        for other in range(7):
            assert _may(turns, other, "a") == (set(range(other)) <= ended)


def _may(turns: Turns, window: int, task: str) -> bool:
    class Stop(Exception):
        pass

    def look() -> None:
        raise Stop

    turns._changed.wait = lambda timeout=None: True  # type: ignore[method-assign]
    try:
        turns.wait(window, task, look)
    except Stop:
        return False
    return True


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    before = threading.active_count()
    yield
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before
