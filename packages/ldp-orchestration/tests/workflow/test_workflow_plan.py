"""What a plan of a workflow tells, and that it looks and does not touch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config.canonical import idempotency_key
from ldp_core.window import parse_window
from ldp_orchestration import plan_workflow

WINDOW = "2026-08-01/2026-08-02"
READER = {"name": "a", "format": "ICEBERG", "catalog": {"identifier": "nyc", "warehouse_path": "wh"}}


def test_tasks_stand_in_order_with_their_keys_and_paths(folder: Any, chain: Callable[..., Path]) -> None:
    found = plan_workflow(chain("a", "b", schedule="5 2 * * *"), WINDOW).to_dict()
    assert (found["valid"], found["errors"], found["warnings"]) == (True, [], [])
    assert found["order"] == ["a", "b"]
    assert found["window"] == "2026-08-01T00:00:00Z/2026-08-02T00:00:00Z"
    first, second = found["tasks"]
    window = parse_window(WINDOW)
    assert first["idempotency_key"] == idempotency_key("a", "nyc.a", window.start, window.end)
    assert (first["target"], first["source_path"]) == ("nyc.a", "a_2026-08-01.csv")
    assert second["depends_on"] == ["a"]
    assert not (folder.path / "wh").exists()
    assert not (folder.path / ".ldp").exists()


def _reading(folder: Any, *, depends_on: list[str]) -> list[str]:
    folder.pipeline("a")
    target = {"name": "o", "format": "CSV", "path": "out.csv"}
    folder.write("x.json", {"identifier": "x", "metadata": {"source": READER, "target": target}})
    csv = {"name": "o", "format": "CSV", "path": "./out.csv"}
    folder.pipeline("y", source=csv)
    tasks = [
        {"id": "x", "pipeline": "x.json", "depends_on": depends_on},
        {"id": "a", "pipeline": "a.json"},
        {"id": "y", "pipeline": "y.json", "depends_on": ["x"] if depends_on else []},
    ]
    return [text for text in plan_workflow(folder.workflow(tasks), WINDOW).warnings if "reads" in text]


def test_a_task_that_reads_what_another_writes_needs_to_depend_on_it(folder: Any) -> None:
    table, file = _reading(folder, depends_on=[])
    assert "task 'x' reads the table nyc.a, which task 'a' writes" in table
    assert "task 'y' reads the file" in file
    assert _reading(folder, depends_on=["a"]) == []


def test_a_table_of_the_same_name_elsewhere_is_another_table(folder: Any) -> None:
    folder.pipeline("a", target={"catalog": {"identifier": "nyc", "warehouse_path": "elsewhere"}})
    target = {"name": "o", "format": "CSV", "path": "out.csv"}
    folder.write("x.json", {"identifier": "x", "metadata": {"source": READER, "target": target}})
    tasks = [{"id": "x", "pipeline": "x.json"}, {"id": "a", "pipeline": "a.json"}]
    found = plan_workflow(folder.workflow(tasks), WINDOW)
    assert not any("reads" in text for text in found.warnings)


def test_every_problem_of_every_config_is_told(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", "b")
    for name in ("a", "b"):
        folder.write(f"{name}.json", {"identifier": name, "metadata": {"source": 1}})
    found = plan_workflow(path, WINDOW)
    assert not found.valid
    files = {Path(str(problem.file)).name for problem in found.errors}
    assert files == {"a.json", "b.json"}
    assert found.to_dict()["tasks"][0]["idempotency_key"] is None


def test_a_file_whose_structure_is_wrong_is_a_plan_that_is_not_valid(folder: Any) -> None:
    found = plan_workflow(folder.workflow([])).to_dict()
    assert (found["valid"], found["tasks"], found["workflow"]) == (False, [], None)
    missing = plan_workflow(folder.path / "none.json")
    assert "config file not found" in str(missing.errors[0])


def test_a_window_that_is_none_is_a_problem(chain: Callable[..., Path]) -> None:
    found = plan_workflow(chain("a"), "2026-08-02/2026-08-01")
    assert "must be after its start" in str(found.errors[0])


def test_a_path_in_another_zone_than_the_windows_is_warned_of(folder: Any) -> None:
    folder.pipeline("a")
    folder.pipeline("b", window={"size": "day", "timezone": "Europe/Paris"})
    tasks = [{"id": name, "pipeline": f"{name}.json"} for name in ("a", "b")]
    path = folder.workflow(tasks, window={"size": "day", "timezone": "Europe/Paris"})
    found = plan_workflow(path, WINDOW)
    assert found.valid
    assert [text for text in found.warnings if "Europe/Paris" in text and "a.json" in text] == [
        *found.warnings
    ]
    assert [task["source_path"] for task in found.to_dict()["tasks"]] == [
        "a_2026-07-31.csv",
        "b_2026-08-01.csv",
    ]


def test_two_tasks_of_one_config_are_warned_of(folder: Any) -> None:
    folder.pipeline("a")
    folder.pipeline("b")
    tasks = [
        {"id": "x", "pipeline": "a.json"},
        {"id": "y", "pipeline": "./a.json", "depends_on": ["x"]},
        {"id": "b", "pipeline": "b.json"},
    ]
    found = plan_workflow(folder.workflow(tasks), WINDOW)
    assert found.valid
    (told,) = found.warnings
    assert told.startswith("tasks 'x' and 'y' run the same config, ./a.json")


def test_a_task_that_writes_nothing_is_on_what_it_looks_at(folder: Any) -> None:
    pytest.importorskip("ldp_quality")
    folder.pipeline("a")
    contract = (
        "apiVersion: v3.1.0\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\nschema: [{name: a}]\n"
    )
    folder.write("a.odcs.yaml", contract)
    tasks = [
        {"id": "a", "pipeline": "a.json"},
        {"id": "c", "contract": {"contract": "a.odcs.yaml", "target": "a.json"}, "depends_on": ["a"]},
    ]
    lines = plan_workflow(folder.workflow(tasks), WINDOW).lines()
    assert any(line.endswith("1. a: pipeline to nyc.a") for line in lines), lines
    assert any(line.endswith("2. c: contract on a.json, after a") for line in lines), lines
