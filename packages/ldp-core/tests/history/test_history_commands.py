"""`ldp runs` and `ldp commits`: by the command, on ledgers and tables that real runs made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_core import registry
from ldp_core.errors import LDPError, SourceNotFound
from ldp_core.events import jsonl
from ldp_core.events.model import make_event
from ldp_core.run.registered import run_config

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

Project = Callable[..., Path]
Ldp = Callable[..., str]
LEDGER = Path(".ldp/events.jsonl")
WINDOW = {"size": "day", "column": "pickup_ts"}
DAYS = ("2026-08-01/2026-08-02", "2026-08-02/2026-08-03")
EVENTS = {"sinks": ["jsonl"]}
needs_quality = pytest.mark.skipif(
    registry.find("ldp.gates", "quality") is None, reason="needs ldp-quality, which brings the gate"
)


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str]) -> Ldp:
    """Runs a command that succeeds; returns what it printed."""

    def run(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(list(words)) == code
        out, err = capsys.readouterr()
        return out if not code else out + err

    return run


def listed(ldp: Ldp, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(ldp("runs", *words, "--json"))["runs"]
    return found


def header(text: str) -> list[str]:
    return next(line for line in text.splitlines() if line.startswith("run_id")).split()


def test_runs_are_listed_newest_first(project: Project, ldp: Ldp) -> None:
    path = project(window=WINDOW)
    first, second = (run_config(path, window=day) for day in DAYS)
    text = ldp("runs", "c.json")
    assert text.startswith("Runs recorded in .ldp/events.jsonl, newest first:\n")
    assert header(text) == [
        "run_id", "attempt", "pipeline", "started_utc", "status", "rows_read", "rows_written", "checks",
        "snapshot_id", "idempotency_key", "duration_s",
    ]  # fmt: skip
    rows = [line.split() for line in text.splitlines()[3:-1]]
    assert [row[0] for row in rows] == [second.run_id, first.run_id]
    assert rows[0][5:-1] == [
        "published", "3", "2", "none", str(second.write_result.snapshot_id), second.keyed.key[:12],
    ]  # fmt: skip
    assert text.endswith("(2 rows)\n")


@needs_quality
def test_the_checks_of_a_run_are_told_in_words(project: Project, ldp: Ldp) -> None:
    low, high = ({"check": "range", "column": "fare", "min": least} for least in (0, 6))
    for name, checks in (("fine", [low]), ("odd", [low, high, {"check": "not_null", "columns": ["fare"]}])):
        quality = {"on_failure": "warn", "checks": checks}
        run_config(project(name, target={"name": name}, quality=quality, observability=EVENTS))
    odd, fine = ldp("runs").splitlines()[3:5]
    assert " 1 of 3 failed " in odd
    assert " 1 passed " in fine
    told = ldp("runs", "--events")
    assert "checks: 1 of 3 failed" in told
    assert "checks: 1 passed" in told


def test_json_has_the_whole_key_and_ids_as_text(project: Project, ldp: Ldp) -> None:
    result = run_config(project(window=WINDOW), window=DAYS[0])
    (row,) = listed(ldp, "c.json")
    assert row["idempotency_key"] == result.keyed.key
    assert row["snapshot_id"] == str(result.write_result.snapshot_id)
    assert (row["status"], row["rows_kept"], row["window_start"]) == ("published", 1, "2026-08-01T00:00:00Z")


def test_a_ledger_a_folder_and_a_config_name_the_same_runs(project: Project, ldp: Ldp) -> None:
    for name in ("a", "b"):
        run_config(project(name, target={"name": name}, observability=EVENTS))
    assert [row["pipeline"] for row in listed(ldp)] == ["b", "a"]
    assert listed(ldp, ".") == listed(ldp, str(LEDGER)) == listed(ldp)
    assert [row["pipeline"] for row in listed(ldp, "a.json")] == ["a"]


def test_a_ledger_of_its_own_is_found_by_the_config(project: Project, ldp: Ldp) -> None:
    run_config(project(observability={"sinks": [{"type": "jsonl", "path": "log/own.jsonl"}]}))
    assert len(listed(ldp, "c.json")) == 1


def test_no_runs_is_no_error(project: Project, ldp: Ldp) -> None:
    project()
    assert ldp("runs", "c.json").startswith("No runs recorded in .ldp/events.jsonl.")
    assert listed(ldp, ".") == []
    assert not Path(".ldp").exists()
    assert "there is no ledger" in ldp("runs", "nothing", code=1)


def test_attempts_limit_and_one_run(project: Project, ldp: Ldp) -> None:
    path = project(window=WINDOW)
    Path("r.csv").rename("away")
    with pytest.raises(SourceNotFound):
        run_config(path, window=DAYS[0], run_id="load-1")
    Path("away").rename("r.csv")
    run_config(path, window=DAYS[0], run_id="load-1", attempt=2)
    run_config(path, window=DAYS[1], run_id="load-2")
    assert [(row["run_id"], row["attempt"]) for row in listed(ldp)] == [("load-2", 1), ("load-1", 2)]
    every = [(row["run_id"], row["attempt"], row["status"]) for row in listed(ldp, "--attempts")]
    assert every == [("load-2", 1, "published"), ("load-1", 2, "published"), ("load-1", 1, "failed")]
    assert [row["run_id"] for row in listed(ldp, "--limit", "1")] == ["load-2"]
    text = ldp("runs", "--run", "load-1")
    assert "status:          published" in text
    assert "source_not_found" not in text
    assert "failed" in text
    body = json.loads(ldp("runs", "--run", "load-1", "--json"))
    assert (body["run"]["attempt"], [item["attempt"] for item in body["attempts"]]) == (2, [2, 1])
    assert "load-1, load-2" in ldp("runs", "--run", "load", code=1)
    assert "no run other" in ldp("runs", "--run", "other", code=1)


def test_configs_that_ran_under_one_id_are_told_apart(project: Project, ldp: Ldp) -> None:
    for name in ("a", "b"):
        project(name, target={"name": name}, window=WINDOW)
    ldp("run", "a.json", "b.json", "--window", DAYS[0], "--run-id", "job")
    run_config("b.json", window=DAYS[1], run_id="job", attempt=2)
    assert [(row["pipeline"], row["attempt"]) for row in listed(ldp, ".")] == [("b", 2), ("a", 1)]
    assert [(row["pipeline"], row["target"]) for row in listed(ldp, "a.json")] == [("a", "nyc.a")]
    assert [(row["pipeline"], row["target"]) for row in listed(ldp, "b.json")] == [("b", "nyc.b")]
    assert [row["pipeline"] for row in listed(ldp, ".", "--limit", "1")] == ["b"]
    every = [(row["pipeline"], row["attempt"], row["attempts"]) for row in listed(ldp, ".", "--attempts")]
    assert every == [("b", 2, 2), ("b", 1, 2), ("a", 1, 1)]
    assert len(listed(ldp, "b.json", "--attempts")) == 2
    one = json.loads(ldp("runs", "a.json", "--run", "job", "--json"))
    assert (one["run"]["pipeline"], len(one["attempts"])) == ("a", 1)
    error = ldp("runs", ".", "--run", "job", code=1)
    assert "job is a run of more than one config: a, b" in error
    assert "ldp runs CONFIG --run job" in error
    for name, count in (("a", 5), ("b", 10)):
        for more in ((), ("--run", "job")):
            shown = json.loads(ldp("runs", f"{name}.json", "--events", *more, "--json"))["events"]
            assert ({item["payload"]["pipeline"] for item in shown}, len(shown)) == ({name}, count)
    assert len(json.loads(ldp("runs", ".", "--events", "--run", "job", "--json"))["events"]) == 15


def test_a_run_that_is_made_again_after_a_rollback_is_listed_as_published(project: Project, ldp: Ldp) -> None:
    project(window=WINDOW)
    for day, name in zip(DAYS, ("d01", "d02"), strict=True):
        ldp("run", "c.json", "--window", day, "--run-id", name)
    ldp("rollback", "c.json", "--run", "d02", "--yes")
    assert [row["status"] for row in listed(ldp, "c.json")] == ["rolled_back", "published"]
    ldp("run", "c.json", "--window", DAYS[1], "--run-id", "d02")
    last = listed(ldp, "c.json")[0]
    assert (last["run_id"], last["status"]) == ("d02", "published")
    head = json.loads(ldp("commits", "c.json", "--json"))["commits"][0]
    assert last["snapshot_id"] == head["snapshot_id"]


def test_events_in_their_order(project: Project, ldp: Ldp) -> None:
    result = run_config(project(observability=EVENTS))
    text = ldp("runs", "--events")
    assert header(text) == ["run_id", "attempt", "seq", "ts_utc", "type", "detail"]
    told = [line.split(None, 6) for line in text.splitlines()[2:-1]]
    assert [(row[2], row[5]) for row in told] == [
        ("0", "run.started"), ("1", "run.extracted"), ("2", "quality.evaluated"),
        ("3", "run.published"), ("4", "run.finished"),
    ]  # fmt: skip
    assert told[1][6] == "rows_read=3 rows_kept=3"
    assert told[2][6] == "checks: none"
    assert told[3][6] == f"rows_written=3 snapshot={result.write_result.snapshot_id}"
    whole = json.loads(ldp("runs", "--run", result.run_id, "--events", "--json"))["events"]
    assert whole == list(jsonl.read(LEDGER))


def test_tasks_of_workflows_have_their_columns(project: Project, ldp: Ldp) -> None:
    project()
    started = {"workflow": "wf", "window": {"start": "2026-08-01T00:00:00Z", "end": "2026-08-02T00:00:00Z"}}
    for event in (
        make_event("workflow.started", started, run_id="w"),
        make_event("run.started", {"pipeline": "a", "workflow": "wf", "task": "t"}, run_id="r"),
        make_event("run.finished", {"status": "failed", "workflow": "wf", "task": "t"}, run_id="r", seq=1),
        make_event("workflow.finished", {"workflow": "wf", "status": "failed"}, run_id="w", seq=1),
    ):
        jsonl.append(LEDGER, event)
    text = ldp("runs")
    assert header(text)[:5] == ["run_id", "attempt", "pipeline", "workflow", "task"]
    assert [line.split()[2:5] for line in text.splitlines()[3:5]] == [
        ["a", "wf", "t"],
        ["wf", "wf", "(workflow)"],
    ]
    Path("wf.json").write_text(json.dumps({"kind": "Workflow", "identifier": "wf", "tasks": []}))
    assert [row["run_id"] for row in listed(ldp, "wf.json")] == ["r", "w"]


def test_runs_come_from_the_tables_where_there_is_no_ledger(project: Project, ldp: Ldp) -> None:
    path = project(observability={"sinks": ["iceberg"]})
    assert ldp("runs", "c.json").startswith("No runs recorded in _ldp.runs.")
    result = run_config(path)
    assert ldp("runs", "c.json").startswith("Runs recorded in _ldp.runs, newest first:")
    assert [row["run_id"] for row in listed(ldp, "c.json")] == [result.run_id]
    assert "keeps no events" in ldp("runs", "c.json", "--events", code=1)


def test_a_long_ledger_is_not_read_whole(project: Project, ldp: Ldp) -> None:
    path = project(observability=EVENTS)
    LEDGER.parent.mkdir()
    LEDGER.write_bytes(b"\0" * 200_000 + b"\n")
    with LEDGER.open("r+b") as out:
        out.truncate(2**33)
        out.seek(0, os.SEEK_END)
        out.write(b"\n")
    runs = [run_config(path).run_id for _ in range(2)]
    rotated = LEDGER.with_name("events.1.jsonl")
    assert rotated.stat().st_size > 2**32
    assert [row["run_id"] for row in listed(ldp, "--limit", "2")] == runs[::-1]


def test_commits_tell_run_window_key_and_rows(project: Project, ldp: Ldp) -> None:
    path = project(window=WINDOW)
    first, second = (run_config(path, window=day) for day in DAYS)
    rows = json.loads(ldp("commits", "c.json", "--json"))["commits"]
    assert [row["snapshot_id"] for row in rows] == [str(r.write_result.snapshot_id) for r in (second, first)]
    assert rows[1]["run_id"] == first.run_id
    assert rows[1]["key"] == first.keyed.key
    assert rows[1]["window"] == "2026-08-01T00:00:00Z/2026-08-02T00:00:00Z"
    counts = ("attempt", "main", "rows_read", "rows_kept", "rows_in", "rows_written", "added_records")
    assert [rows[1][name] for name in counts] == [1, True, 3, 1, 1, 1, 1]
    text = ldp("commits", "c.json")
    assert text.startswith("Commits of Iceberg table nyc.rides, newest first:\n")
    assert first.keyed.key[:12] in text
    by_key = json.loads(ldp("commits", "c.json", "--key", first.keyed.key[:10], "--json"))
    assert [row["snapshot_id"] for row in by_key["commits"]] == [str(first.write_result.snapshot_id)]
    assert by_key["keys"] == []
    assert "No snapshot of nyc.rides carries the key ffff" in ldp("commits", "c.json", "--key", "ffff")


def test_a_key_whose_snapshot_has_expired_is_in_the_tables_own_list(project: Project, ldp: Ldp) -> None:
    from ldp_core.targets.formats import Iceberg

    path = project(window=WINDOW)
    first = run_config(path, window=DAYS[0])
    run_config(path, window=DAYS[1])
    table = Iceberg("rides", {"identifier": "nyc", "warehouse_path": "wh"}).table()
    table.maintenance.expire_snapshots().by_id(int(first.write_result.snapshot_id)).commit()
    body = json.loads(ldp("commits", "c.json", "--key", first.keyed.key, "--json"))
    assert body["commits"] == []
    assert [(item["pipeline"], item["key"]) for item in body["keys"]] == [("c", first.keyed.key)]
    assert "its snapshot has expired" in ldp("commits", "c.json", "--key", first.keyed.key[:12])


def test_fences_of_older_attempts_are_listed(project: Project, ldp: Ldp) -> None:
    path = project(window=WINDOW)
    run_config(path, window=DAYS[0], run_id="r-1")
    Path("r.csv").write_text("ride_id,pickup_ts,fare\nx,y,z\n")
    with pytest.raises(LDPError):
        run_config(path, window=DAYS[1], run_id="r-2", attempt=2)
    rows = json.loads(ldp("commits", "c.json", "--branches", "--json"))["branches"]
    assert [(row["kind"], row["attempt"]) for row in rows] == [("fence", 1)]
    assert rows[0]["name"].endswith("_a1_fenced")
    assert "fence" in ldp("commits", "c.json", "--branches")


def test_looking_imports_nothing_heavy(project: Project) -> None:
    run_config(project(window=WINDOW), window=DAYS[0])
    code = (
        "import sys; from ldp_cli.main import main; code = main(sys.argv[1:]);"
        "heavy = {'pyarrow', 'pyiceberg', 'duckdb', 'sqlalchemy', 'openlineage'} & set(sys.modules);"
        "assert not heavy, heavy; sys.exit(code)"
    )
    for words in (["runs", "c.json"], ["runs", ".", "--events"], ["commits", "c.json"]):
        subprocess.run([sys.executable, "-c", code, *words], check=True, stdout=subprocess.DEVNULL)
