"""Rules that look at more than the rows of the run: the window, the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core import Iceberg
from ldp_core.commit import publish as publishing
from ldp_core.config import Config
from ldp_core.errors import ConfigError, DataQualityError
from ldp_core.run.runner import run
from ldp_quality import Contract
from ldp_quality.contract.trial import try_contract

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: rides
version: 1.0.0
status: active
schema:
  - name: rides
    properties:
      - {name: id, logicalType: integer, primaryKey: true}
      - name: city
        logicalType: string
        quality: [{metric: duplicateValues, mustBeLessThan: 2}]
"""
UNIQUE = {"check": "unique", "columns": "id", "scope": "table"}


class Lake:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, rows: list[tuple[int, str]], quality: Any = (), mode: str = "append", **more: Any) -> Any:
        schema = pa.schema([("id", pa.int64()), ("city", pa.string())])
        table = pa.Table.from_pylist([{"id": id_, "city": city} for id_, city in rows], schema=schema)
        name = f"r{abs(hash(str(rows)))}.parquet"
        pq.write_table(table, self.folder / name)
        body = {
            "source": {"name": "r", "format": "PARQUET", "path": name},
            "target": {
                "name": "rides",
                "format": "ICEBERG",
                "write_mode": mode,
                "join_cols": ["id"],
                "catalog": CATALOG,
                **more,
            },
            "observability": {"sinks": [{"type": "jsonl"}]},
            "quality": quality if isinstance(quality, dict) else list(quality),
        }
        return run(Config.from_dict({"identifier": "rides", "metadata": body}, base_dir=self.folder))

    def ids(self) -> list[int]:
        return sorted(Iceberg("rides", CATALOG, base_dir=self.folder).get()["id"].to_pylist())

    def head(self) -> str:
        return str(Iceberg("rides", CATALOG, base_dir=self.folder).snapshots()[-1]["snapshot_id"])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path)
    made.load([(1, "a"), (2, "b")])
    return made


def found(error: pytest.ExceptionInfo[DataQualityError]) -> list[dict[str, Any]]:
    return list(error.value.report.to_dict()["results"])


def test_the_batch_is_judged_by_default_and_the_table_where_it_is_said(lake: Lake) -> None:
    head = lake.head()
    with pytest.raises(DataQualityError) as caught:
        lake.load([(3, "c"), (2, "d"), (1, "e"), (4, "f"), (4, "g")], [UNIQUE])
    (result,) = found(caught)
    assert (result["scope"], result["base_snapshot"]) == ("table", head)
    assert result["failing_rows"] == 4
    assert result["metrics"]["keys_standing"] == 2
    assert [sample["row"] for sample in result["samples"]] == [1, 2, 3, 4]
    assert (
        "unique(id) in the table: 3 duplicated key(s) in (id) across 4 rows; "
        "2 key(s) of the batch stand in the table already, in 2 of its rows; e.g. 2 x2"
    ) in str(caught.value)
    assert lake.ids() == [1, 2]
    result = lake.load([(1, "e")], [{"check": "unique", "columns": "id"}]).quality.to_dict()["results"][0]
    assert (result["scope"], result["base_snapshot"]) == ("batch", None)
    assert lake.ids() == [1, 1, 2]


def test_what_a_publish_replaces_is_not_in_its_way(lake: Lake) -> None:
    assert lake.load([(1, "c"), (3, "c")], [UNIQUE], "upsert").quality.passed
    assert lake.load([(1, "c"), (3, "c")], [UNIQUE], "overwrite").quality.passed
    with pytest.raises(DataQualityError, match="1 key"):
        lake.load([(9, "c")], [{**UNIQUE, "columns": "city"}], "upsert")
    assert lake.ids() == [1, 3]


def test_other_rules_judge_all_rows_of_the_table(lake: Lake) -> None:
    lake.load([(3, "")])
    checks = [
        {"check": "row_count", "max": 4, "scope": "table"},
        {"check": "row_count", "max": 1},
        {"check": "expression", "expression": "city <> ''", "scope": "table"},
        {"check": "monotonic", "column": "id", "order_by": "id", "strict": True, "scope": "table"},
    ]
    with pytest.raises(DataQualityError) as caught:
        lake.load([(4, ""), (2, "x")], checks)
    rows, batch, words, steps = found(caught)
    assert (rows["metrics"]["row_count"], batch["metrics"]["row_count"]) == (5, 2)
    assert (rows["scope"], batch["scope"]) == ("table", "batch")
    assert [(sample["row"], sample["values"]["id"]) for sample in words["samples"]] == [(0, 4), (None, 3)]
    assert "in the table: id=3" in str(caught.value)
    assert steps["metrics"]["violations"] == 1
    assert steps["metrics"]["sample"][0]["row"] == 1


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"check": "row_count", "equals": "source"}, "rows of the run"),
        ({"check": "monotonic", "column": "id"}, "no order without order_by"),
        ({"check": "unique", "columns": "id", "scope": "lake"}, "scope"),
    ],
)
def test_a_scope_that_cannot_be_is_refused(lake: Lake, check: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        lake.load([(3, "c")], [{"scope": "table", **check}])


def test_keys_of_a_contract_are_promises_of_the_table(lake: Lake) -> None:
    (lake.folder / "c.yaml").write_text(CONTRACT)
    with pytest.raises(DataQualityError) as caught:
        lake.load([(2, "b"), (3, "a"), (4, "c")], {"contract": "c.yaml"})
    results = {item["name"]: item for item in found(caught)}
    assert results["unique(id)"]["scope"] == "table"
    assert results["unique(id)"]["failing_rows"] == 1
    assert results["duplicateValues(city)"]["metrics"]["count"] == 2
    assert {item["scope"] for name, item in results.items() if "not_null" in name} == {"batch"}
    custom = "  - name: rides\n    customProperties: [{property: scope, value: batch}]\n"
    (lake.folder / "c.yaml").write_text(CONTRACT.replace("  - name: rides\n", custom))
    assert lake.load([(2, "c")], {"contract": "c.yaml"}).quality.passed


def racing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Let another writer publish after the verdict, right before this one's first commit is sent."""
    real = publishing.send

    def send(*args: Any) -> Any:
        monkeypatch.setattr(publishing, "send", real)
        act()
        return real(*args)

    monkeypatch.setattr(publishing, "send", send)


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_a_verdict_on_the_table_is_made_again_when_others_were_quicker(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    if mode == "upsert":
        from contextlib import nullcontext

        from ldp_core.targets import iceberg_session

        monkeypatch.setattr(iceberg_session, "table_lock", lambda base: nullcontext())
    check = {**UNIQUE, "columns": "city"}
    racing(monkeypatch, lambda: lake.load([(5, "e")]))
    with pytest.raises(DataQualityError, match=r"1 key.s. of the batch stand in the table already"):
        lake.load([(7, "g"), (6, "e")], [check], mode)
    assert lake.ids() == [1, 2, 5]
    ledger = (lake.folder / ".ldp/events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in ledger]
    judged = [event["payload"] for event in events if event["type"] == "quality.evaluated"]
    assert [payload["passed"] for payload in judged[-2:]] == [True, False]
    assert judged[-1]["results"][0]["scope"] == "table"

    racing(monkeypatch, lambda: lake.load([(8, "h")]))
    result = lake.load([(9, "i")], [check], mode)
    assert lake.ids() == [1, 2, 5, 8, 9]
    bases = [str(item["snapshot_id"]) for item in Iceberg("rides", CATALOG, base_dir=lake.folder).snapshots()]
    assert result.quality.to_dict()["results"][0]["base_snapshot"] == bases[-2]


def test_a_batch_that_only_looks_at_itself_is_judged_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    racing(monkeypatch, lambda: lake.load([(5, "e")]))
    assert lake.load([(6, "e")], [{"check": "unique", "columns": "city"}]).quality.passed
    assert lake.ids() == [1, 2, 5, 6]


@pytest.mark.parametrize(("ids", "passed"), [([2, 3], True), ([1, 3], False)])
def test_a_window_is_the_batch_and_what_stands_in_it(tmp_path: Path, ids: list[int], passed: bool) -> None:
    def load(ids: list[int], days: list[int], **more: Any) -> Any:
        at = pa.array([datetime(2026, 8, day) for day in days], pa.timestamp("us"))
        pq.write_table(pa.table({"id": ids, "at": at}), tmp_path / "r.parquet")
        body = {
            "source": {"name": "r", "format": "PARQUET", "path": "r.parquet"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG},
            "window": {"size": "day", "column": "at"},
        }
        window = "2026-08-01/2026-08-02" if more else None
        config = Config.from_dict({"identifier": "rides", "metadata": {**body, **more}}, base_dir=tmp_path)
        return run(config, window=window)

    load([1, 2], [1, 2])
    quality = [{**UNIQUE, "scope": "window"}, {"check": "row_count", "max": 3, "scope": "window"}]
    if passed:
        results = load(ids, [1, 1], quality=quality).quality.to_dict()["results"]
        assert [item["scope"] for item in results] == ["window", "window"]
        assert results[1]["metrics"]["row_count"] == 3
    else:
        with pytest.raises(DataQualityError, match=r"1 key.s. of the batch stand in the window already"):
            load(ids, [1, 1], quality=quality)


def test_rows_with_keys_of_the_table_are_put_aside(lake: Lake) -> None:
    aside = {**UNIQUE, "on_failure": "quarantine"}
    section = {
        "checks": [aside, {"check": "not_null", "columns": "city", "scope": "table"}],
        "max_share": "60%",
    }
    result = lake.load([(2, "x"), (3, "c"), (4, "d"), (4, "e")], section)
    assert lake.ids() == [1, 2, 3, 4]
    assert result.write_result.rows_quarantined == 2
    assert [item["scope"] for item in result.quality.to_dict()["results"]] == ["table", "table"]


def test_only_rows_of_the_condition_are_compared_when_rows_are_put_aside(lake: Lake) -> None:
    aside = {**UNIQUE, "where": "city <> 'b'", "on_failure": "quarantine"}
    result = lake.load(
        [(1, "x"), (2, "y")], {"checks": [aside], "max_share": "60%"}
    )  # (2, "b") is not looked at
    assert lake.ids() == [1, 2, 2]
    assert result.write_result.rows_quarantined == 1


def test_an_upsert_that_puts_a_row_aside_is_judged_beside_the_row_that_stays(lake: Lake) -> None:
    section = {
        "checks": [
            {"check": "expression", "expression": "city <> 'bad'", "on_failure": "quarantine"},
            {**UNIQUE, "columns": "city"},
        ],
        "max_share": "60%",
    }
    with pytest.raises(DataQualityError, match=r"1 key.s. of the batch stand in the table already"):
        lake.load([(1, "bad"), (3, "a")], section, "upsert")  # "a" is free only if 1 is replaced
    assert lake.ids() == [1, 2]
    assert lake.load([(1, "bad"), (3, "c")], section, "upsert").quality.passed is False
    assert lake.ids() == [1, 2, 3]


def test_more_rows_to_put_aside_begin_the_load_again(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    racing(monkeypatch, lambda: lake.load([(6, "e")]))
    section = {"checks": [{**UNIQUE, "on_failure": "quarantine"}], "max_share": "60%"}
    result = lake.load([(6, "f"), (7, "g")], section)
    assert lake.ids() == [1, 2, 6, 7]
    assert result.write_result.rows_quarantined == 1


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "r.parquet")
    body = {
        "source": {"name": "r", "format": "PARQUET", "path": "r.parquet"},
        "target": {"name": "out", "format": "CSV", "path": "out.csv"},
        "quality": [UNIQUE],
    }
    config = Config.from_dict({"identifier": "rides", "metadata": body}, base_dir=tmp_path)
    for _ in range(2):
        result = run(config).quality.to_dict()["results"][0]  # type: ignore[union-attr]
        assert (result["passed"], result["scope"]) == (True, "table")


def test_a_contract_that_is_tried_judges_all_that_it_is_given(lake: Lake) -> None:
    (lake.folder / "c.yaml").write_text(CONTRACT)
    lake.load([(2, "c"), (3, "c")])
    contract = Contract.from_file(lake.folder / "c.yaml")
    found = try_contract(
        contract, contract.table(), Iceberg("rides", CATALOG, base_dir=lake.folder)
    ).to_dict()
    assert {result["scope"] for result in found["results"]} == {"table"}
    counts = {result["name"]: result["failing_rows"] for result in found["results"]}
    assert counts["unique(id)"] == 2  # also of rows that stood there: it is asked for
