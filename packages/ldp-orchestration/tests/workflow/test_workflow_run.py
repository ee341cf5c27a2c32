"""A run of a workflow: order, failure, resume, keys, events."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError, UsageError
from ldp_orchestration import load_workflow, plan_workflow, run_workflow
from ldp_orchestration.model import TaskMove

WINDOW = "2026-08-01/2026-08-02"


def _statuses(result: Any) -> dict[str, str]:
    return {task.id: task.status for task in result.tasks}


def test_a_window_is_published_once_under_the_key_of_the_plan(
    folder: Any, chain: Callable[..., Path]
) -> None:
    path = chain("a", "b")
    keys = {task["id"]: task["idempotency_key"] for task in plan_workflow(path, WINDOW).to_dict()["tasks"]}
    first = run_workflow(path, WINDOW)
    assert (first.status, first.exit_code, first.counts()) == ("succeeded", 0, {"published": 2})
    assert folder.snapshots("a")[-1]["ldp.idempotency-key"] == keys["a"]
    again = run_workflow(path, WINDOW)
    assert again.counts() == {"skipped_duplicate": 2}
    assert folder.rows("a") == folder.rows("b") == 2
    assert run_workflow(path, "2026-08-02/2026-08-03").exit_code == 1


def test_what_needs_a_failed_task_does_not_run_and_the_rest_does(folder: Any) -> None:
    for name in ("a", "b", "c", "d"):
        folder.pipeline(name)
        if name != "a":
            folder.source(name)
    path = folder.workflow(
        [
            {"id": "a", "pipeline": "a.json"},
            {"id": "b", "pipeline": "b.json", "depends_on": ["a"]},
            {"id": "c", "pipeline": "c.json", "depends_on": ["b"]},
            {"id": "d", "pipeline": "d.json"},
        ]
    )
    result = run_workflow(path, WINDOW)
    expected = {"a": "failed", "b": "upstream_failed", "c": "upstream_failed", "d": "published"}
    assert _statuses(result) == expected
    assert result.exit_code == 1
    failed = result.tasks[0]
    assert failed.error is not None
    assert failed.error.startswith("SourceNotFound: ")
    assert failed.retriable
    folder.source("a")
    resumed = run_workflow(path, WINDOW)
    expected = {"a": "published", "b": "published", "c": "published", "d": "skipped_duplicate"}
    assert _statuses(resumed) == expected


def test_a_gate_that_is_the_only_problem_gives_three(folder: Any, chain: Callable[..., Path]) -> None:
    pytest.importorskip("ldp_quality")
    path = chain("a", "b", retries={"max_attempts": 5, "delay_s": 0})
    folder.pipeline("a", quality=[{"check": "row_count", "min": 5}])
    result = run_workflow(path, WINDOW)
    assert _statuses(result) == {"a": "blocked_quality", "b": "upstream_failed"}
    assert (result.status, result.exit_code) == ("blocked_quality", 3)
    assert result.tasks[0].attempts == 1
    assert folder.snapshots("a") == []


def test_tasks_run_in_the_order_of_the_file_where_nothing_orders_them(folder: Any) -> None:
    names = ["z", "m", "a", "k"]
    for name in names:
        folder.pipeline(name)
        folder.source(name)
    tasks: list[dict[str, Any]] = [{"id": name, "pipeline": f"{name}.json"} for name in names]
    tasks[1]["depends_on"] = ["k"]
    begun: list[str] = []

    def heard(move: TaskMove) -> None:
        if move.state == "running":
            begun.append(move.id)

    result = run_workflow(folder.workflow(tasks), WINDOW, on_task=heard)
    assert begun == [task.id for task in result.tasks] == ["z", "a", "k", "m"]


def test_a_file_target_carries_no_key_and_is_written_each_time(folder: Any) -> None:
    folder.source("a")
    folder.pipeline("a", target={"format": "CSV", "path": "out.csv"})
    content = json.loads((folder.path / "a.json").read_text())
    content["metadata"]["target"] = {"name": "o", "format": "CSV", "path": "out.csv"}
    folder.write("a.json", content)
    path = folder.workflow([{"id": "a", "pipeline": "a.json"}])
    for _ in range(2):
        assert run_workflow(path, WINDOW).counts() == {"published": 1}
    assert (folder.path / "out.csv").read_text().count("\n") == 3


def test_a_dataset_config_runs_as_a_workflow_of_one_task(folder: Any) -> None:
    path = folder.pipeline("rides", observability={"sinks": ["jsonl"]})
    folder.source("rides")
    result = run_workflow(path, WINDOW)
    assert (result.workflow, result.counts()) == ("rides", {"published": 1})
    types = [event["type"] for event in folder.events()]
    assert types.count("run.started") == types.count("workflow.started") == 1


def test_events_tell_of_the_run_and_of_each_task(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", "b", without=("b",))
    result = run_workflow(path, WINDOW)
    events = folder.events()
    assert [event["type"] for event in events] == [
        "workflow.started",
        *("run.started", "run.extracted", "quality.evaluated", "run.published", "run.finished"),
        *("run.started", "run.failed", "run.finished"),
        "workflow.finished",
    ]
    first, last = events[0], events[-1]
    assert first["run_id"] == last["run_id"] == result.run_id
    assert [event["seq"] for event in (first, last)] == [0, 1]
    runs = {task["id"]: task["run_id"] for task in first["payload"]["tasks"]}
    assert runs == {task.id: task.run_id for task in result.tasks}
    assert first["payload"]["window"] == {"start": "2026-08-01T00:00:00Z", "end": "2026-08-02T00:00:00Z"}
    assert [task["status"] for task in last["payload"]["tasks"]] == ["published", "failed"]
    assert {event["payload"].get("task") for event in events[1:-1]} == {"a", "b"}


def test_sinks_of_the_workflow_hear_of_every_event(folder: Any, chain: Callable[..., Path]) -> None:
    sinks = [{"type": "jsonl", "path": "all.jsonl"}, "jsonl"]
    run_workflow(chain("a", observability={"sinks": sinks}), WINDOW)
    assert (folder.path / "all.jsonl").read_text() == (folder.path / ".ldp" / "events.jsonl").read_text()


def test_a_run_that_is_carried_on_keeps_its_ids_and_counts_up(
    folder: Any, chain: Callable[..., Path]
) -> None:
    path = chain("a", "b", without=("a",), retries={"max_attempts": 2, "delay_s": 0})
    first = run_workflow(path, WINDOW)
    assert [(task.attempt, task.attempts) for task in first.tasks] == [(2, 2), (0, 0)]
    folder.source("a")
    run_id = str(first.tasks[0].run_id)
    second = run_workflow(path, WINDOW, run_id=first.run_id, attempt=2, carried={"a": (run_id, 3)})
    assert (second.run_id, second.attempt) == (first.run_id, 2)
    assert (second.tasks[0].run_id, second.tasks[0].attempt, second.tasks[0].attempts) == (run_id, 3, 1)
    snapshot = folder.snapshots("a")[-1]
    assert (snapshot["ldp.run-id"], snapshot["ldp.attempt"]) == (run_id, "3")


def test_a_replace_loads_the_rows_of_the_window_again_once(folder: Any) -> None:
    text = "id,ts\n1,2026-08-01 10:00:00\n2,2026-08-02 10:00:00\n"
    window = {"size": "day", "column": "ts"}
    folder.write("r.csv", text)
    folder.pipeline("r", source={"name": "r", "format": "CSV", "path": "r.csv"}, window=window)
    path = folder.workflow([{"id": "r", "pipeline": "r.json"}])
    for each in (WINDOW, "2026-08-02/2026-08-03"):
        assert run_workflow(path, each).counts() == {"published": 1}
    folder.write("r.csv", text.replace("1,", "7,", 1) + "8,2026-08-01 11:00:00\n")
    assert run_workflow(path, WINDOW).counts() == {"skipped_duplicate": 1}
    replaced = run_workflow(path, WINDOW, replace=True)
    assert replaced.counts() == {"published": 1}
    assert folder.rows("r") == 3
    assert run_workflow(path, WINDOW, replace=True).counts() == {"skipped_duplicate": 1}
    found = load_workflow(path)
    assert replaced.window is not None
    assert found.opened["r"].done([replaced.window], replace=True) == [True]


def test_a_replace_without_a_window_column_runs_nothing(folder: Any, chain: Callable[..., Path]) -> None:
    with pytest.raises(ConfigError, match=r"no metadata\.window\.column"):
        run_workflow(chain("a"), WINDOW, replace=True)
    assert folder.events() == []


def test_nothing_runs_when_a_config_is_wrong(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", "b")
    folder.write("b.json", {"identifier": "b", "metadata": {}})
    with pytest.raises(ConfigError) as caught:
        run_workflow(path, WINDOW)
    assert len(caught.value.problems) == 2
    assert folder.snapshots("a") == []
    assert folder.events() == []


def test_keys_of_windows_are_found_in_one_go(folder: Any, chain: Callable[..., Path]) -> None:
    from ldp_core.window import parse_window

    found = load_workflow(chain("a"))
    windows = [parse_window(f"2026-08-0{day}/2026-08-0{day + 1}") for day in (1, 2, 3)]
    assert found.opened["a"].done(windows) == [False, False, False]
    assert not (folder.path / "wh").exists()
    folder.source("a", "2026-08-02")
    run_workflow(found, windows[1])
    assert found.opened["a"].done(windows) == [False, True, False]


def test_jobs_is_a_number_from_one(chain: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="jobs"):
        run_workflow(chain("a"), WINDOW, jobs=0)


def test_an_interrupt_that_a_library_swallows_ends_the_run_all_the_same(
    chain: Callable[..., Path], folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldp_core import _signals
    from ldp_core.errors import Interrupted
    from ldp_orchestration.kinds.pipeline import OpenPipeline

    def swallowed(self: Any, call: Any) -> Any:
        _signals.remember(True)  # as the shell does before it raises
        raise TypeError("isinstance() arg 2 must be a type")

    monkeypatch.setattr(OpenPipeline, "run", swallowed)
    monkeypatch.setattr(_signals._Asked, "came", False)
    with pytest.raises(Interrupted):
        run_workflow(chain("a", "b"), WINDOW)
    assert folder.events()[-1]["payload"]["status"] == "incomplete"
