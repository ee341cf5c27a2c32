"""``ldp plan``: what it says, what it refuses, what it never does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main
from ldp_core.config import Config
from ldp_core.errors import ConfigError
from ldp_core.plan.explain import explain
from ldp_core.plan.find import find_configs
from ldp_core.run.runner import run

HEAVY = ("pyarrow", "duckdb", "pyiceberg", "sqlalchemy", "rich", "jsonschema", "pandas", "numpy", "fsspec")


def body(**metadata: Any) -> dict[str, Any]:
    return {
        "identifier": "rides",
        "metadata": {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {
                "name": "rides",
                "format": "ICEBERG",
                "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            },
            "quality": [{"check": "not_null", "columns": ["ride_id"]}],
            **metadata,
        },
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(body()))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> Any:
    assert main(["plan", *args, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_plan_follows_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = told(capsys, "c.json")
    assert first["valid"] is True
    assert first["state"] == {"exists": False, "rows": None, "snapshot_id": None}
    assert (first["route"], first["target"], first["write_mode"], first["catalog"], first["checks"]) == (
        "CSV -> ICEBERG",
        "nyc.rides",
        "append",
        "local",
        1,
    )
    assert [stage["stage"] for stage in first["stages"]] == ["read", "cast", "write", "check", "publish"]
    assert any("r.csv" in note for note in first["notes"])
    assert not (folder / "wh").exists()

    (folder / "r.csv").write_text("ride_id\n1\n2\n")
    assert main(["run", "c.json"]) == 0
    capsys.readouterr()
    second = told(capsys, "c.json", "--source")
    assert second["notes"] == []
    assert second["state"]["rows"] == 2
    assert isinstance(second["state"]["snapshot_id"], str)
    assert second["source_schema"] == {"ride_id": "int64"}
    assert main(["plan", "c.json"]) == 0
    assert "2 rows, snapshot" in capsys.readouterr().out


def test_a_table_that_cannot_be_read_is_not_called_absent(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "old").mkdir()
    for name in ("c.json", "r.csv"):
        (folder / "old" / name).write_text(json.dumps(body()) if name == "c.json" else "ride_id\n1\n")
    assert main(["run", "old/c.json"]) == 0
    (folder / "old").rename(folder / "new")
    capsys.readouterr()
    answer = told(capsys, "new/c.json")
    assert answer["state"] == {"exists": None, "rows": None, "snapshot_id": None}
    [note] = answer["notes"]
    assert note.startswith("a run cannot begin: nyc.rides was written below")
    assert main(["plan", "new/c.json"]) == 0
    assert "does not exist yet" not in capsys.readouterr().out
    assert main(["doctor", "new/c.json"]) == 1
    assert "its folder was moved to" in capsys.readouterr().out
    assert main(["tables", "new"]) == 0
    assert "warning: nyc.rides was written below" in capsys.readouterr().err


def test_every_problem_at_once_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.yaml").write_text(
        "identifier: rides\n"
        "metadata:\n"
        "  source: {name: r, format: CSV, path: r.csv}\n"
        "  target:\n"
        "    name: rides\n"
        "    format: ICEBERG\n"
        "    write_mod: append\n"
        "    write_mode: upsert\n"
        "    catalog: {identifier: nyc, warehouse_path: wh}\n"
        "  quality:\n"
        "    - {check: range, column: fare, typo: 1}\n"
    )
    answer = told(capsys, "c.yaml", code=1)
    assert answer["valid"] is False
    assert len(answer["errors"]) == len(answer["problems"])
    lines = {problem["key"]: problem["line"] for problem in answer["problems"]}
    assert lines["metadata.target.write_mod"] == 7
    assert lines["metadata.target.join_cols"] in (4, 5, 8)
    assert any(key.startswith("metadata.quality") and line == 11 for key, line in lines.items())
    assert main(["plan", "c.yaml"]) == 1
    assert "c.yaml:7: metadata.target.write_mod" in capsys.readouterr().out


@pytest.mark.parametrize(
    "changes",
    [
        {"qualty": []},
        {"quality": [{"check": "nosuch"}]},
        {"quality": {"on_failure": "explode", "checks": []}},
        {"source": {"name": "r", "format": "AVRO", "path": "x"}},
        {"source": {"name": "r", "format": "CSV"}},
        {"transforms": [{"sql": "SELECT 1", "python": "a:b"}]},
        {"transforms": [{"nosuch": 1}]},
        {"schedule": "not a schedule"},
        {
            "target": {
                "name": "t",
                "format": "ICEBERG",
                "catalog": {"type": "rest", "uri": "http://x", "token": "abc"},
            }
        },
        {"observability": {"sinks": ["nosuch"]}},
    ],
    ids=str,
)
def test_run_refuses_exactly_what_plan_refuses(folder: Path, changes: dict[str, Any]) -> None:
    config = Config.from_dict(body(**changes), base_dir=folder)
    explanation = explain(config)
    assert not explanation.valid
    with pytest.raises(ConfigError) as caught:
        run(config)
    assert {problem.key for problem in caught.value.problems} == {
        problem.key for problem in explanation.errors
    }
    assert not (folder / "wh").exists()


def test_a_plan_imports_nothing_heavy(folder: Path) -> None:
    (folder / "r.csv").write_text("ride_id\n1\n")
    assert main(["run", "c.json"]) == 0
    code = (
        "import sys\nfrom ldp_cli.main import main\nassert main(['plan', 'c.json']) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_folder_stands_for_its_configs(folder: Path) -> None:
    (folder / "b.yaml").write_text("identifier: b\nmetadata: {}\n")
    (folder / "flow.json").write_text('{"kind": "Workflow", "apiVersion": "ldp/v1"}')
    (folder / "data.json").write_text("[1, 2]")
    (folder / "lines.json").write_text('{"a": 1}\n{"a": 2}\n')
    (folder / "ldp.yaml").write_text("catalogs: {}\n")
    (folder / ".hidden.json").write_text("{}")
    assert [Path(path).name for path in find_configs([folder])] == ["b.yaml", "c.json"]
    (folder / "broken.json").write_text('{"identifier": "x",\n "metadata": {')
    assert [Path(path).name for path in find_configs([folder])] == ["b.yaml", "broken.json", "c.json"]
    (folder / "empty").mkdir()
    with pytest.raises(ConfigError, match="no pipeline config"):
        find_configs([folder / "empty"])
