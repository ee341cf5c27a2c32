"""What the status tells of workflows, tables and files that nothing schedules."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ldp_cli.main import main
from ldp_orchestration.backfilling import backfill
from ldp_orchestration.overview import Status, WorkflowStatus, status
from ldp_orchestration.run import run_workflow

HERE = str(Path(__file__).parents[1] / "schedule")
sys.path.insert(0, HERE)
try:
    from nightly_lake import FIRST, at, catching_up, config, drop, night, tick_at
finally:
    sys.path.remove(HERE)

SLA = {"warn_after": "1h", "error_after": "5h"}


def look(folder: Path, moment: datetime) -> Status:
    return status(folder, clock=at(moment))


def one(folder: Path, moment: datetime) -> WorkflowStatus:
    (found,) = look(folder, moment).workflows
    return found


def test_a_night_that_is_done(tmp_path: Path) -> None:
    config(tmp_path, sla=SLA, quality={"on_failure": "fail", "checks": [{"check": "row_count", "min": 1}]})
    drop(tmp_path, 0, rows=3)
    tick_at(tmp_path, night(0))
    found = one(tmp_path, night(0, hours=12))
    assert (found.status, found.last_status, found.quality) == ("succeeded", "succeeded", "passed")
    assert (found.lateness, found.sla_status) == (None, "ok")
    (table,) = found.tables
    assert (table.target, table.last and table.last.rows_written) == ("nyc.rides", 3)
    assert found.plan
    assert found.plan.next_fire == night(1)
    assert look(tmp_path, night(0, hours=12)).exit_code == 0


@pytest.mark.parametrize(("hours", "word", "code"), [(0.5, "ok", 0), (2, "late", 0), (6, "breach", 2)])
def test_how_late_it_is(tmp_path: Path, hours: float, word: str, code: int) -> None:
    config(tmp_path, sla=SLA)
    found = look(tmp_path, night(0, hours=hours))
    (row,) = found.workflows
    assert (row.lateness, row.sla_status) == (timedelta(hours=hours), word)
    assert found.exit_code == code


def test_nights_that_fail_one_after_the_other_are_as_late_as_the_first(tmp_path: Path) -> None:
    config(tmp_path, sla={"error_after": "30h"})
    drop(tmp_path, 0)
    for day in range(3):
        tick_at(tmp_path, night(day))
    found = one(tmp_path, night(2))
    assert (found.lateness, found.sla_status) == (timedelta(days=1), "ok")
    assert one(tmp_path, night(3)).sla_status == "breach"


def test_a_gate_that_blocks_is_the_verdict(tmp_path: Path) -> None:
    config(tmp_path, quality={"on_failure": "fail", "checks": [{"check": "row_count", "min": 2}]})
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    found = one(tmp_path, night(0))
    assert (found.status, found.quality, found.last_status) == ("blocked", "blocked", "blocked")


def test_a_run_that_had_nothing_to_do_tells_nothing_of_the_table(tmp_path: Path) -> None:
    path = config(tmp_path, quality={"on_failure": "fail", "checks": [{"check": "row_count", "min": 1}]})
    drop(tmp_path, 0, rows=3)
    tick_at(tmp_path, night(0))
    window = one(tmp_path, night(0)).last_window
    for _ in range(2):
        assert run_workflow(path, window).counts() == {"skipped_duplicate": 1}
    found = one(tmp_path, night(0))
    assert (found.quality, [table.last and table.last.rows_written for table in found.tables]) == (
        "passed",
        [3],
    )
    (tmp_path / ".ldp" / "events.jsonl").unlink()
    run_workflow(path, window)
    (table,) = one(tmp_path, night(0)).tables
    assert table.last is not None
    assert table.last.status == "skipped_duplicate"


def test_without_checks_there_is_no_verdict(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    assert one(tmp_path, night(0)).quality is None


def test_a_night_that_is_blocked_is_told_of_after_a_later_one_succeeded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catching_up(tmp_path)
    inner = tmp_path / "cfg" / "rides.json"
    checks = '"quality": {"on_failure": "fail", "checks": [{"check": "row_count", "min": 2}]}'
    inner.write_text(inner.read_text().replace('"metadata": {', '"metadata": {' + checks + ", "))
    drop(tmp_path, 0)
    drop(tmp_path, 1, rows=2)
    tick_at(tmp_path, night(1))
    assert main(["status", str(tmp_path), "--now", "2100-08-03T12:00:00Z"]) == 0
    told = "nightly.json: 2100-08-01T00:00:00Z/2100-08-02T00:00:00Z is blocked by a gate"
    assert told in capsys.readouterr().out


def test_a_workflow_tells_of_each_table(tmp_path: Path) -> None:
    catching_up(tmp_path)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    found = one(tmp_path, night(0))  # the config that the workflow names is no row of its own
    assert found.file == "nightly.json"
    assert [(table.task, table.target, table.last and table.last.status) for table in found.tables] == [
        ("load", "nyc.rides", "published")
    ]


def test_files_without_a_schedule(tmp_path: Path) -> None:
    windowed = config(tmp_path, schedule=None)
    config(tmp_path, "plain", schedule=None, window=None)
    (tmp_path / "broken.json").write_text('{"identifier": "x", "metadata": {"source": 1, "target": 2}}')
    drop(tmp_path, 0)
    (found,) = look(tmp_path, night(0)).workflows
    assert (found.file, found.status, found.plan) == ("rides.json", None, None)
    backfill(windowed, FIRST, FIRST + timedelta(days=1), clock=at(night(0)))
    found = one(tmp_path, night(0))
    assert (found.status, found.last_window) == ("succeeded", "2100-08-01T00:00:00Z/2100-08-02T00:00:00Z")


def test_a_config_that_ran_by_itself(tmp_path: Path) -> None:
    config(tmp_path, "plain", schedule=None, window=None, observability={"sinks": ["jsonl"]})
    file = tmp_path / "plain.json"
    file.write_text(file.read_text().replace("{window_start:%Y-%m-%d}", "2100-08-01"))
    drop(tmp_path, 0, rows=2)
    assert look(tmp_path, night(0)).workflows == ()
    assert main(["run", str(file)]) == 0
    found = one(tmp_path, night(0))
    assert (found.status, found.run, found.tables[0].last and found.tables[0].last.rows_written) == (
        "published",
        None,
        2,
    )


def test_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config(tmp_path, sla=SLA)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    later = ["--now", "2100-08-05T12:00:00Z"]
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["status", ".", *later]) == 2
    wide = capsys.readouterr().out.splitlines()
    assert " ".join(wide[0].split()) == "file last window last run rows quality late next fire missed"
    assert wide[2].startswith("rides.json")
    assert "ldp backfill rides.json --from 2100-08-02 --to 2100-08-04" in wide[-1]
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["status", *later]) == 2
    narrow = capsys.readouterr().out
    assert "  next fire    2100-08-06T02:05:00Z" in narrow
    assert "  missed       2" in narrow
    assert main(["status", *later, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    (row,) = told["workflows"]
    assert (told["exit_code"], row["sla_status"], row["missed_in_all"]) == (2, "breach", 2)
    assert row["tables"][0]["rows_written"] == 1


def test_an_invalid_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({"kind": "Workflow", "metadata": {"schedule": "x"}}))
    assert main(["status", str(tmp_path)]) == 1
    assert "bad.json" in capsys.readouterr().err


def test_nothing_to_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(tmp_path)]) == 0
    assert "Nothing to tell" in capsys.readouterr().err


def test_a_ledger_that_cannot_be_read_is_the_trouble_of_its_own_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config(tmp_path)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    for name, schedule in (("scheduled", "5 2 * * *"), ("free", None)):
        (tmp_path / name).mkdir()
        config(tmp_path / name, name, schedule=schedule)
        (tmp_path / name / ".ldp" / "events.jsonl").mkdir(parents=True)
    found = look(tmp_path, night(0))
    assert [(one.file, one.last_status, one.error is None) for one in found.workflows] == [
        ("rides.json", "succeeded", True),
        ("scheduled/scheduled.json", None, False),
        ("free/free.json", None, False),
    ]
    assert found.exit_code == 1
    assert main(["status", str(tmp_path), "--now", "2100-08-02T12:00:00Z"]) == 1
    told = capsys.readouterr().out
    assert told.count("events.jsonl cannot be read: Is a directory") == 2


def test_a_contract_tells_how_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ldp_quality")
    file = catching_up(tmp_path)
    head = "apiVersion: v3.1.0\nkind: DataContract\nid: r\nversion: 1.0.0\nstatus: active\n"
    head += "schema:\n  - name: rides\n"
    rule = "    quality: [{{metric: rowCount, mustBeGreaterThan: {}}}]\n"
    (tmp_path / "r.odcs.yaml").write_text(head + rule.format(0))
    data = json.loads(file.read_text())
    contract = {"contract": "r.odcs.yaml", "target": "cfg/rides.json"}
    data["tasks"].append({"id": "agreed", "contract": contract, "depends_on": ["load"]})
    file.write_text(json.dumps(data))
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    load, agreed = one(tmp_path, night(0)).tables
    assert (load.status, agreed.status, agreed.quality) == ("published", "succeeded", None)
    assert main(["status", str(tmp_path), "--now", "2100-08-02T12:00:00Z"]) == 0
    told = capsys.readouterr().out
    assert "cfg/rides.json  succeeded" in told
    assert "1 row\n" in told
    (tmp_path / "r.odcs.yaml").write_text(head + rule.format(5))
    drop(tmp_path, 1)
    tick_at(tmp_path, night(1))
    _, agreed = one(tmp_path, night(1)).tables
    assert (agreed.status, agreed.quality) == ("blocked_quality", "blocked")
