"""The sink ``quality_store`` and ``ldp quality``: real runs, then looking back at them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import DataQualityError
from ldp_core.run.registered import run_config
from ldp_quality import CheckResult, QualityReport, open_store
from ldp_quality.commands._draw import BARS, PLAIN, bars_for, spark

pytest.importorskip("ldp_cli")

from ldp_cli.main import main

Ldp = Callable[..., str]
RIDES = """ride_id,pickup_ts,city,fare
1,2026-08-01 10:00:00,NYC,5.5
2,2026-08-02 00:00:00,NYC,7.5
3,2026-08-02 23:59:59,zq7marker,
"""
CHECKS: list[dict[str, Any]] = [
    {"check": "not_null", "columns": ["fare"], "fail_above": "90%"},
    {"check": "accepted_values", "column": "city", "values": ["NYC"], "on_failure": "warn"},
    {"check": "unique", "columns": ["ride_id"], "where": "fare > 6"},
]
SINK = {"type": "quality_store"}


def config(folder: Path, checks: Any = None, sink: Any = None, name: str = "rides") -> Path:
    (folder / "r.csv").write_text(RIDES)
    target = {
        "name": name,
        "format": "ICEBERG",
        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
    }
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": target,
        "window": {"size": "day", "column": "pickup_ts"},
        "quality": CHECKS if checks is None else checks,
        "observability": {"sinks": [sink or SINK]},
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"identifier": f"load_{name}", "metadata": metadata}))
    return path


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ldp:
    """Runs a command in an empty folder; returns what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(list(words)) == code
        out, err = capsys.readouterr()
        return out + err if code else out

    return run


def result(status: str = "pass", bad: int = 0, name: str = "a") -> QualityReport:
    metrics = {"row_count": 8, "age_hours": 1.5 * bad}
    return QualityReport([CheckResult(name, status == "pass", "", bad, metrics, status=status)])


def seeded(days: int = 4) -> None:
    with open_store() as store:
        for day in range(1, days + 1):
            start = datetime(2026, 8, day, tzinfo=UTC)
            store.save_result(
                result("fail" if day % 2 == 0 else "pass", day if day % 2 == 0 else 0),
                dataset="nyc.rides",
                run_id=f"run-{day}",
                window=(start, start + timedelta(days=1)),
                evaluated=start + timedelta(hours=30),
            )


def test_runs_with_the_sink_are_kept(ldp: Ldp, tmp_path: Path) -> None:
    path = config(tmp_path)
    run_config(path, window="2026-08-01/2026-08-02", run_id="first")
    run_config(path, window="2026-08-02/2026-08-03", run_id="second", attempt=2)
    run_config(path, window="2026-08-02/2026-08-03", run_id="third")
    with open_store(create=False) as store:
        second, first = store.runs()
    assert (first.dataset, first.pipeline, first.run_id, first.status) == (
        *("nyc.rides", "load_rides"),
        *("first", "pass"),
    )
    assert (second.run_id, second.attempt, second.status, second.outcome) == (
        "second",
        2,
        "fail",
        "published",
    )
    assert second.window_start == second.logical_date == datetime(2026, 8, 2, tzinfo=UTC)
    assert (second.rows, second.engine, len(second.spec_hash or "")) == (2, "duckdb", 64)
    assert [(r.name, r.kind, r.status, r.severity, r.failing_rows, r.rows) for r in second.rules] == [
        ("not_null(fare)", "not_null", "warn", "error", 1, 2),
        ("accepted_values(city)", "accepted_values", "fail", "warn", 1, 2),
        ("unique(ride_id)", "unique", "pass", "error", 0, 1),
    ]
    assert second.rules[2].where == "fare > 6"
    assert b"zq7marker" not in Path(".ldp/quality.db").read_bytes()


def test_a_blocked_run_is_kept_and_one_without_checks_is_not(ldp: Ldp, tmp_path: Path) -> None:
    with pytest.raises(DataQualityError):
        run_config(config(tmp_path, [{"check": "row_count", "min": 9}]), run_id="blocked")
    run_config(config(tmp_path, [], name="other"), run_id="unchecked")
    with open_store(create=False) as store:
        (found,) = store.runs()
    assert (found.run_id, found.outcome, found.status) == ("blocked", "blocked_quality", "fail")
    assert found.rules[0].details == "min 9"


def test_the_severity_is_what_held_in_the_run(ldp: Ldp, tmp_path: Path) -> None:
    run_config(config(tmp_path, [{"check": "row_count", "min": 9}]), run_id="r", on_failure="warn")
    with open_store(create=False) as store:
        (found,) = store.runs()
    assert (found.outcome, found.status, found.rules[0].severity) == ("published", "fail", "warn")


def test_a_run_by_a_contract_names_it_and_its_version(ldp: Ldp, tmp_path: Path) -> None:
    fare = "{name: fare, logicalType: number, required: true}"
    (tmp_path / "rides.odcs.yaml").write_text(
        "apiVersion: v3.1.0\nkind: DataContract\nid: the-rides\nversion: 2.1.0\nstatus: active\n"
        f"schema: [{{name: rides, properties: [{fare}]}}]\n"
    )
    run_config(config(tmp_path, {"contract": "rides.odcs.yaml", "on_failure": "warn"}), run_id="r")
    with open_store(create=False) as store:
        (found,) = store.runs()
    assert (found.contract_id, found.contract_version, found.status) == ("the-rides", "2.1.0", "fail")
    assert "contract:  the-rides 2.1.0\n" in ldp("quality", "show", "r")


def test_runs_of_two_configs_under_one_id_are_told_apart(ldp: Ldp, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_config(config(tmp_path, name=name), run_id="job")
    with open_store(create=False) as store:
        assert {record.dataset for record in store.runs()} == {"nyc.a", "nyc.b"}
    error = ldp("quality", "show", "job", code=1)
    assert error.startswith("ldp: error: run job judged more than one dataset; name the record: ")
    record = error.split("record: ")[1].split(" ")[0]
    assert ldp("quality", "show", record).startswith("dataset: ")
    assert "broken" in ldp("quality", "history", "a")
    assert "nyc.b" not in ldp("quality", "history", "a.json")


def test_a_sink_that_cannot_write_is_a_warning(
    ldp: Ldp, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.db").write_text("this is no database, but a text that is long enough for a header")
    path = config(tmp_path, sink={**SINK, "uri": "q.db"})
    assert main(["run", str(path)]) == 0
    assert "events do not reach the sink quality_store: " in capsys.readouterr().err


def test_a_sink_with_a_password_or_an_unknown_key_is_refused(ldp: Ldp, tmp_path: Path) -> None:
    path = config(tmp_path, sink={**SINK, "uri": "postgresql://u:geheim@h/d"})
    error = ldp("plan", str(path), code=1)
    assert "embeds a password" in error
    assert "geheim" not in error
    path = config(tmp_path, sink={**SINK, "url": "q.db"})
    assert "unknown key" in ldp("plan", str(path), code=1)


@pytest.mark.service
def test_a_sink_in_postgres(ldp: Ldp, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUALITY_PASSWORD", "anything")
    path = config(tmp_path, sink={**SINK, "uri": database, "password_env": "QUALITY_PASSWORD"})
    run_config(path, run_id="r")
    assert not Path(".ldp/quality.db").exists()
    for words in ((str(path),), ("rides", "--store", str(path)), ("rides", "--store", database)):
        assert "nyc.rides" in ldp("quality", "history", *words)
    told = json.loads(ldp("quality", "show", "r", "--store", database, "--json"))
    assert told["store"].endswith(", schema ldp_quality")
    assert told["run"]["rows"] == 3


def test_history_lists_the_newest_first(ldp: Ldp) -> None:
    seeded()
    with open_store() as store:
        store.save_result(result(), dataset="ams.trips", evaluated=datetime(2026, 7, 1, tzinfo=UTC))
    text = ldp("quality", "history", "nyc.rides")
    lines = text.splitlines()
    assert lines[0] == "Quality of nyc.rides in .ldp/quality.db, newest first:"
    assert lines[1].split() == [
        "evaluated_utc",
        "window",
        "status",
        "rules",
        "warn",
        "fail",
        "not_run",
        "rows",
        "run_id",
        "broken",
    ]
    assert lines[3].split() == [
        "2026-08-05",
        "06:00:00",
        "2026-08-04/2026-08-05",
        "fail",
        "1",
        "0",
        "1",
        "0",
        "8",
        "run-4",
        "a",
    ]
    assert [line.split()[-1] for line in lines[4:7]] == ["run-3", "a", "run-1"]
    assert ldp("quality", "history", "rides") == text
    assert "ams.trips" in ldp("quality", "history")
    assert ldp("quality", "history", "rides", "--last", "1").count("run-") == 1
    only = ldp("quality", "history", "--status", "fail", "--json")
    assert [run["run_id"] for run in json.loads(only)["runs"]] == ["run-4", "run-2"]
    assert ldp("quality", "history", "--status", "warn") == "No runs of status warn in .ldp/quality.db.\n"


def test_show_tells_every_rule(ldp: Ldp) -> None:
    seeded()
    with open_store() as store:
        store.save_result(
            QualityReport(
                [*result("fail", 3, "fares").results, CheckResult("broken", False, "x", status="not_run")]
            ),
            dataset="nyc.rides",
            run_id="run-5",
            attempt=2,
            contract_id="orders",
            contract_version="1.2",
        )
    text = ldp("quality", "show", "run-5")
    assert "contract:  orders 1.2\n" in text
    assert "status:    fail\n" in text
    assert "fares   fail                3  37.50%     8  3 of 8 rows\n" in text
    assert "broken  not_run          NULL          NULL  could not be evaluated\n" in text
    assert text.endswith("(2 of 2 rules did not pass)\n")
    assert ldp("quality", "show", "run-1").endswith("(all rules passed)\n")
    assert json.loads(ldp("quality", "show", "run-5", "--json"))["run"]["rules"][0]["share"] == 0.375
    assert "run- is more than one run: run-1, run-2" in ldp("quality", "show", "run-", code=1)
    assert "no run x in the quality history" in ldp("quality", "show", "x", code=1)


def test_trend_draws_one_line_a_rule(ldp: Ldp) -> None:
    seeded()
    text = ldp("quality", "trend", "rides")
    assert text.splitlines()[0] == "failing_rows of nyc.rides, 4 runs, 2026-08-01 to 2026-08-04:"
    assert text.splitlines()[3].split() == ["a", "▁▅▁█", "0", "4", "4", "2", "of", "4", "fail"]
    assert " 50.00%" in ldp("quality", "trend", "rides", "--metric", "share", "--last", "3")
    assert " 1 run, 2026-08-04:" in ldp("quality", "trend", "rides", "--last", "1")
    told = json.loads(ldp("quality", "trend", "rides", "--metric", "age_hours", "--json"))
    (line,) = told["series"]
    assert (line["rule"], line["min"], line["max"], line["last"]) == ("a", 0, 6.0, 6.0)
    assert [point["value"] for point in line["points"]] == [0, 3.0, 0, 6.0]
    error = ldp("quality", "trend", "rides", "--metric", "age", code=1)
    assert (
        "no metric 'age' in these runs of nyc.rides; there are failing_rows, share, rows, age_hours" in error
    )
    assert "no rule 'b'" in ldp("quality", "trend", "rides", "--rule", "b", code=1)
    assert "no dataset x" in ldp("quality", "trend", "x", code=1)


def test_rules_that_share_a_name_have_lines_of_their_own(ldp: Ldp) -> None:
    with open_store() as store:
        results = [*result("fail", 1).results, *result("fail", 2).results]
        store.save_result(QualityReport(results), dataset="d")
    lines = ldp("quality", "trend", "d").splitlines()[3:]
    assert [line.split()[:2] for line in lines] == [["a", "█"], ["a", "#2"]]


def test_without_a_history_each_command_says_so_and_makes_nothing(ldp: Ldp, tmp_path: Path) -> None:
    path = config(tmp_path)
    for words in (("history",), ("history", str(path)), ("show", "r"), ("trend", "rides")):
        error = ldp("quality", *words, code=1)
        assert error.startswith("ldp: error: there is no quality history in ")
        assert error.count("\n") == 1
    assert not Path(".ldp").exists()
    assert "config file not found" in ldp("quality", "history", "none.yaml", code=1)


@pytest.mark.parametrize("bars", [BARS, PLAIN])
def test_a_bar_above_zero_never_looks_like_zero(bars: str) -> None:
    assert spark([0, 1, 1000, None, 0], bars) == bars[0] + bars[1] + bars[7] + (" ·"[bars == BARS]) + bars[0]
    assert spark([0, 0], bars) == bars[0] * 2
    assert spark([5, 5], bars) == bars[7] * 2
    assert spark([-1, 0, 1], bars)[0] == bars[0]
    assert spark([], bars) == ""


def test_a_terminal_without_unicode_gets_plain_bars() -> None:
    assert bars_for("utf-8") == BARS
    assert bars_for("latin-1") == bars_for(None) == bars_for("nonsense") == PLAIN


def test_asking_for_help_is_light() -> None:
    import subprocess

    code = "import sys, ldp_quality.commands.quality; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"duckdb", "pyarrow", "psycopg", "sqlite3", "sqlglot"} & set(done.stdout.split())
