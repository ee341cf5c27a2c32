"""The section of a config and the gate, as a run uses them."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core import _duck
from ldp_core.config import Config
from ldp_core.errors import ConfigError
from ldp_core.spi import Batch, Spec
from ldp_quality import checks_from_config
from ldp_quality.gate import GATE
from ldp_quality.section import SECTION

SPEC = Spec({}, Path())


def config(quality: Any) -> Config:
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "append",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
        "quality": quality,
    }
    return Config.from_dict({"identifier": "rides", "metadata": metadata})


def errors(quality: Any) -> list[str]:
    return [str(problem) for problem in config(quality).problems() if problem.severity == "error"]


@pytest.mark.parametrize(
    ("quality", "key"),
    [
        (
            {"checks": [{"check": "range", "column": "fare", "min": 0, "typo": 1}]},
            "checks[0].typo: unknown key",
        ),
        ({"checks": [{"check": "range", "column": "fare", "min": 2, "max": 1}]}, "checks[0].min: min (2) is"),
        ([{"check": "range", "column": "fare", "min": 2, "max": 1}], "quality[0].min: min (2) is greater"),
        ({"checks": [{"check": "nope"}]}, "checks[0].check: unknown check"),
        ({"checks": [{"check": "regex", "column": "a", "pattern": "(?=a)"}]}, "checks[0].pattern: "),
        ({"checks": [{"check": "expression", "expression": "getenv('x') = 1"}]}, "cannot call getenv"),
        ({"checks": [{"check": "schema", "columns": {"x": "list<int64>"}}]}, "checks[0].columns: unknown"),
        ({"checks": [{"check": "row_count"}]}, "checks[0]: needs min, max or equals"),
        ({"checks": [{"check": "rate_below", "predicate_column": "a", "max_rate": 2}]}, "checks[0].max_rate"),
        ({"checks": [{"check": "max_gap", "column": "a", "max_ms": -1}]}, "checks[0].max_ms"),
        ({"on_failure": "explode", "checks": []}, "on_failure: must be one of fail, warn, quarantine"),
        ({"check": []}, "did you mean checks?"),
        (
            {"checks": [{"check": "not_null", "columns": "a", "severity": "bad"}]},
            "checks[0].severity: must be",
        ),
        ({"checks": [{"check": "not_null", "columns": "a", "fail_above": "2"}]}, "checks[0].fail_above: "),
        ({"checks": [{"check": "not_null", "columns": "a", "fail_above": "120%"}]}, "checks[0].fail_above: "),
        ({"checks": [{"check": "row_count", "min": 1, "warn_above": 1}]}, "row_count has none"),
        (
            {"checks": [{"check": "not_null", "columns": "a", "where": "1=1) OR (1=1"}]},
            "checks[0]: expression",
        ),
        ({"checks": [{"check": "not_null", "columns": "a", "on_failure": "x"}]}, "checks[0].on_failure: "),
    ],
)
def test_a_wrong_check_is_found_before_any_data_is_read(quality: Any, key: str) -> None:
    found = errors(quality)
    assert len(found) == 1
    assert key in found[0]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (
            {"check": "nope"},
            "quality check #2 has unknown check 'nope'; expected one of: accepted_values, anomaly, ",
        ),
        (
            {"check": "range", "column": "x", "typo": 1},
            "quality check #2 (range) has unknown parameter(s) ['typo']; allowed: column, min, max, name",
        ),
        ({"check": "not_null"}, "quality check #2 (not_null) needs parameter(s) ['columns']"),
        (
            {"check": "row_count", "min": -1},
            "quality check #2 (row_count) is invalid: min must be a non-negative",
        ),
        ("row_count", "quality check #2 must be an object"),
    ],
)
def test_texts_of_checks_from_config(item: Any, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checks_from_config([{"check": "row_count", "min": 1}, item])
    assert str(caught.value).startswith(text)


def test_both_forms_are_one_config() -> None:
    items = [{"check": "row_count", "min": 1}]
    forms: list[Any] = [items, {"checks": items}, {"on_failure": "FAIL", "checks": items}]
    assert {config(form).spec_hash() for form in forms} == {
        "40d19d58902bf55921672476b3953d7db2826d25269733344437a47d1149cb9d"
    }
    assert not errors(forms[2])
    assert SECTION.canonical(items, SPEC) == {"on_failure": "fail", "checks": items}


def test_explain() -> None:
    items = [{"check": "row_count", "min": 1}] * 3
    assert SECTION.explain(items, SPEC) == [("quality", "3 checks, on_failure=fail")]
    assert SECTION.explain({"on_failure": "Warn", "checks": items[:1]}, SPEC) == [
        ("quality", "1 check, on_failure=warn")
    ]


ITEMS = [
    {"check": "range", "column": "fare", "min": 6},
    {"check": "unique", "columns": ["city"]},
    {"check": "row_count", "equals": "source"},
    {"check": "freshness", "column": "at", "max_age_hours": 1},
    {"check": "expression", "expression": "city <> 'secret city'"},
    {"check": "monotonic", "column": "fare"},
]


def batch() -> Batch:
    table = pa.table(
        {
            "fare": [7.5, 5.5, 9.0],
            "city": ["secret city", "secret city", "NYC"],
            "at": pa.array([0, 0, 0], pa.timestamp("us")),
            "__row": [7, 7, 7],
        }
    )
    con = _duck.connect()
    con.register("batch", table)
    ordered = "SELECT *, row_number() OVER () - 1 FROM batch"
    now = datetime(1970, 1, 1, 0, 30, tzinfo=UTC)
    return Batch(con, "SELECT * FROM batch", table.schema, 3, 3, ordered, now)


@pytest.mark.parametrize("on_failure", ["fail", "warn", "WARN"])
def test_judge(on_failure: str) -> None:
    gate = GATE.prepare({"on_failure": on_failure, "checks": ITEMS}, SPEC)
    assert gate.checks == 6
    verdict = gate.judge(batch())
    assert not verdict.passed
    assert verdict.blocks is (on_failure == "fail")
    found = verdict.report.to_dict()["results"]
    assert [item["failing_rows"] for item in found] == [1, 2, 0, 0, 2, 1]
    assert [item["passed"] for item in found] == [False, False, True, True, False, False]
    assert found[0]["samples"] == [
        {"row": 1, "values": {"fare": 5.5, "city": "secret city", "at": "1970-01-01 00:00:00", "__row": 7}}
    ]
    assert verdict.evaluated["checks"][0] == {
        "name": "range(fare)",
        "check": "range",
        "status": "fail",
        "passed": False,
        "severity": "error",
        "on_failure": on_failure.lower(),
        "quarantined": 0,
        "failing_rows": 1,
        "rows": 3,
        "share": 1 / 3,
        "where": None,
        "scope": "batch",
        "base_snapshot": None,
        "details": "1 of 3 rows",
        "metrics": {"below_min": 1, "nan_count": 0, "null_count": 0},
    }
    assert "secret" not in str(
        [line for line in verdict.evaluated["checks"] if line["check"] != "expression"]
    )
    assert verdict.report.summary().startswith(
        "4 of 6 data quality checks failed:\n  - range(fare): 1 of 3 rows violate"
    )


@pytest.mark.parametrize(
    ("said", "section", "blocks"),
    [
        ({}, "fail", True),
        ({}, "warn", False),
        ({"on_failure": "warn"}, "fail", False),
        ({"on_failure": "FAIL"}, "warn", True),
        ({"severity": "warn"}, "fail", False),
        ({"fail_above": 1}, "fail", False),
        ({"fail_above": "10%"}, "fail", True),
        ({"warn_above": 1}, "fail", False),
        ({"where": "fare > 6"}, "fail", False),
    ],
)
def test_a_rule_says_what_a_failure_does(said: dict[str, Any], section: str, blocks: bool) -> None:
    item = {"check": "range", "column": "fare", "min": 6, **said}
    quality = {"on_failure": section, "checks": [item]}
    assert not errors(quality)
    assert GATE.prepare(quality, SPEC).judge(batch()).blocks is blocks


def test_what_cannot_be_evaluated_is_not_run_and_blocks() -> None:
    gate = GATE.prepare([{"check": "expression", "expression": "fare + 1", "severity": "warn"}], SPEC)
    verdict = gate.judge(batch())
    assert verdict.blocks
    assert verdict.evaluated["status"] == "not_run"


def test_events_carry_no_values() -> None:
    gate = GATE.prepare([item for item in ITEMS if item["check"] != "expression"], SPEC)
    text = json.dumps(gate.judge(batch()).evaluated)
    assert "secret" not in text
    assert "5.5" not in text


def test_nothing_is_left_on_the_connection_of_the_run() -> None:
    rows = batch()
    before = rows.con.sql("SHOW ALL TABLES").fetchall()
    GATE.prepare(ITEMS, SPEC).judge(rows)
    assert rows.con.sql("SHOW ALL TABLES").fetchall() == before


def test_a_config_is_checked_without_heavy_libraries() -> None:
    items = [
        {"check": "schema", "columns": {"x": "timestamp[us, tz=UTC]"}},
        {"check": "range", "column": "x", "min": "2026-01-01"},
    ]
    code = (
        "import sys\nfrom pathlib import Path\nfrom ldp_core.spi import Spec\n"
        "from ldp_quality.section import SECTION\n"
        f"assert SECTION.problems({items!r}, Spec({{}}, Path())) == []\n"
        "print(sorted({'pyarrow', 'duckdb', 'sqlglot', 'pyiceberg'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
