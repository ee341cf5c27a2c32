"""Every shape of table that Iceberg allows reads as pyiceberg reads it."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core._duck import connect
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.errors import QueryError, SnapshotNotFound
from ldp_core.tables.scan import Scan, plan_scan, scan_sql
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = ClosingCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "wh"))
    catalog.create_namespace("n")
    return catalog


def rows(table: pa.Table) -> list[str]:
    """Rows by position (names may collide), in an order of their own."""
    columns = [column.to_pylist() for column in table.columns]
    return sorted(repr([_plain(value) for value in row]) for row in zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).isoformat()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def check(table: Table, snapshot_id: int | None = None, **options: Any) -> Scan:
    """Read both ways; returns the scan, so that a test can say which way it took."""
    scan = plan_scan(table.metadata, table.io, snapshot_id=snapshot_id)
    expected = table.scan(snapshot_id=snapshot_id).to_arrow()
    con = connect()
    found = con.sql(scan_sql(con, scan, **options)).to_arrow_table()
    assert found.schema.names == expected.schema.names
    assert rows(found) == rows(expected)
    if not scan.needs_pyiceberg:
        again = Scan.from_json(json.loads(json.dumps(scan.to_json())))
        assert again == scan
        assert rows(connect().sql(scan_sql(con, again)).to_arrow_table()) == rows(expected)
    return scan


def simple(catalog: Catalog, name: str = "t") -> Table:
    table = catalog.create_table(
        ("n", name),
        Schema(
            NestedField(1, "a", IntegerType()),
            NestedField(2, "b", StringType()),
            NestedField(3, "f", FloatType()),
            NestedField(4, "d", DecimalType(9, 2)),
        ),
    )
    table.append(
        data(table, a=[1, 2, None], b=["x", None, "z"], f=[1.5, None, 0.1], d=[Decimal("1.20"), None, None])
    )
    return table


def data(table: Table, **columns: list[Any]) -> pa.Table:
    schema = table.schema().as_arrow()
    return pa.table(
        {field.name: pa.array(columns[field.name], field.type) for field in schema}, schema=schema
    )


def test_empty_table_has_its_columns(catalog: Catalog) -> None:
    table = catalog.create_table(
        "n.t", Schema(NestedField(1, "a", IntegerType()), NestedField(2, "b", UUIDType()))
    )
    scan = check(table)
    assert scan.snapshot_id is None


def test_every_type(catalog: Catalog) -> None:
    table = catalog.create_table(
        "n.t",
        Schema(
            NestedField(1, "bo", BooleanType()),
            NestedField(2, "i", IntegerType()),
            NestedField(3, "l", LongType()),
            NestedField(4, "f", FloatType()),
            NestedField(5, "d", DoubleType()),
            NestedField(6, "de", DecimalType(38, 10)),
            NestedField(7, "da", DateType()),
            NestedField(8, "t", TimeType()),
            NestedField(9, "ts", TimestampType()),
            NestedField(10, "tz", TimestamptzType()),
            NestedField(11, "s", StringType()),
            NestedField(12, "u", UUIDType()),
            NestedField(13, "fx", FixedType(4)),
            NestedField(14, "b", BinaryType()),
            NestedField(15, "li", ListType(16, IntegerType(), element_required=False)),
            NestedField(17, "m", MapType(18, StringType(), 19, DecimalType(5, 1), value_required=False)),
            NestedField(
                20,
                "st",
                StructType(
                    NestedField(21, "x", IntegerType()),
                    NestedField(22, "y", ListType(23, StructType(NestedField(24, "z", StringType())))),
                ),
            ),
        ),
    )
    key = uuid.UUID(int=7).bytes
    table.append(
        data(
            table,
            bo=[True, None],
            i=[-1, None],
            l=[2**62, None],
            f=[0.5, None],
            d=[1e300, None],
            de=[Decimal("1.0000000001"), None],
            da=[dt.date(1900, 1, 1), None],
            t=[dt.time(23, 59, 59, 999999), None],
            ts=[dt.datetime(1960, 1, 1, 1, 1, 1, 1), None],
            tz=[dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None],
            s=["é'\"", None],
            u=[key, None],
            fx=[b"\x00abc", None],
            b=[b"\xff\x00", None],
            li=[[1, None], None],
            m=[[("k", Decimal("1.5")), ("n", None)], None],
            st=[{"x": 1, "y": [{"z": "q"}, {"z": None}]}, None],
        )
    )
    assert not check(table).needs_pyiceberg


def test_renamed_promoted_added_dropped_and_added_again(catalog: Catalog) -> None:
    table = simple(catalog)
    with table.update_schema() as update:
        update.rename_column("b", "bb")
        update.update_column("a", LongType())
        update.update_column("f", DoubleType())
        update.update_column("d", DecimalType(18, 2))
        update.add_column("new", StringType())
    check(table)
    table.append(data(table, a=[2**40], bb=["w"], f=[1e300], d=[Decimal("1234567890123.25")], new=["n"]))
    check(table)
    with table.update_schema() as update:
        update.delete_column("bb")
    with table.update_schema() as update:
        update.add_column("bb", StringType())
        update.move_first("bb")
    assert not check(table).needs_pyiceberg
    table.append(data(table, a=[9], bb=["again"], f=[None], d=[None], new=[None]))
    check(table)
    for snapshot in table.metadata.snapshots:
        check(table, snapshot.snapshot_id)


def test_swapped_names(catalog: Catalog) -> None:
    table = simple(catalog)
    with table.update_schema() as update:
        update.rename_column("a", "tmp")
    with table.update_schema() as update:
        update.rename_column("b", "a")
    with table.update_schema() as update:
        update.rename_column("tmp", "b")
    check(table)


@pytest.mark.parametrize(
    "name",
    [
        "filename",
        "file_row_number",
        "file_index",
        "f1",
        "__file",
        "select",
        'quo"te',
        "it's",
        " ",
        "é",
        "a.b",
        "1",
        "__row",
    ],
)
def test_any_column_name(catalog: Catalog, name: str) -> None:
    table = catalog.create_table(
        "n.t", Schema(NestedField(1, name, StringType()), NestedField(2, "other", LongType()))
    )
    table.append(data(table, **{name: ["v"], "other": [5]}))
    check(table)


def test_names_that_differ_only_in_case(catalog: Catalog) -> None:
    table = catalog.create_table(
        "n.t", Schema(NestedField(1, "a", StringType()), NestedField(2, "A", LongType()))
    )
    table.append(data(table, a=["v"], A=[5]))
    assert not check(table).needs_pyiceberg


def nested(catalog: Catalog) -> Table:
    table = catalog.create_table(
        "n.t",
        Schema(
            NestedField(1, "id", LongType()),
            NestedField(
                2, "s", StructType(NestedField(3, "x", IntegerType()), NestedField(4, "y", StringType()))
            ),
            NestedField(
                5, "l", ListType(6, StructType(NestedField(7, "p", IntegerType())), element_required=False)
            ),
        ),
    )
    table.append(data(table, id=[1, 2], s=[{"x": 1, "y": "q"}, None], l=[[{"p": 1}], None]))
    return table


def test_nested_field_added_and_promoted(catalog: Catalog) -> None:
    table = nested(catalog)
    with table.update_schema() as update:
        update.add_column(("s", "z"), StringType())
        update.add_column(("l", "q"), StringType())
        update.update_column(("s", "x"), LongType())
        update.update_column(("l", "p"), LongType())
    assert not check(table).needs_pyiceberg
    table.append(data(table, id=[3], s=[{"x": 2**40, "y": None, "z": "z"}], l=[[{"p": 2**40, "q": "q"}]]))
    assert not check(table).needs_pyiceberg


def test_nested_field_dropped(catalog: Catalog) -> None:
    table = nested(catalog)
    with table.update_schema() as update:
        update.delete_column(("s", "x"))
    assert not check(table).needs_pyiceberg


def test_nested_field_renamed_goes_through_pyiceberg_for_the_old_files_only(catalog: Catalog) -> None:
    table = nested(catalog)
    with table.update_schema() as update:
        update.rename_column(("s", "x"), "xx")
        update.rename_column(("l", "p"), "pp")
    assert check(table).needs_pyiceberg
    table.append(data(table, id=[3], s=[{"xx": 7, "y": None}], l=[[{"pp": 8}]]))
    scan = check(table)
    assert sorted(bool(file.reason) for file in scan.files) == [False, True]


def test_nested_field_dropped_and_added_again(catalog: Catalog) -> None:
    table = nested(catalog)
    with table.update_schema() as update:
        update.delete_column(("s", "x"))
    with table.update_schema() as update:
        update.add_column(("s", "x"), IntegerType())
    assert check(table).needs_pyiceberg


def plain_file(path: Path, body: pa.Table) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(body, path)
    return str(path)


def test_files_without_field_ids(catalog: Catalog, tmp_path: Path) -> None:
    table = simple(catalog)
    body = data(table, a=[7, None], b=["plain", None], f=[1.0, 2.0], d=[None, Decimal("3.00")])
    body = pa.table({name: body[name] for name in body.schema.names})
    table.add_files([plain_file(tmp_path / "x" / "p.parquet", body)])
    assert not check(table).needs_pyiceberg
    with table.update_schema() as update:
        update.rename_column("b", "bb")
        update.add_column("later", LongType())
        update.update_column("a", LongType())
    scan = check(table)
    assert not scan.needs_pyiceberg
    assert [bool(file.names) for file in sorted(scan.files, key=lambda f: f.rows)] == [True, False]


def test_files_without_field_ids_and_nested_names(catalog: Catalog, tmp_path: Path) -> None:
    table = nested(catalog)
    body = data(table, id=[4], s=[{"x": 4, "y": "y"}], l=[[{"p": 1}]])
    plain = pa.table(
        {
            "id": body["id"].cast(pa.int64()),
            "s": body["s"].cast(pa.struct([("x", pa.int32()), ("y", pa.string())])),
            "l": body["l"].cast(pa.list_(pa.struct([("p", pa.int32())]))),
        }
    )
    table.add_files([plain_file(tmp_path / "x" / "p.parquet", plain)])
    assert not check(table).needs_pyiceberg
    with table.update_schema() as update:
        update.rename_column(("s", "x"), "xx")
    assert check(table).needs_pyiceberg


def test_partition_column_that_only_the_partition_knows(catalog: Catalog, tmp_path: Path) -> None:
    table = catalog.create_table(
        "n.t",
        Schema(NestedField(1, "a", LongType()), NestedField(2, "p", StringType())),
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p")),
    )
    table.append(data(table, a=[1, 2], p=["x", None]))
    scan = check(table)
    assert not scan.needs_pyiceberg
    assert {file.partition["p"] for file in scan.files} == {"x", None}


@pytest.mark.parametrize("folder", ["a[1]b", "star*", "q?", "sp ace", "d=1", "per%20cent", "quo'te", "{x,y}"])
def test_any_folder_name(tmp_path: Path, folder: str) -> None:
    home = tmp_path / folder
    home.mkdir()
    catalog = ClosingCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(home))
    catalog.create_namespace("n")
    simple(catalog, "t")
    check(catalog.load_table("n.t"))


def test_columns_files_and_positions(catalog: Catalog) -> None:
    table = simple(catalog)
    table.append(data(table, a=[10], b=["ten"], f=[None], d=[None]))
    scan = plan_scan(table.metadata, table.io)
    con = connect()
    one = next(file.path for file in scan.files if file.rows == 1)
    sql = scan_sql(con, scan, columns=["b", "a"], files=[one], position=True)
    assert con.sql(sql).fetchall() == [("ten", 10, one, 0)]
    every = con.sql(scan_sql(con, scan, columns=["a"], position=True)).fetchall()
    assert {(a, pos) for a, _, pos in every} == {(1, 0), (2, 1), (None, 2), (10, 0)}
    assert {path for _, path, _ in every} == {file.path for file in scan.files}


def test_nested_names_that_differ_only_in_case(catalog: Catalog) -> None:
    inner = StructType(NestedField(2, "x", IntegerType()), NestedField(3, "X", IntegerType()))
    table = catalog.create_table("n.t", Schema(NestedField(1, "s", inner), NestedField(4, "id", LongType())))
    table.append(data(table, s=[{"x": 1, "X": 2}, None], id=[1, 2]))
    scan = plan_scan(table.metadata, table.io)
    assert scan.needs_pyiceberg
    con = connect()
    assert con.sql(scan_sql(con, scan, columns=["id"])).fetchall() == [(1,), (2,)]
    found = con.sql(scan_sql(con, scan)).fetchall()
    assert [tuple((row[0] or {}).values()) for row in found] == [(1, 2), ()]


def test_the_fallback_runs_as_often_as_it_is_asked(catalog: Catalog) -> None:
    table = nested(catalog)
    with table.update_schema() as update:
        update.rename_column(("s", "x"), "xx")
    scan = plan_scan(table.metadata, table.io)
    con = connect()
    sql = scan_sql(con, scan)
    for _ in range(2):
        assert con.sql(f"SELECT count(*) FROM ({sql}) a JOIN ({sql}) b USING (id)").fetchall() == [(2,)]
    with pytest.raises(QueryError, match="pyiceberg"):
        scan_sql(con, Scan.from_json(scan.to_json()))


def test_a_column_that_is_not_there(catalog: Catalog) -> None:
    table = simple(catalog)
    with pytest.raises(QueryError, match="no column 'A'; columns: a, b, f, d"):
        scan_sql(connect(), plan_scan(table.metadata, table.io), columns=["A"])


def test_a_snapshot_that_is_not_there(catalog: Catalog) -> None:
    table = simple(catalog)
    with pytest.raises(SnapshotNotFound, match="known snapshots"):
        plan_scan(table.metadata, table.io, snapshot_id=1)


def test_nested_names_that_writers_spell_otherwise(catalog: Catalog) -> None:
    inner = StructType(NestedField(3, "a b", StringType()), NestedField(4, "1st", StringType()))
    table = catalog.create_table(
        "n.odd", Schema(NestedField(1, "s s", inner), NestedField(2, "id", LongType()))
    )
    names = table.schema().as_arrow()
    table.append(pa.Table.from_pylist([{"s s": {"a b": "x", "1st": "y"}, "id": 1}], schema=names))
    scan = plan_scan(table.metadata, table.io)
    with connect() as con:
        [row] = con.sql(scan_sql(con, scan)).fetchall()
    assert row == ({"a b": "x", "1st": "y"}, 1)
