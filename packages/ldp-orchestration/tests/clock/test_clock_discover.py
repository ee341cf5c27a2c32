"""What is scheduled under a folder."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError
from ldp_orchestration.discovery import LARGEST, Discovery, discover


def dataset(**more: Any) -> dict[str, Any]:
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "o_{window_start:%Y-%m-%d}.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
    }
    when = {"when": more.pop("when")} if "when" in more else {}
    return {"identifier": "rides", **when, "metadata": {**metadata, **more}}


def flow(config: str = "c.json", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "ldp/v1",
        "kind": "Workflow",
        "identifier": "w",
        "metadata": more,
        "tasks": [{"id": "a", "pipeline": config}],
    }


def write(folder: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))


def names(found: Discovery) -> tuple[list[tuple[str, str]], list[str]]:
    return [(one.file, one.kind) for one in found.found], [one.file for one in found.problems]


def test_what_is_found_and_what_is_left_out(tmp_path: Path) -> None:
    daily = dataset(schedule="5 2 * * *")
    yaml = (
        "kind: Workflow\nidentifier: y\nmetadata: {schedule: '@daily'}\ntasks: [{id: a, pipeline: c.json}]\n"
    )
    write(
        tmp_path,
        {
            "c.json": daily,
            "b/when.json": dataset(when="Daily"),
            "b/label.json": dataset(when="nightly"),
            "b/unscheduled.json": dataset(),
            "wf.yaml": yaml,
            "wf2.yml": yaml,
            "flow.json": flow(schedule="@hourly", window={"timezone": "Europe/Paris"}),
            "plain-flow.json": flow(),
            "other.json": {"kind": "Else", "metadata": {"schedule": "@daily"}},
            "list.json": [{"schedule": "@daily"}],
            "empty.json": "",
            "broken.json": '{"schedule": ',
            "job.yaml": "kind: CronJob\nspec:\n  schedule: '0 * * * *'\n",
            "two.yaml": "kind: CronJob\nschedule: x\n---\nkind: Job\n",
            "v1.metadata.json": daily,
            "big.json": json.dumps({**daily, "x-pad": "x" * LARGEST}),
            "data.txt": json.dumps(daily),
            ".hidden/c.json": daily,
            "venv/c.json": daily,
            "env/c.json": daily,
            "x/node_modules/c.json": daily,
            "x/site-packages/c.json": daily,
            "x/__pycache__/c.json": daily,
        },
    )
    found, problems = names(discover(tmp_path))
    assert found == [
        ("b/when.json", "Pipeline"),
        ("c.json", "Pipeline"),
        ("flow.json", "Workflow"),
        ("wf.yaml", "Workflow"),
        ("wf2.yml", "Workflow"),
    ]
    assert problems == []
    of = {one.file: one.workflow for one in discover(tmp_path).found}
    assert (of["flow.json"].zone, of["flow.json"].size) == ("Europe/Paris", "hour")
    assert of["b/when.json"].schedule == "@daily"


def test_a_scheduled_file_that_is_wrong_is_told_and_the_others_are_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "c.json": dataset(schedule="5 2 * * *"),
            "a.json": dataset(schedule="5 2 * *"),
            "d.json": dataset(schedule="5 2 * * *", windw={}),
            "e.json": flow(schedule="@daily", catchup=True),
            "f.json": flow("nowhere.json", schedule="@daily"),
            "g.json": '{"kind": "Workflow",\n "metadata": {"schedule": "@daily"},,}',
            "h.json": dataset(schedule=5),
            "i.json": dataset(schedule="0 0 */28 2 1#3"),
        },
    )
    found, problems = names(discover(tmp_path))
    assert found == [("c.json", "Pipeline")]
    assert problems == ["a.json", "d.json", "e.json", "f.json", "g.json", "h.json", "i.json"]
    of = {one.file: one.problems for one in discover(tmp_path).problems}
    assert all(of.values())
    assert of["a.json"][0].key == "metadata.schedule"
    assert of["g.json"][0].line == 2
    assert all(problem.severity == "error" for listed in of.values() for problem in listed)
    assert all(problem.file for listed in of.values() for problem in listed)


def test_files_are_named_as_the_folder_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"jobs/c.json": dataset(schedule="@daily")})
    monkeypatch.chdir(tmp_path)
    (one,) = discover(".").found
    assert (one.file, one.workflow.name) == ("jobs/c.json", "jobs/c.json")
    (one,) = discover("jobs").found
    assert (one.file, one.workflow.name) == ("c.json", "jobs/c.json")
    assert one.path == tmp_path / "jobs" / "c.json"


def test_links_are_not_followed_into_circles(tmp_path: Path) -> None:
    write(tmp_path, {"c.json": dataset(schedule="@daily")})
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere.json")
    assert names(discover(tmp_path)) == ([("c.json", "Pipeline")], [])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"c.json": dataset(schedule="@daily")})
    (tmp_path / "c.json").chmod(0)
    assert names(discover(tmp_path)) == ([], ["c.json"])


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"c.json": {}})
    with pytest.raises(ConfigError, match="is not there"):
        discover(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="is a file, not a folder"):
        discover(tmp_path / "c.json")
