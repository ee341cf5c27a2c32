"""Rules that put rows aside: what may say so, which rows it is, and what holds everything back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core import _duck
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError, UsageError
from ldp_core.run.runner import run
from ldp_core.spi import Batch, Spec
from ldp_quality import Contract, MaxGap, NotNull, RateBelow, RowCount, Rule
from ldp_quality.gate import GATE, PreparedQuality

SPEC = Spec({}, Path())
NOW = datetime(2026, 8, 1, tzinfo=UTC)


@pytest.fixture
def con() -> Iterator[Any]:
    with _duck.connect() as made:
        yield made


def batch(con: Any, table: pa.Table, **more: Any) -> Batch:
    """The rows, written in the opposite order."""
    con.register("input", table)
    con.register("written", table.take(pa.array(range(len(table))[::-1], pa.int64())))
    columns = ", ".join(table.schema.names)
    given = {"placed_sql": f"SELECT {columns}, 'f', row_number() OVER () FROM written", **more}
    ordered = f"SELECT {columns}, row_number() OVER () - 1 AS __row FROM input"
    rows = len(table)
    return Batch(con, f"SELECT {columns} FROM written", table.schema, rows, rows, ordered, NOW, **given)


def prepared(*checks: Any, **section: Any) -> PreparedQuality:
    return GATE.prepare({"on_failure": "quarantine", "checks": list(checks), **section}, SPEC)


def aside(con: Any, table: pa.Table, *checks: Any, **more: Any) -> list[tuple[Any, ...]]:
    """Rules and reasons of the rows that are put aside."""
    verdict = prepared(*checks).judge(batch(con, table, **more))
    assert verdict.apart
    assert not verdict.blocks
    found: list[tuple[Any, ...]] = con.sql(
        f"SELECT rules, reason FROM {verdict.apart.table} ORDER BY __pos DESC"
    ).fetchall()
    return found


def config(quality: Any, **target: Any) -> Config:
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "append",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            **target,
        },
        "quality": quality,
    }
    return Config.from_dict({"identifier": "rides", "metadata": metadata})


def errors(quality: Any, **target: Any) -> list[str]:
    return [str(item) for item in config(quality, **target).problems() if item.severity == "error"]


def in_file(quality: Any) -> Config:
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {"name": "r", "format": "PARQUET", "path": "r.parquet", "write_mode": "overwrite"},
        "quality": quality,
    }
    return Config.from_dict({"identifier": "rides", "metadata": metadata})


NULLS = {"check": "not_null", "columns": ["id"]}


def test_reasons_and_rules_of_a_row(con: Any) -> None:
    table = pa.table({"id": [1, None, 3, 1], "fare": [1.0, -1.0, float("nan"), 2.0]})
    checks = [
        {**NULLS, "name": "known"},
        {"check": "range", "column": "fare", "min": 0},
        {"check": "unique", "columns": "id"},
    ]
    assert aside(con, table, *checks) == [
        (["known", "range(fare)"], "id has no value; not fare >= 0"),
        (["range(fare)"], "not fare >= 0"),
        (["unique(id)"], "id is as in a row before"),
    ]


@pytest.mark.parametrize(("keep", "count"), [("first", 2), ("none", 3), ("NONE", 3)])
def test_equal_rows_are_one_as_good_as_another(con: Any, keep: str, count: int) -> None:
    values = pa.array([[("a", 1.0)], [("a", 1.0)], [("a", 1.0)]], pa.map_(pa.string(), pa.float64()))
    table = pa.table(
        {
            "id": [1, 1, 1],
            "props": values,
            "x": [float("nan")] * 3,
            "seen": pa.array([5] * 3, pa.timestamp("ns")),
        }
    )
    assert len(aside(con, table, {"check": "unique", "columns": "id", "keep": keep})) == count


def test_the_report_counts_what_is_put_aside(con: Any) -> None:
    table = pa.table({"id": [1, None, 2]})
    verdict = prepared(NULLS, {"check": "row_count", "equals": "source"}).judge(batch(con, table))
    assert (verdict.passed, verdict.blocks) == (False, False)
    assert [result.status for result in verdict.report.results] == ["fail", "pass"]
    text = verdict.report.summary()
    assert "not_null(id): 1 of 3 rows have a null in id" in text
    assert text.endswith("quarantined 1 row")
    assert verdict.evaluated["quarantined"] == 1
    assert [line["on_failure"] for line in verdict.evaluated["checks"]] == ["quarantine", "fail"]


def test_a_rule_that_only_warns_puts_nothing_aside(con: Any) -> None:
    verdict = prepared({**NULLS, "fail_above": 1}).judge(batch(con, pa.table({"id": [1, None]})))
    assert (verdict.apart, verdict.blocks) == (None, False)


@pytest.mark.parametrize(
    "check",
    [
        {"check": "not_null", "columns": ["nowhere"]},
        {"check": "range", "column": "city", "min": 3},
        {"check": "expression", "expression": "id + 1"},
        {"check": "expression", "expression": "CAST(city AS INTEGER) > 1"},
        {"check": "row_count", "min": 5},
        {"check": "rate_below", "predicate_column": "flag", "max_rate": 0},
        {"check": "not_null", "columns": "flag", "on_failure": "fail"},
    ],
)
def test_what_names_no_row_holds_everything_back(con: Any, check: dict[str, Any]) -> None:
    table = pa.table({"id": [1, None, 2], "city": ["a", "b", "c"], "flag": [True, None, None]})
    verdict = prepared(check, NULLS).judge(batch(con, table))
    assert verdict.blocks
    assert verdict.apart is None
    assert "quarantined" not in verdict.report.summary()
    assert con.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_rows_that_cannot_be_found_in_the_files_hold_everything_back(con: Any) -> None:
    rows = batch(con, pa.table({"id": [1, 1]}), placed_sql="SELECT 2, 'f', 1")
    verdict = prepared({"check": "unique", "columns": "id"}).judge(rows)
    assert verdict.blocks
    assert verdict.evaluated["status"] == "not_run"
    assert con.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_what_cannot_be_put_aside_fails(con: Any) -> None:
    verdict = prepared(NULLS).judge(batch(con, pa.table({"id": [1, None]}), placed_sql=""))
    assert verdict.blocks


@pytest.mark.parametrize(
    ("asked", "blocks", "rows"),
    [(None, False, 1), ("fail", True, 0), ("warn", False, 0), ("quarantine", False, 1)],
)
def test_the_run_says_what_a_failure_does(con: Any, asked: str | None, blocks: bool, rows: int) -> None:
    verdict = prepared(NULLS).judge(batch(con, pa.table({"id": [1, None]}), on_failure=asked))
    assert verdict.blocks is blocks
    assert (verdict.apart.rows if verdict.apart else 0) == rows


@pytest.mark.parametrize("check", [RowCount(min=1), MaxGap("at", 5), RateBelow("flag", 0)])
def test_a_rule_without_rows_cannot_put_any_aside(check: Any) -> None:
    with pytest.raises(ConfigError, match=r"quarantine needs rows to put aside, and \w+.* names none"):
        Rule(check=check, on_failure="quarantine")


@pytest.mark.parametrize(
    ("quality", "text"),
    [
        (
            [{"check": "row_count", "min": 1, "on_failure": "quarantine"}],
            "quality[0].on_failure: on_failure: quar",
        ),
        ({"max_share": "11"}, "max_share: "),
        ({"max_share": 1.5}, "max_share: "),
        ({"max_share": "120%"}, "max_share: "),
        ([{**NULLS, "check": "unique", "keep": "last"}], "quality[0].keep: must be one of first, none"),
        ({"on_failure": "fail", "on_fail": "warn"}, "on_failure is fail, and on_fail, which means the same"),
        (
            [{**NULLS, "fail_above": 5, "failIfGreaterThan": 6}],
            "fail_above is 5, and failIfGreaterThan, which means the same, is 6",
        ),
        ([{**NULLS, "onFail": "warn", "on_failure": "fail"}], "means the same"),
        ([{**NULLS, "failIfPercentGreaterThan": 101}], "failIfPercentGreaterThan"),
    ],
)
def test_what_is_wrong_is_found_before_any_data_is_read(quality: Any, text: str) -> None:
    found = errors(quality)
    assert len(found) == 1
    assert text in found[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on_failure": "quarantine", "checks": [NULLS]}, {"onFail": "Quarantine", "checks": [NULLS]}),
        ([{**NULLS, "on_failure": "warn"}], [{**NULLS, "on_fail": "warn"}]),
        ([{**NULLS, "fail_above": 10}], [{**NULLS, "failIfGreaterThan": 10}]),
        ([{**NULLS, "fail_above": 10}], [{**NULLS, "fail_if_greater_than": 10, "fail_above": 10}]),
        ([{**NULLS, "warn_above": "5%"}], [{**NULLS, "warnIfPercentGreaterThan": 5}]),
        (
            [{**NULLS, "warn_above": [3, "5%"]}],
            [{**NULLS, "warn_if_percent_greater_than": 5, "warnIfGreaterThan": 3}],
        ),
        ({"checks": [NULLS]}, {"checks": [NULLS], "max_share": "10%"}),
        ({"checks": [NULLS], "max_share": 0.05}, {"checks": [NULLS], "max_share": "5 %"}),
    ],
)
def test_other_words_mean_the_same(one: Any, other: Any) -> None:
    assert not errors(one)
    assert not errors(other)
    assert config(one).spec_hash() == config(other).spec_hash()


@pytest.mark.parametrize(
    ("quality", "key"),
    [
        ({"on_failure": "quarantine", "checks": [NULLS]}, "quality.on_failure"),
        ({"checks": [{**NULLS, "on_fail": "quarantine"}]}, "quality.checks[0].on_failure"),
        ([{**NULLS, "on_failure": "QUARANTINE"}], "quality[0].on_failure"),
    ],
)
def test_rows_of_a_file_cannot_be_put_aside(con: Any, quality: Any, key: str) -> None:
    [problem] = [str(item) for item in in_file(quality).problems() if item.severity == "error"]
    assert f"{key}: quarantine needs a target with format ICEBERG" in problem
    gate = GATE.prepare([NULLS], Spec({"target": {"format": "PARQUET"}}, Path()))
    with pytest.raises(UsageError, match="--on-failure quarantine: quarantine needs a target"):
        gate.judge(batch(con, pa.table({"id": [1]}), placed_sql="", on_failure="quarantine"))


@pytest.mark.parametrize(("written", "share"), [(None, 0.1), ("5%", 0.05), (1, 1.0), (0, 0.0)])
def test_share(written: Any, share: float) -> None:
    said = {} if written is None else {"max_share": written}
    assert GATE.prepare({"checks": [], **said}, SPEC).max_share == share
    assert GATE.of([NotNull("id")]).max_share == 0.1


CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: rides
version: 1.0.0
status: active
customProperties:
  - {property: onFailure, value: quarantine}
  - {property: maxShare, value: 90%}
schema:
  - name: rides
    properties:
      - name: ride_id
        logicalType: integer
        primaryKey: true
        customProperties: [{property: keep, value: none}]
      - name: city
        logicalType: string
        quality:
          - {metric: invalidValues, arguments: {validValues: [NYC, BKK]}, mustBe: 0}
          - metric: duplicateValues
            mustBeLessThan: 2
            customProperties: [{property: keep, value: first}]
      - {name: fare, logicalType: number, logicalTypeOptions: {minimum: 0}}
    quality:
      - {metric: rowCount, mustBeGreaterThan: 0}
"""
RIDES = "ride_id,city,fare\n1,NYC,2\n1,BKK,3\n2,NYC,-1\n3,?,4\n4,NYC,5\n5,BKK,6\n6,NYC,7\n7,,8\n"


def lake(folder: Path, csv: str, quality: Any, **target: Any) -> Path:
    (folder / "r.csv").write_text(csv, "utf8")
    (folder / "rides.odcs.yaml").write_text(CONTRACT, "utf8")
    body = {
        "source": {"name": "r", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "overwrite",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
            **target,
        },
        "quality": quality,
    }
    path = folder / "c.json"
    path.write_text(json.dumps({"identifier": "rides", "metadata": body}))
    return path


def rows_of(path: Path, columns: str, name: str = "rides") -> list[tuple[Any, ...]]:
    import duckdb
    from ldp_core.catalogs import load_table

    table = load_table(Config.from_file(path).spec("target").sub("catalog"), name).scan().to_arrow()
    with duckdb.connect() as con:
        con.register("t", table)
        return list(con.sql(f"SELECT {columns} FROM t ORDER BY ALL").fetchall())


def test_a_contract_puts_rows_aside(tmp_path: Path) -> None:
    path = lake(tmp_path, RIDES, {"contract": "rides.odcs.yaml"})
    result = run(Config.from_file(path))
    assert result.status == "published"
    assert result.write_result.rows_quarantined == 7
    assert rows_of(path, "ride_id") == [(7,)]
    told = rows_of(path, "ride_id, city, _ldp_rules, _ldp_reason, _ldp_primary_key", "rides__quarantine")
    repeats = ["duplicateValues(city)"], "city is as in a row before"
    assert told == [
        (1, "BKK", ["unique(ride_id)"], "ride_id is as in another row", '{"ride_id":1}'),
        (1, "NYC", ["unique(ride_id)"], "ride_id is as in another row", '{"ride_id":1}'),
        (2, "NYC", ["range(fare)"], "not fare >= 0", '{"ride_id":2}'),
        (3, "?", ["invalidValues(city)"], "city is not one of ['NYC', 'BKK']", '{"ride_id":3}'),
        (4, "NYC", *repeats, '{"ride_id":4}'),
        (5, "BKK", *repeats, '{"ride_id":5}'),
        (6, "NYC", *repeats, '{"ride_id":6}'),
    ]
    assert "quarantined 7 rows" in result.quality.summary()
    assert result.quality.to_dict()["quarantined"] == 7


def test_the_config_says_how_much_is_too_much(tmp_path: Path) -> None:
    path = lake(tmp_path, RIDES, {"contract": "rides.odcs.yaml", "max_share": "50%"})
    with pytest.raises(DataQualityError, match=r"7 of 8 rows \(87.5%\) .* max_share 50%") as refused:
        run(Config.from_file(path))
    assert "put aside" not in str(refused.value)
    assert "quarantined" not in str(refused.value)
    assert refused.value.report.to_dict()["quarantined"] == 0


def test_the_config_says_what_a_failure_does(tmp_path: Path) -> None:
    path = lake(tmp_path, RIDES, {"contract": "rides.odcs.yaml", "on_fail": "fail"})
    with pytest.raises(DataQualityError):
        run(Config.from_file(path))
    assert run(Config.from_file(path), on_failure="quarantine").write_result.rows_quarantined == 7


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "mustBeGreaterThan: 0",
            "mustBeGreaterThan: 0, customProperties: [{property: onFail, value: quarantine}]",
            r"yaml:\d+: schema\[0\].quality\[0\].customProperties\[0\].value: on_failure: quarantine needs",
        ),
        (
            "value: 90%",
            "value: much",
            r"rides.odcs.yaml:8: customProperties\[1\].value: max_share must be a share",
        ),
        (
            "value: quarantine",
            "value: aside",
            r"rides.odcs.yaml:7: customProperties\[0\].value: on_failure must be",
        ),
        ("keep, value: first", "keep, value: last", r"keep must be one of first, none, got 'last'"),
        ("keep, value: first", "maxShare, value: 1%", "is for the contract as a whole"),
        (
            "mustBeGreaterThan: 0",
            "mustBeGreaterThan: 0, customProperties: [{property: keep, value: none}]",
            "keep is about rows that repeat a key",
        ),
        (
            "keep, value: first}",
            "failAbove, value: 1}, {property: failIfGreaterThan, value: 2}",
            "failAbove is 1, and failIfGreaterThan, which means the same, is 2",
        ),
    ],
)
def test_what_is_wrong_in_a_contract_has_a_line(tmp_path: Path, old: str, new: str, text: str) -> None:
    path = tmp_path / "rides.odcs.yaml"
    path.write_text(CONTRACT.replace(old, new))
    with pytest.raises(ConfigError, match=text):
        Contract.from_file(path)


def test_a_file_cannot_be_a_target_of_such_a_contract(tmp_path: Path) -> None:
    path = lake(tmp_path, RIDES, {"contract": "rides.odcs.yaml"}, name="rides")
    body = json.loads(path.read_text())
    body["metadata"]["target"] = {
        "name": "rides",
        "format": "PARQUET",
        "path": "o.parquet",
        "write_mode": "overwrite",
    }
    path.write_text(json.dumps(body))
    with pytest.raises(ConfigError, match=r"quality.contract: quarantine needs a target with format ICEBERG"):
        run(Config.from_file(path))
    body["metadata"]["quality"]["on_failure"] = "warn"
    path.write_text(json.dumps(body))
    assert run(Config.from_file(path)).status == "published"


def test_a_guard_lets_no_row_through_that_a_load_would_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "rides.odcs.yaml"
    path.write_text(CONTRACT)
    contract = Contract.from_file(path)
    bad = pa.table({"ride_id": [1], "city": ["?"], "fare": [1.0]})
    with pytest.raises(DataQualityError), contract.guard(bad):
        pass


def test_a_key_that_is_not_there_and_values_far_from_the_rest(tmp_path: Path) -> None:
    (tmp_path / "cities.csv").write_text("id\nNYC\nBKK\n")
    (tmp_path / "cities.json").write_text(
        json.dumps(
            {
                "identifier": "cities",
                "metadata": {
                    "source": {"name": "c", "format": "CSV", "path": "cities.csv"},
                    "target": {
                        "name": "cities",
                        "format": "ICEBERG",
                        "write_mode": "overwrite",
                        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
                    },
                },
            }
        )
    )
    run(Config.from_file(tmp_path / "cities.json"))
    quality = {
        "on_failure": "quarantine",
        "max_share": 1,
        "checks": [
            {"check": "referential", "columns": "city", "to": {"table": "cities", "columns": "id"}},
            {"check": "anomaly", "column": "fare", "sigma": 1.5, "min_rows": 3},
            {"check": "row_count", "equals": "source"},
        ],
    }
    csv = "ride_id,city,fare\n1,NYC,2\n2,LON,2\n3,BKK,900\n4,,2\n5,LON,2\n6,NYC,3\n"
    path = lake(tmp_path, csv, quality)
    assert run(Config.from_file(path)).write_result.rows_quarantined == 3
    assert rows_of(path, "ride_id") == [(1,), (4,), (6,)]
    assert rows_of(path, "ride_id, _ldp_reason", "rides__quarantine") == [
        (2, "city is not in cities (id)"),
        (3, "fare is further than 1.5 standard deviations from the mean"),
        (5, "city is not in cities (id)"),
    ]


def test_a_pipeline_in_python_puts_rows_aside(tmp_path: Path) -> None:
    from ldp_core import Iceberg, Pipeline

    target = Iceberg("rides", {"identifier": "nyc", "warehouse_path": str(tmp_path)})
    rows = pa.table({"id": [*range(19), None]})
    pipeline = Pipeline(source=rows, target=target, checks=[NotNull("id")], on_failure="quarantine")
    result = pipeline.run("append")
    assert (result.rows_written, result.write_result.rows_quarantined) == (19, 1)
