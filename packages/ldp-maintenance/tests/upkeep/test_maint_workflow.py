"""A workflow that loads a table and looks after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main
from ldp_core.events.jsonl import read

WINDOW = ("--window", "2026-08-01/2026-08-02")


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes ``night.json``: ``load``, then ``tidy`` with what is given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("ride_id,at\n1,2026-08-01 10:00:00\n")
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {"name": "rides", "format": "ICEBERG", "write_mode": "append", "catalog": catalog},
        "window": {"size": "day", "column": "at"},
    }
    (tmp_path / "c.json").write_text(json.dumps({"identifier": "rides", "metadata": metadata}))

    def write(**tidy: Any) -> Path:
        tasks = [
            {"id": "load", "pipeline": "c.json"},
            {"id": "tidy", "maintain": {"config": "c.json", **tidy}, "depends_on": ["load"]},
        ]
        upper = {"window": {"size": "day"}}
        body = {"kind": "Workflow", "identifier": "night", "metadata": upper, "tasks": tasks}
        (tmp_path / "night.json").write_text(json.dumps(body))
        return tmp_path

    return write


def test_a_table_is_loaded_and_looked_after(night: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = night(expire=7, apply=True)
    assert main(["workflow", "plan", "night.json", *WINDOW]) == 0
    assert main(["workflow", "run", "night.json", *WINDOW]) == 0
    assert "tidy: succeeded" in capsys.readouterr().out
    # Nothing was old enough, so the table was left as it is and no event tells of it.
    assert not [
        event for event in read(folder / ".ldp" / "events.jsonl") if event["type"] == "table.maintained"
    ]


def test_its_keys_outlive_the_upkeep(night: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = night(apply=True)
    for _ in range(2):
        assert main(["run", "c.json"]) == 0
    assert main(["workflow", "run", "night.json", *WINDOW]) == 0
    maintained = [one for one in read(folder / ".ldp" / "events.jsonl") if one["type"] == "table.maintained"]
    assert [one["payload"]["task"] for one in maintained] == ["tidy"]
    assert main(["maintain", "c.json", "--expire", "0", "--apply"]) == 0
    capsys.readouterr()
    assert main(["run", "c.json", *WINDOW]) == 0
    assert "skipped" in capsys.readouterr().out
