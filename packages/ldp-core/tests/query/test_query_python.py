"""Queries from Python: ``DuckDBEngine`` and the handle of a table."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.errors import QueryError, SnapshotNotFound, TableNotFound
from ldp_core.query.engine import DuckDBEngine
from ldp_core.query.handle import TableHandle
from ldp_core.query.refs import find_tables
from ldp_core.query.travel import Travel
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType, StructType


def test_engine(rides: Any) -> None:
    first = rides.current_snapshot().snapshot_id
    rides.append(rides.scan().to_arrow())
    with DuckDBEngine() as engine:
        engine.register_iceberg(rides, "now")
        engine.register_iceberg(rides, "old", snapshot_id=first)
        engine.register_iceberg(rides, "dear", row_filter="fare > 6")
        engine.register_arrow(pa.table({"ride_id": [2], "name": ["two"]}), 'odd "name"')
        found = engine.query("select (select count(*) from now) a, (select count(*) from old) b").to_pylist()
        assert found == [{"a": 6, "b": 3}]
        for _ in range(2):
            assert engine.query("select count(*) n from dear")["n"].to_pylist() == [4]
        joined = engine.query('select name from old join "odd ""name""" using (ride_id)')
        assert joined.to_pylist() == [{"name": "two"}]
        with pytest.raises(QueryError):
            engine.query("selec 1")
        with pytest.raises(SnapshotNotFound):
            engine.register_iceberg(rides, "x", snapshot_id=1)


def test_a_name_of_the_engine_may_be_given_again_in_every_way(rides: Any) -> None:
    with DuckDBEngine() as engine:
        ways: list[tuple[Callable[[], None], int]] = [
            (lambda: engine.register_iceberg(rides, "t"), 3),
            (lambda: engine.register_iceberg(rides, "t", row_filter="fare > 6"), 2),
            (lambda: engine.register_arrow(pa.table({"a": [1]}), "T"), 1),
        ]
        for first, _ in ways:
            for second, count in ways:
                first()
                second()
                assert engine.query("select count(*) n from t")["n"].to_pylist() == [count]


def test_engine_takes_a_format_object_and_leaves_a_given_connection_open(rides: Any) -> None:
    class Format:
        def table(self) -> Any:
            return rides

    con = duckdb.connect()
    with DuckDBEngine(con) as engine:
        engine.register_iceberg(Format(), "r")
        engine.register_iceberg(Format(), "r")
        assert engine.query("select sum(fare) s from r")["s"].to_pylist() == [22.0]
    assert con.execute("select 1").fetchall() == [(1,)]


def test_handle(rides: Any) -> None:
    ref = find_tables(["c.json"])[0]
    handle = TableHandle(ref)
    assert handle.to_arrow().sort_by("ride_id") == rides.scan().to_arrow().sort_by("ride_id")
    assert handle.to_arrow(["fare", "ride_id"]).column_names == ["fare", "ride_id"]
    assert handle.to_duckdb().aggregate("sum(fare) s").fetchall() == [(22.0,)]
    first = rides.current_snapshot().snapshot_id
    rides.append(rides.scan().to_arrow())
    assert handle.to_arrow().num_rows == 6
    assert TableHandle(ref, Travel(snapshot_id=first)).to_arrow().num_rows == 3
    with pytest.raises(QueryError):
        handle.to_arrow(["nope"])
    with pytest.raises(TableNotFound):
        TableHandle(type(ref)(ref.catalog, "nyc", "gone", "c.json")).to_arrow()


def test_handle_keeps_icebergs_types(load: Callable[..., Any], home: Path) -> None:
    rows = pa.table(
        {
            "u": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "f": pa.array([b"abcd", None], pa.binary(4)),
            "z": pa.array([1, None], pa.timestamp("us", "UTC")),
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        }
    )
    table = load("odd", rows)
    handle = TableHandle(find_tables(["odd.json"])[0])
    expected = table.scan().to_arrow()
    found = handle.to_arrow()
    assert found.to_pylist() == expected.to_pylist()
    assert found.schema.field("u").type == pa.uuid()


def test_handle_as_polars(rides: Any) -> None:
    pytest.importorskip("polars")
    assert TableHandle(find_tables(["c.json"])[0]).to_polars().shape == (3, 3)


def test_fields_of_a_struct_that_differ_in_case_only_are_two(tmp_path: Path) -> None:
    both = StructType(NestedField(2, "x", LongType()), NestedField(3, "X", StringType()))
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    catalog.create_namespace("nyc")
    table = catalog.create_table(("nyc", "t"), Schema(NestedField(1, "s", both)))
    values = pa.StructArray.from_arrays([pa.array([1]), pa.array(["one"])], names=["x", "X"])
    table.append(pa.table({"s": values}, schema=table.schema().as_arrow()))
    with DuckDBEngine() as engine:
        engine.register_iceberg(table, "t")
        assert engine.query('select s.x a, s."X_1" b from t').to_pylist() == [{"a": 1, "b": "one"}]
