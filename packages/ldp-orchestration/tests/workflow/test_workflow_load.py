"""Reading a workflow file or a dataset config: what it means, and every problem at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError
from ldp_orchestration import load_workflow
from ldp_orchestration.load import size_of, workflow_problems
from ldp_orchestration.model import Retries


def _task(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "pipeline": f"{name}.json", **more}


def _problems(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_workflow(path)
    return [f"{problem.key}: {problem.message}" for problem in caught.value.problems]


def test_a_workflow_file_says_its_tasks_windows_and_retries(folder: Any) -> None:
    tasks = [_task("a", retries={"max_attempts": 5}), _task("b", depends_on=["a", "a"])]
    path = folder.workflow(
        tasks,
        window={"size": "hour", "timezone": "Europe/Paris"},
        schedule="5 * * * *",
        catchup=True,
        start="2026-06-01",
        retries={"max_attempts": 2, "delay_s": 1},
        sla={"warn_after": "90m", "error_after": 7200},
    )
    found = load_workflow(path)
    assert (found.identifier, found.kind, found.zone, found.size) == (
        "night",
        "Workflow",
        "Europe/Paris",
        "hour",
    )
    assert found.retries == {"a": Retries(5, 1, 2.0), "b": Retries(2, 1, 2.0)}
    assert found.start == datetime(2026, 5, 31, 22, tzinfo=UTC)
    assert found.sla is not None
    assert (found.sla.warn_after, found.sla.error_after) == (5400, 7200)
    assert found.tasks[1].depends_on == ("a",)
    assert found.ledger == folder.path / ".ldp" / "events.jsonl"


def test_yaml_is_read_alike(folder: Any) -> None:
    path = folder.write(
        "night.yaml",
        "kind: Workflow\nidentifier: night\nwhen: daily\ntasks:\n  - {id: a, pipeline: a.json}\n",
    )
    found = load_workflow(path)
    assert (found.schedule, found.size, found.zone) == ("@daily", "day", "UTC")


def test_a_dataset_config_is_a_workflow_of_one_task(folder: Any) -> None:
    window = {"size": "day", "timezone": "Asia/Tokyo"}
    found = load_workflow(folder.pipeline("rides", window=window, retries={"max_attempts": 3}))
    assert [(task.id, task.kind) for task in found.tasks] == [("rides", "pipeline")]
    assert (found.kind, found.zone, found.size, found.schedule) == ("Pipeline", "Asia/Tokyo", "day", None)
    assert found.retries["rides"].max_attempts == 3
    assert workflow_problems(found) == []


@pytest.mark.parametrize(
    ("schedule", "size"),
    [
        ("@hourly", "hour"),
        ("0 * * * *", "hour"),
        ("@daily", "day"),
        (" 0 0 * * * ", "day"),
        ("@weekly", None),
        ("5 2 * * *", None),
        (None, None),
    ],
)
def test_a_schedule_may_mean_a_size(schedule: str | None, size: str | None) -> None:
    assert size_of(schedule) == size


@pytest.mark.parametrize(
    ("tasks", "problem"),
    [
        ([], "tasks: must not be empty"),
        ([_task("a"), _task("a")], "tasks[1].id: another task is called 'a' already"),
        ([_task("a", depends_on=["b"])], "tasks[0].depends_on[0]: no task is called 'b'"),
        ([_task("a", depends_on=["a"])], "tasks: depend on each other in a cycle: a -> a"),
        (
            [_task("c"), _task("a", depends_on=["b"]), _task("b", depends_on=["a", "c"])],
            "tasks: depend on each other in a cycle: a -> b -> a",
        ),
        (
            [{"id": "a", "pipeline": "a.json", "contract": {"contract": "c", "target": "t"}}],
            "tasks[0]: only one of",
        ),
        ([{"id": "a"}], "tasks[0]: needs exactly one of"),
        ([{"id": "a", "dbt": {"project": "p"}}], "tasks[0].dbt: needs ldp-dbt, which is not installed"),
        ([_task("a", retires={})], "tasks[0].retires: unknown key"),
        ([{"id": "a", "pipeline": 3}], "tasks[0].pipeline: must be a text"),
    ],
    ids=[
        "no-task",
        "id-twice",
        "unknown-id",
        "itself",
        "cycle",
        "two-kinds",
        "no-kind",
        "absent-kind",
        "unknown-key",
        "no-path",
    ],
)
def test_what_is_wrong_with_tasks_is_said(folder: Any, tasks: list[dict[str, Any]], problem: str) -> None:
    pytest.importorskip("ldp_quality")
    for name in ("a", "b", "c"):
        folder.pipeline(name)
    found = _problems(folder.workflow(tasks))
    assert len(found) == 1, found
    assert found[0].startswith(problem)


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        (
            {"window": {"size": "day", "column": "ts"}},
            "metadata.window.column: does not belong in a",
        ),
        ({"window": {"size": "week"}}, "metadata.window.size: must be one of"),
        ({"window": {"timezone": "Mars/One"}}, "metadata.window.timezone: unknown time zone 'Mars/One'"),
        ({"catchup": True}, "metadata.catchup: is true, and a catch-up needs metadata.start"),
        ({"start": "soon"}, "metadata.start: must be an ISO 8601 date or time"),
        ({"schedule": "61 * * * *"}, "metadata.schedule: '61' is no minute"),
        ({"retries": {"max_attempts": 0}}, "metadata.retries.max_attempts: must be at least 1"),
        ({"retries": {"delay_s": -1}}, "metadata.retries.delay_s: must be at least 0"),
        ({"retries": {"backoff": "x"}}, "metadata.retries.backoff: must be a number"),
        ({"sla": {"warn_after": "2h", "error_after": "1h"}}, "metadata.sla.error_after: must not be less"),
        (
            {"sla": {"warn_after": "soon"}},
            'metadata.sla.warn_after: must be a length such as 90m, 2h or 1d, not "soon"',
        ),
        ({"observability": {"sinks": ["nowhere"]}}, "metadata.observability.sinks[0]: "),
        ({"source": {}}, "metadata.source: unknown key"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_is_wrong_with_the_metadata_is_said(folder: Any, metadata: dict[str, Any], problem: str) -> None:
    folder.pipeline("a")
    found = _problems(folder.workflow([_task("a")], **metadata))
    assert len(found) == 1, found
    assert found[0].startswith(problem)


def test_every_problem_is_told_at_once_with_its_line(folder: Any) -> None:
    path = folder.write(
        "night.yaml",
        "kind: Workflow\n"
        "identifier: night\n"
        "metadata:\n"
        "  catchup: true\n"
        "  retries: {max_attempts: 0}\n"
        "tasks:\n"
        "  - {id: a, pipeline: a.json, depends_on: [b]}\n",
    )
    with pytest.raises(ConfigError) as caught:
        load_workflow(path)
    assert {(problem.key, problem.line) for problem in caught.value.problems} == {
        ("metadata.catchup", 4),
        ("metadata.retries.max_attempts", 5),
        ("tasks[0].depends_on[0]", 7),
        ("tasks[0].pipeline", 7),
    }


def test_every_cycle_is_told(folder: Any) -> None:
    needs = {"a": ["b"], "b": ["a"], "c": ["d"], "d": ["d", "c"]}
    for name in needs:
        folder.pipeline(name)
    found = _problems(folder.workflow([_task(name, depends_on=before) for name, before in needs.items()]))
    assert [text.rpartition(": ")[2] for text in found] == ["a -> b -> a", "c -> d -> c", "d -> d"]


def test_what_is_wrong_with_the_file_hides_nothing_of_its_configs(folder: Any) -> None:
    folder.write("a.json", {"identifier": "a", "metadata": {"source": 1}})
    folder.pipeline("b")
    tasks = [
        _task("a"),
        _task("b", depends_on=["none"]),
        _task("c"),
        {"id": "d", "pipeline": 3},
        {"id": "a", "pipeline": "a.json"},
        {"pipeline": "gone.json"},
    ]
    with pytest.raises(ConfigError) as caught:
        load_workflow(folder.workflow(tasks, schedule="61 * * * *"))
    told = {(Path(str(one.file)).name, one.key) for one in caught.value.problems}
    assert told >= {
        ("night.json", "metadata.schedule"),
        ("night.json", "tasks[1].depends_on[0]"),
        ("night.json", "tasks[2].pipeline"),
        ("night.json", "tasks[3].pipeline"),
        ("night.json", "tasks[4].id"),
        ("night.json", "tasks[5].id"),
        ("night.json", "tasks[5].pipeline"),
        ("a.json", "metadata.source"),
    }
    assert len(caught.value.problems) == len(set(caught.value.problems))
    assert all(one.line for one in caught.value.problems if str(one.file).endswith("night.json"))


def test_a_secret_is_refused_and_not_shown(folder: Any) -> None:
    path = folder.workflow([_task("a", pipeline="postgresql://me:hunter2hunter2@host/db")])
    with pytest.raises(ConfigError) as caught:
        load_workflow(path)
    assert "hunter2" not in str(caught.value)


def test_the_configs_of_tasks_are_checked_with_file_and_line(folder: Any, chain: Callable[..., Path]) -> None:
    path = chain("a", "b")
    body = json.loads((folder.path / "a.json").read_text())
    body["metadata"]["tarqet"] = 1
    folder.write("a.json", body)
    (folder.path / "b.json").unlink()
    found = workflow_problems(load_workflow(path))
    assert [problem.key for problem in found] == ["metadata.tarqet", "tasks[1].pipeline"]
    assert str(found[0].file).endswith("a.json")
    assert "config file not found" in found[1].message
    assert str(found[1].file).endswith("night.json")


def test_a_replace_needs_a_window_column(folder: Any, chain: Callable[..., Path]) -> None:
    found = load_workflow(chain("a"))
    assert workflow_problems(found) == []
    assert "no metadata.window.column" in workflow_problems(found, replace=True)[0].message
    folder.pipeline("a", window={"size": "day", "column": "ts"})
    assert workflow_problems(load_workflow(found.path), replace=True) == []


@pytest.mark.parametrize("kind", ["workflow", "Report", 3])
def test_another_kind_of_file_is_none(folder: Any, kind: Any) -> None:
    path = folder.write("x.json", {"kind": kind, "identifier": "x", "tasks": []})
    assert _problems(path)[0].startswith("kind: ")


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"who": None}, True),
        ({"x-note": 1}, True),
        ({"nmae": 1}, False),
        ({"tasks": []}, False),
        ({"tasks": [{"id": "a"}]}, False),
        ({"tasks": [{"id": "a", "pipeline": "a.json", "contract": {"contract": "c", "target": "t"}}]}, False),
        ({"tasks": [{"id": "a", "contract": {"contract": "c", "target": "t"}}]}, True),
        ({"metadata": {"window": {"timezone": "UTC"}}}, True),
        ({"metadata": {"retries": {"max_attempts": 0}}}, False),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_the_schema_for_editors_accepts_what_is_read(
    folder: Any, capsys: pytest.CaptureFixture[str], change: dict[str, Any], fits: bool
) -> None:
    pytest.importorskip("ldp_cli")
    from jsonschema import Draft202012Validator
    from ldp_cli.main import main

    assert main(["schema", "--kind", "Workflow"]) == 0
    validator = Draft202012Validator(json.loads(capsys.readouterr().out))
    data = {"kind": "Workflow", "identifier": "night", "tasks": [_task("a")], **change}
    assert validator.is_valid(data) is fits
    path = folder.write("night.json", data)
    if fits:
        load_workflow(path)
    else:
        assert _problems(path)
