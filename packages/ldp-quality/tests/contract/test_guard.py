"""A contract in Python: a report, a block that runs only on good rows, a guarded function."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import ldp_core
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.errors import ConfigError, DataQualityError
from ldp_quality import Contract, FileTable, QualityReport

TEXT = """\
apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.2.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: integer, unique: true}
      - {name: amount, logicalType: integer}
    quality:
      - {type: text, description: As the invoice says}
"""
MONITOR = TEXT + "customProperties:\n  - {property: onFailure, value: warn}\n"
WARNS = TEXT.replace("unique: true}", "customProperties: [{property: severity, value: warn}], unique: true}")
REFERS = TEXT + (
    "      - {type: custom, engine: ldp, implementation: "
    "{check: referential, columns: [id], to: {table: customers}}}\n"
)
GOOD = {"id": [1, 2], "amount": [5, 6]}
BAD = {"id": [1, 1], "amount": [5, 6]}


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Contract]:
    def read(text: str) -> Contract:
        (tmp_path / "shop.odcs.yaml").write_text(text, encoding="utf-8")
        return Contract.from_file(tmp_path / "shop.odcs.yaml")

    return read


@pytest.fixture
def contract(read: Callable[[str], Contract]) -> Contract:
    return read(TEXT)


def statuses(report: QualityReport) -> list[str]:
    return [result.status for result in report.results]


def frames(rows: dict[str, list[int]]) -> Iterator[Any]:
    import pandas
    import polars

    table = pa.table(rows)
    yield table
    yield table.to_batches()[0]
    yield pandas.DataFrame(rows)
    yield polars.DataFrame(rows)
    con = duckdb.connect()
    con.register("rows", table)
    yield con.sql("SELECT * FROM rows")


def test_check_judges_and_raises_nothing(contract: Contract) -> None:
    for good, bad in zip(frames(GOOD), frames(BAD), strict=True):
        assert statuses(contract.check(good)) == ["pass", "pass", "not_run"]
        assert statuses(contract.check(bad, "orders")) == ["pass", "fail", "not_run"]
    assert statuses(contract.check(pa.table(BAD).to_reader())) == ["pass", "fail", "not_run"]


def test_check_takes_files_and_tables_where_they_lie(contract: Contract, tmp_path: Path) -> None:
    pq.write_table(pa.table(BAD), tmp_path / "rows.parquet")
    catalog = {"identifier": "nyc", "warehouse_path": str(tmp_path / "warehouse")}
    ldp_core.Iceberg("orders", catalog, base_dir=tmp_path).put(pa.table(BAD))
    for place in (FileTable(tmp_path / "rows.parquet"), ldp_core.table("nyc.orders", tmp_path)):
        assert statuses(contract.check(place)) == ["pass", "fail", "not_run"]


def test_a_relationship_is_looked_up_in_the_catalog_of_the_table(
    read: Callable[[str], Contract], tmp_path: Path
) -> None:
    contract = read(REFERS)
    catalog = {"identifier": "nyc", "warehouse_path": str(tmp_path / "warehouse")}
    ldp_core.Iceberg("orders", catalog, base_dir=tmp_path).put(pa.table(GOOD))
    ldp_core.Iceberg("customers", catalog, base_dir=tmp_path).put(pa.table({"id": [1]}))
    found = contract.check(ldp_core.table("nyc.orders", tmp_path)).results[-1]
    assert (found.status, found.failing_rows) == ("fail", 1)
    assert contract.check(pa.table(GOOD)).results[-1].status == "not_run"
    with pytest.raises(DataQualityError, match="needs the catalog of a run"), contract.guard(pa.table(GOOD)):
        pytest.fail("nobody knows whether these rows are good")


def test_the_block_runs_only_on_good_rows(contract: Contract) -> None:
    for good, bad in zip(frames(GOOD), frames(BAD), strict=True):
        with contract.guard(good) as report:
            assert statuses(report) == ["pass", "pass", "not_run"]
        with pytest.raises(DataQualityError, match="unique") as raised, contract.guard(bad):
            pytest.fail("the block ran")
        assert raised.value.report.failures[0].failing_rows == 2
        assert str(raised.value).startswith(f"{contract.file}: 1 of 3 data quality checks failed:")


def test_an_error_of_the_block_is_its_own(contract: Contract) -> None:
    with pytest.raises(ZeroDivisionError), contract.guard(pa.table(GOOD)):
        _ = 1 / 0


def test_a_relation_can_still_be_read(contract: Contract) -> None:
    *_, relation = frames(GOOD)
    with contract.guard(relation):
        assert relation.fetchall() == [(1, 5), (2, 6)]


def test_what_only_warns_is_logged(read: Callable[[str], Contract], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "ldp_quality")
    with read(TEXT).guard(pa.table(BAD), on_failure="warn") as report:
        assert report.status == "fail"
    with read(WARNS).guard(pa.table(BAD)) as report:
        assert report.warnings
    assert ["unique(id)" in record.getMessage() for record in caplog.records] == [True, True]
    caplog.clear()
    with read(TEXT).guard(pa.table(GOOD)):
        pass
    assert caplog.records == []


def test_the_nearest_word_about_failures_wins(read: Callable[[str], Contract]) -> None:
    contract = read(MONITOR)
    with contract.guard(pa.table(BAD)) as report:
        assert report.failures
    with pytest.raises(DataQualityError), contract.guard(pa.table(BAD), on_failure="FAIL"):
        pytest.fail("the block ran")
    with pytest.raises(ConfigError, match="on_failure must be one of fail, warn, quarantine, got 'stop'"):
        contract.guard(pa.table(BAD), on_failure="stop")


def test_a_function_returns_what_it_did_or_raises(contract: Contract) -> None:
    good = pa.table(GOOD)

    @contract.guarded(table="orders")
    def load(rows: Any, *, say: str) -> Any:
        """Loads."""
        return rows

    assert load(good, say="a") is good
    assert (load.__name__, load.__doc__) == ("load", "Loads.")
    with pytest.raises(DataQualityError, match="unique"):
        load(pa.table(BAD), say="a")


def test_freshness_is_measured_from_a_given_moment(read: Callable[[str], Contract]) -> None:
    sla = "slaProperties:\n  - {property: latency, value: 1, unit: d, element: orders.at}\n"
    contract = read(TEXT.replace("name: amount, logicalType: integer", "name: at, logicalType: date") + sla)
    rows = pa.table({"id": [1], "at": pa.array([20_000], pa.int32()).cast(pa.date32())})  # 2024-10-04
    with contract.guard(rows, context={"now": "2024-10-05"}):
        pass
    with pytest.raises(DataQualityError), contract.guard(rows, context={"now": "2024-10-06T00:00:01Z"}):
        pytest.fail("the block ran")


def test_rows_that_would_be_used_up_are_refused(contract: Contract) -> None:
    reader = pa.table(GOOD).to_reader()
    with pytest.raises(ConfigError, match="only once"), contract.guard(reader):
        pytest.fail("the block ran")
    assert reader.read_all().num_rows == 2


def test_functions_that_do_not_return_rows_are_refused(contract: Contract) -> None:
    async def later() -> Any:
        return pa.table(GOOD)

    def some() -> Iterator[Any]:
        yield pa.table(GOOD)

    for function in (later, some):
        with pytest.raises(ConfigError, match="does not return rows"):
            contract.guarded()(function)
    with pytest.raises(ConfigError, match="written with brackets"):
        contract.guarded(later)  # type: ignore[arg-type]


def test_what_is_no_frame_is_one_clear_line(contract: Contract) -> None:
    import pandas
    import polars

    for rows in (None, [1], pandas.Series([1]), polars.Series([1])):
        with pytest.raises(ConfigError, match="checks read a pyarrow Table"):
            contract.check(rows)
    with pytest.raises(ConfigError, match=r"collect\(\) it first"):
        contract.check(polars.LazyFrame(GOOD))


def test_a_table_must_be_named_where_there_are_several(read: Callable[[str], Contract]) -> None:
    contract = read(TEXT + "  - {name: customers, properties: [{name: id, required: true}]}\n")
    assert statuses(contract.check(pa.table({"id": [None, 1]}), "customers")) == ["pass", "fail"]
    with pytest.raises(ConfigError, match="several tables: orders, customers; name one"):
        contract.guard(pa.table(GOOD))
    with pytest.raises(ConfigError, match="no table nope"):
        contract.guarded("nope")
