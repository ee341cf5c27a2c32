"""Results of checks: what was saved is read, saved twice is there once, and no value of the data is kept."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import (
    AcceptedValues,
    CheckResult,
    NotNull,
    QualityReport,
    Range,
    Regex,
    Rule,
    RuleRecord,
    RunRecord,
    SchemaHas,
    Unique,
    open_store,
    run_checks,
)
from ldp_quality.checks.not_run import NotRun
from ldp_quality.verdicts import details_of, numbers_of

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)
COUNTS = st.integers(0, 2**53)


def report(status: str = "pass", bad: int = 0, rows: int = 10, name: str = "not_null(a)") -> QualityReport:
    return QualityReport(
        [CheckResult(name, status == "pass", "", bad, {"row_count": rows, "null_count": bad}, status=status)]
    )


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
lines = st.fixed_dictionaries(
    {
        "name": words,
        "check": st.none() | words,
        "status": st.sampled_from(["pass", "warn", "fail", "not_run"]),
        "severity": st.sampled_from([None, "error", "warn"]),
        "scope": st.sampled_from([None, "batch", "table"]),
        "base_snapshot": st.sampled_from([None, "9007199254740993"]),
        "failing_rows": COUNTS,
        "rows": st.none() | COUNTS,
        "share": st.none() | st.floats(0, 1),
        "where": st.none() | words,
        "details": words,
        "metrics": st.dictionaries(words, st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9), max_size=3),
    }
)
saves = st.fixed_dictionaries(
    {
        "run_id": st.sampled_from(["r1", "r2", "ü"]),
        "attempt": st.integers(1, 2),
        "pipeline": st.sampled_from(["", "load"]),
        "evaluated": moments,
        "outcome": st.none() | st.sampled_from(["published", "blocked_quality"]),
        "contract_id": st.none() | words,
        "contract_version": st.none() | words,
        "logical_date": st.none() | moments,
        "rows": COUNTS,
        "duration_s": st.none() | st.floats(0, 1e6),
        "engine": st.none() | words,
        "report": st.lists(lines, max_size=3),
        "status": st.sampled_from(["pass", "warn", "fail", "not_run"]),
    }
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given=st.lists(saves, max_size=8), last=st.integers(1, 5))
def test_what_is_saved_is_read_and_the_same_attempt_is_replaced(place: str, given: Any, last: int) -> None:
    dataset = f"d.{uuid4().hex}"
    model: dict[tuple[str, str, int], RunRecord] = {}
    with open_store(place) as store:
        for item in given:
            values = {name: value for name, value in item.items() if name not in ("report", "status")}
            body = {"status": item["status"], "checks": item["report"]}
            saved = store.save_result(body, dataset=dataset, **values)
            model[saved.pipeline, saved.run_id, saved.attempt] = saved
    with open_store(place, create=False) as store:
        found = store.runs(dataset, limit=None)
        assert {(r.pipeline, r.run_id, r.attempt): r for r in found} == model
        assert len(found) == len(model)
        assert [r.evaluated for r in found] == sorted((r.evaluated for r in found), reverse=True)
        assert store.runs(dataset, limit=last) == found[:last]
        assert all(store.run(r.id) == r for r in found)
        for status in ("pass", "fail"):
            assert store.runs(dataset, limit=None, status=status) == [r for r in found if r.status == status]
        if found:
            since = found[len(found) // 2].evaluated
            assert store.runs(dataset, limit=None, since=since) == [r for r in found if r.evaluated >= since]
        newest = sorted(found, key=lambda r: (r.moment, r.evaluated))[-last:]
        wanted = Counter((r.moment, rule.name, rule.failing_rows) for r in newest for rule in r.rules)
        points = store.trend(dataset, None, "failing_rows", last=last)
        if len({(r.moment, r.evaluated) for r in found}) == len(found):
            assert Counter((p.moment, p.rule, p.value) for p in points) == wanted
        assert [p.moment for p in points] == sorted(p.moment for p in points)


def test_a_trend_stands_in_the_order_of_the_datas_own_time(place: str) -> None:
    with open_store(place) as store:
        for day, bad, evaluated in ((3, 30, 1), (1, 10, 2), (2, 20, 3)):
            start = datetime(2026, 8, day, tzinfo=UTC)
            store.save_result(
                report("fail", bad),
                dataset="nyc.rides",
                run_id=f"r{day}",
                window=(start, start + timedelta(days=1)),
                evaluated=NOON + timedelta(minutes=evaluated),
            )
        store.save_result(report(), dataset="nyc.other")
        points = store.trend("nyc.rides", "not_null(a)", "failing_rows", last=10)
        assert [(p.moment.day, p.value, p.run_id) for p in points] == [
            (1, 10, "r1"),
            (2, 20, "r2"),
            (3, 30, "r3"),
        ]
        assert [p.value for p in store.trend("nyc.rides", "not_null(a)", "share", last=2)] == [2.0, 3.0]
        assert [p.value for p in store.trend("nyc.rides", None, "null_count", last=1)] == [30]
        assert store.trend("nyc.rides", "other") == store.trend("nowhere") == []
        assert [r.run_id for r in store.runs("nyc.rides")] == ["r2", "r1", "r3"]
        assert {(d.name, d.runs) for d in store.datasets()} == {("nyc.rides", 3), ("nyc.other", 1)}


def test_a_run_is_found_by_its_id_and_by_how_that_begins(place: str) -> None:
    with open_store(place) as store:
        for attempt in (1, 2):
            store.save_result(report(), dataset="a", run_id="run_1", attempt=attempt)
        other = store.save_result(report(), dataset="a", run_id="run_11")
        found = store.run("run_1")
        assert found is not None
        assert found.attempt == 2
        assert store.run(other.id) == other
        assert store.run("run") is None
        assert {r.run_id for r in store.find("run_1")} == {"run_1"}
        assert {r.run_id for r in store.find("run")} == {"run_1", "run_11"}
        assert store.find("r_n") == store.find("%") == []


@pytest.mark.parametrize(
    "wrong", [{"dataset": ""}, {"dataset": "a", "run_id": " "}, {"dataset": "a", "attempt": 0}]
)
def test_a_result_without_a_name_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with open_store(tmp_path / "q.db") as store, pytest.raises(ConfigError, match="needs the name"):
        store.save_result(report(), **wrong)


def test_a_report_is_saved_with_kinds_severities_and_conditions(place: str) -> None:
    table = pa.table({"a": [1, None, 3], "b": ["x", "y", "x"]})
    rules = [
        Rule(check=NotNull("a"), fail_above="50%"),
        Rule(check=Unique("b"), severity="warn", where="a > 0"),
        Rule(check=NotNull("gone"), on_failure="warn"),
        Rule(check=Range("a", max=9), where="b + 1 > 0"),
    ]
    with open_store(place) as store:
        store.save_result(
            run_checks(table, rules), dataset="t", rules=rules, contract_id="c", engine="duckdb"
        )
        (found,) = store.runs("t")
    assert (found.status, found.rows, found.contract_id, found.engine) == ("fail", 3, "c", "duckdb")
    assert [(r.name, r.kind, r.status, r.severity) for r in found.rules] == [
        ("not_null(a)", "not_null", "warn", "error"),
        ("unique(b)", "unique", "warn", "warn"),
        ("not_null(gone)", "not_null", "fail", "error"),
        ("range(a)", "range", "not_run", "error"),
    ]
    first, second, missing, not_run = found.rules
    assert (first.failing_rows, first.rows, first.details) == (1, 3, "1 of 3 rows")
    assert first.share == pytest.approx(1 / 3)
    assert first.metrics == {"null_counts.a": 1}
    assert (second.rows, second.where, second.metrics["duplicate_keys"]) == (2, "a > 0", 1)
    assert (missing.details, missing.failing_rows) == ("missing column(s) gone", 0)
    assert (not_run.failing_rows, not_run.share, not_run.where) == (None, None, "b + 1 > 0")
    assert not_run.details == "could not be evaluated"


MARKER = "zq7marker"
NUMBER = 987654321


def test_no_value_of_the_data_is_kept(place: str) -> None:
    table = pa.table({"a": [MARKER, MARKER, "ok", None], "n": [NUMBER, 1, 2, None]})
    checks = [
        Unique("a"),
        AcceptedValues("a", ["ok"]),
        Regex("a", "^o"),
        Range("n", max=5),
        NotNull(["a", "n"]),
        Rule(check=NotNull("a"), where="CAST(a AS INTEGER) > 0"),
        SchemaHas({"a": "int64"}),
        AcceptedValues("n", [1, 2]),
    ]
    found = run_checks(table, checks)
    told = json.dumps(found.to_dict())
    assert MARKER in told
    assert str(NUMBER) in told
    with open_store(place) as store:
        saved = store.save_result(found, dataset="t")
        assert all(rule.status != "pass" for rule in saved.rules)
        kept = dump(place)
    assert "unique(a)" in kept
    assert MARKER not in kept
    assert str(NUMBER) not in kept


def dump(place: str) -> str:
    """All that a store holds, as text."""
    if "://" not in place:
        with sqlite3.connect(place) as con:
            text = "\n".join(con.iterdump())
        con.close()
        return text + Path(place).read_bytes().decode("latin-1")
    import psycopg

    with psycopg.connect(place) as con:
        tables = ("runs", "rules", "contracts")
        return "\n".join(
            str(row) for name in tables for row in con.execute(f"SELECT * FROM ldp_quality.{name}".encode())
        )


def test_only_finite_numbers_are_metrics() -> None:
    given = {"a": 1, "b": float("nan"), "c": True, "d": "x", "e": {"f": 2, "g": {"h": 1}}, "observed_max": 3}
    assert numbers_of(given) == {"a": 1, "e.f": 2}


def test_details_say_why_a_check_without_bad_rows_fails() -> None:
    failed = CheckResult(
        "freshness(t)", False, "newest 2026-08-01 is old", 0, {"row_count": 5, "age_hours": 50.5}
    )
    assert details_of(failed, {"age_hours": 50.5}) == "age_hours 50.5"
    refused = CheckResult("range(a)", False, "", 0, {"row_count": 5, "column_type": "binary"})
    assert details_of(refused, {}) == "cannot judge a column of the type binary"
    typed = CheckResult(
        "s", False, "", 0, {"type_mismatches": {"a": {"actual": "string", "expected": "int64"}}}
    )
    assert details_of(typed, {}) == "a is string, expected int64"


def test_a_rule_that_nothing_can_judge_keeps_its_reason(tmp_path: Path) -> None:
    rules = [Rule(check=NotRun("a sentence for people", about="lineage"))]
    with open_store(tmp_path / "q.db") as store:
        saved = store.save_result(run_checks(pa.table({"a": [1]}), rules), dataset="t", rules=rules)
    (rule,) = saved.rules
    assert (rule.name, rule.kind, rule.status) == ("lineage", "not_run", "not_run")
    assert rule.details == "not run: a sentence for people"


def test_many_writers_wait_for_each_other(place: str) -> None:
    def write(number: int) -> None:
        with open_store(place) as store:
            for turn in range(5):
                store.save_result(report("fail", number), dataset="t", run_id=f"{number}-{turn}")
                store.save_result(report("fail", number), dataset="same", run_id="same")
                store.save_contract(f"text {number}", contract_id="c")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    with open_store(place, create=False) as store:
        assert len(store.runs("t", limit=None)) == 30
        (same,) = store.runs("same")
        assert [rule.name for rule in same.rules] == ["not_null(a)"]
        numbers = [version.number for version in store.contracts("c")]
        assert numbers == list(range(len(numbers), 0, -1))


KILLED = """
import os, signal, sys
from ldp_quality import open_store
store = open_store(sys.argv[1])
db = store._db
real = db.execute_many
def killed(sql, rows):
    real(sql, list(rows)[:1])
    os.kill(os.getpid(), signal.SIGKILL)
db.execute_many = killed
lines = [{"name": "new", "status": "fail"}, {"name": "more", "status": "fail"}]
store.save_result({"status": "fail", "checks": lines}, dataset="t", run_id="r")
"""


def test_a_killed_writer_leaves_nothing_half(place: str) -> None:
    with open_store(place) as store:
        before = store.save_result(report("warn", 1), dataset="t", run_id="r")
    done = subprocess.run([sys.executable, "-c", KILLED, place], check=False, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    with open_store(place) as store:
        assert store.runs() == [before]
        after = store.save_result(report("fail", 2), dataset="t", run_id="r")
        assert store.runs() == [after]


def test_a_rule_record_knows_its_numbers() -> None:
    rule = RuleRecord("a", failing_rows=1, rows=4, share=0.25, metrics={"age_hours": 2})
    assert [rule.metric(name) for name in ("failing_rows", "rows", "share", "age_hours", "name")] == [
        *(1, 4, 0.25, 2),
        None,
    ]
