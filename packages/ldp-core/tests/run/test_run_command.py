"""``ldp run``, ``ldp preview``, ``ldp pipelines`` and ``ldp demo`` as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main

Project = Callable[..., Path]
BAD = [{"check": "range", "column": "fare", "min": 6}]


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_one_config_prints_what_was_read_and_written(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(project())]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("c: read 3 rows, wrote 3 rows in ")
    assert lines[1].startswith("  target nyc.rides: append, 0 -> 3 rows, snapshot ")


def test_losses_are_printed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"t": pa.array([1_000_000_001], pa.timestamp("ns"))}), "r.parquet")
    source = {"name": "rides", "format": "PARQUET", "path": "r.parquet"}
    assert main(["run", str(project(source=source))]) == 0
    out = capsys.readouterr().out
    assert "t: timestamp[ns] as timestamp" in out
    assert "1 value changed" in out


def test_a_folder_stops_at_the_first_failure_and_says_what_did_not_run(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project("a", target={"name": "a"})
    project("b", target={"name": "b"}, quality=BAD)
    project("c", target={"name": "c"})
    assert main(["run", ".", "--json"]) == 3
    assert [run["status"] for run in told(capsys)["runs"]] == ["published", "blocked_quality", "not_run"]
    assert main(["run", ".", "--json", "--keep-going"]) == 3
    assert [run["status"] for run in told(capsys)["runs"]] == ["published", "blocked_quality", "published"]
    project("d", source={"name": "x", "format": "CSV", "path": "nothing.csv"})
    assert main(["run", ".", "--json", "--keep-going"]) == 1
    assert told(capsys)["exit_code"] == 1


def test_no_config_runs_when_one_is_wrong(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project("a", target={"name": "a"})
    project("b", target={"name": "b"}, qualty=[])
    assert main(["run", "."]) == 1
    assert "metadata.qualty" in capsys.readouterr().err
    assert not Path("wh").exists()


def test_json_of_a_blocked_run_carries_the_report(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(project(quality=BAD)), "--json"]) == 3
    error = told(capsys)["error"]
    assert error["code"] == "data_quality"
    assert error["report"]["results"][0]["failing_rows"] == 1


def test_an_unknown_mode_is_refused_before_anything(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(project()), "--mode", "merge"]) == 1
    assert "merge" in capsys.readouterr().err
    assert main(["run", str(project()), "--mode", "upsert"]) == 1
    assert "join_cols" in capsys.readouterr().err
    assert not Path("wh").exists()


def test_preview_shows_rows_and_verdict_and_creates_nothing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    config = project(quality=BAD)
    files = sorted(Path.cwd().iterdir())
    assert main(["preview", str(config), "--limit", "2"]) == 3
    out, err = capsys.readouterr()
    assert "2026-08-02 00:00:00" in out
    assert "(2 of 3 rows)" in out
    assert "range(fare)" in err
    assert main(["preview", str(project()), "--json", "--limit", "1"]) == 0
    body = told(capsys)
    assert body["rows"] == [{"ride_id": 1, "pickup_ts": "2026-08-01T10:00:00", "fare": 5.5}]
    assert body["schema"] == {"ride_id": "int64", "pickup_ts": "timestamp[us]", "fare": "double"}
    assert sorted(Path.cwd().iterdir()) == files


def test_preview_shows_the_rows_of_a_window(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    fresh = [{"check": "freshness", "column": "pickup_ts", "max_age_hours": 24}]
    config = str(project(window={"size": "day", "column": "pickup_ts"}, quality=fresh))
    assert main(["preview", config, "--window", "2026-08-02/2026-08-03", "--json"]) == 0
    assert [row["ride_id"] for row in told(capsys)["rows"]] == [2, 3]
    source = {"name": "rides", "format": "CSV", "path": "{window_start:r}.csv"}
    config = str(project(source=source))
    assert main(["preview", config]) == 1
    assert "needs a window" in capsys.readouterr().err
    assert main(["preview", config, "--window", "2026-08-02/2026-08-03"]) == 0
    assert not Path("wh").exists()


def test_preview_shows_drift_against_the_table(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(project())]) == 0
    snapshot = sorted(Path("wh").rglob("*"))
    config = project(csv="ride_id,pickup_ts,fare\nx,2026-08-01 10:00:00,5.5\n")
    assert main(["preview", str(config)]) == 1
    err = capsys.readouterr().err
    assert "ride_id" in err
    assert "'x'" in err
    assert sorted(Path("wh").rglob("*")) == snapshot


def test_pipelines_lists_what_is_installed_and_who_offers_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipelines", "--json"]) == 0
    body = told(capsys)
    assert {"name": "CSV", "packages": ["ldp-core"]} in body["sources"]
    assert {"source": "XLSX", "target": "PARQUET"} in body["routes"]
    assert main(["pipelines"]) == 0
    assert "ICEBERG" in capsys.readouterr().out


def test_the_demo_does_its_eight_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--workdir", str(tmp_path / "demo"), "--json"]) == 0
    found = told(capsys)
    assert found["modes"] == {"append": [1000, 2000], "overwrite": [1000, 1000]}
    assert found["upsert"]["rows_after"] == 1050
    assert found["upsert"]["written_again"] == 0
    assert found["partitions"] == {"rows": 1000, "files": 7}
    assert found["quality"] == {"passed": True, "blocked": True, "rows_after": 1000}
    assert sum(city["rides"] for city in found["query"]["cities"]) == 1050
    assert found["time_travel"]["rows_first"] == 1000
    assert found["export"]["rows"] == 1050
    assert (tmp_path / "demo" / "export" / "rides.csv").exists()
    assert found["duration_s"] < 60

    assert main(["demo", "nosuch"]) == 1
    assert "taxi" in capsys.readouterr().err
    assert main(["demo", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert any(line.startswith("taxi: ") for line in listed)  # other packages bring more
