"""Equality deletes hold whatever becomes of the columns that they compare."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core._duck import connect
from ldp_core.api import table as read_table
from ldp_core.catalogs import open_catalog
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.commands.query import query
from ldp_core.errors import QueryError
from ldp_core.fs import local_path
from ldp_core.spi import Spec
from ldp_core.tables.scan import Scan, plan_scan, scan_sql
from ldp_core.testing.deletes import commit, delete_file, keys, positions
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema, prune_columns
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, StructType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "p", StringType()))


@pytest.fixture
def catalog(tmp_path: Path) -> ClosingCatalog:
    catalog = ClosingCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path / "wh"))
    catalog.create_namespace("n")
    return catalog


def append(table: Table, *rows: dict[str, Any]) -> None:
    table.append(pa.Table.from_pylist(list(rows), schema=table.schema().as_arrow()))


def delete(table: Table, ids: Sequence[int], *rows: dict[str, Any]) -> None:
    """Rows that have these values in these fields are deleted, by a file in the table's present names."""
    schema = schema_to_pyarrow(prune_columns(table.schema(), set(ids), select_full_types=False))
    commit(table, delete_file(table, pa.Table.from_pylist(list(rows), schema=schema), equality=ids))


def change(table: Table) -> Any:
    return table.update_schema(allow_incompatible_changes=True)


def read(table: Table, **options: Any) -> list[tuple[Any, ...]]:
    """The rows; a plan that pyiceberg is not needed for says the same when it was kept as JSON."""
    scan = plan_scan(table.metadata, table.io)
    found = rows_of(scan, **options)
    if not scan.needs_pyiceberg:
        again = Scan.from_json(json.loads(json.dumps(scan.to_json())))
        assert again == scan
        assert rows_of(again, **options) == found
    return found


def rows_of(scan: Scan, **options: Any) -> list[tuple[Any, ...]]:
    with connect() as con:
        return sorted(con.sql(scan_sql(con, scan, **options)).fetchall(), key=repr)


def test_a_compared_column_is_dropped(catalog: ClosingCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    append(table, {"id": 1, "p": "a"}, {"id": None, "p": "b"}, {"id": 3, "p": "c"})
    delete(table, [1], {"id": 1}, {"id": 7})
    with change(table) as update:
        update.delete_column("id")
    append(table, {"p": "d"})
    assert not plan_scan(table.metadata, table.io).needs_pyiceberg
    assert read(table) == [("b",), ("c",), ("d",)]
    assert [row[0::2] for row in read(table, position=True)] == [("b", 1), ("c", 2), ("d", 0)]


def test_a_row_without_the_column_has_null_there(catalog: ClosingCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    append(table, {"id": 1, "p": "a"}, {"id": None, "p": "b"})
    before = table.metadata
    with change(table) as update:
        update.delete_column("id")
    append(table, {"p": "c"})
    body = keys(1, "id", pa.int64(), [None])
    commit(table, delete_file(table, body, equality=[1]))
    append(table, {"p": "d"})
    assert read(table) == [("a",), ("d",)]
    assert rows_of(plan_scan(before, table.io)) == [(1, "a"), (None, "b")]


def test_a_compared_column_is_dropped_and_added_again(catalog: ClosingCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    append(table, {"id": 1, "p": "a"}, {"id": 2, "p": "b"})
    delete(table, [1], {"id": 1})
    with change(table) as update:
        update.delete_column("id")
    with change(table) as update:
        update.add_column("id", StringType())
    append(table, {"p": "c", "id": "1"})
    assert read(table) == [("b", None), ("c", "1")]
    delete(table, [3], {"id": "1"})
    assert read(table) == [("b", None)]


@pytest.mark.parametrize("drop", [False, True])
def test_a_compared_column_is_promoted(catalog: ClosingCatalog, drop: bool) -> None:
    table = catalog.create_table(
        "n.t", Schema(NestedField(1, "id", IntegerType()), NestedField(2, "p", StringType()))
    )
    append(table, {"id": 1, "p": "a"}, {"id": 2, "p": "b"})
    delete(table, [1], {"id": 1})
    with change(table) as update:
        update.update_column("id", LongType())
    append(table, {"id": 1, "p": "c"}, {"id": 2**40, "p": "d"})
    delete(table, [1], {"id": 2**40}, {"id": 2})
    if drop:
        with change(table) as update:
            update.delete_column("id")
    append(table, {"id": 2**40, "p": "e"} if not drop else {"p": "e"})
    assert [row[-1] for row in read(table)] == ["c", "e"]


def place(catalog: ClosingCatalog) -> Table:
    """A table whose rows are deleted by a field of a struct."""
    inner = StructType(NestedField(3, "x", IntegerType(), required=True), NestedField(4, "y", StringType()))
    table = catalog.create_table("n.t", Schema(NestedField(1, "id", LongType()), NestedField(2, "s", inner)))
    append(table, {"id": 1, "s": {"x": 1, "y": "a"}}, {"id": 2, "s": None}, {"id": 3, "s": {"x": 3}})
    return table


def test_a_field_of_a_struct_is_compared(catalog: ClosingCatalog) -> None:
    table = place(catalog)
    delete(table, [3], {"s": {"x": 1}})
    assert not plan_scan(table.metadata, table.io).needs_pyiceberg
    assert read(table) == [(2, None), (3, {"x": 3, "y": None})]
    assert read(table, columns=["id"]) == [(2,), (3,)]
    delete(table, [4], {"s": {"y": None}})
    assert read(table) == []


@pytest.mark.parametrize("name", ["x", "y", "X"])
def test_a_compared_field_is_renamed(catalog: ClosingCatalog, name: str) -> None:
    table = place(catalog)
    delete(table, [1, 3], {"id": 1, "s": {"x": 1}})
    with change(table) as update:
        update.rename_column(("s", "y"), "other")
        update.rename_column(("s", "x"), name)
    delete(table, [3], {"s": {name: 3}})
    append(table, {"id": 4, "s": {name: 1}})
    assert read(table) == [(2, None), (4, {name: 1, "other": None})]


@pytest.mark.parametrize("again", [None, "x", "X"])
def test_a_compared_field_is_dropped_from_its_struct(catalog: ClosingCatalog, again: str | None) -> None:
    table = place(catalog)
    delete(table, [3, 1], {"id": 1, "s": {"x": 1}}, {"id": 3, "s": {"x": 1}})
    with change(table) as update:
        update.delete_column(("s", "x"))
    if again is not None:
        with change(table) as update:
            update.add_column(("s", again), IntegerType())
    more = {} if again is None else {again: None}
    append(table, {"id": 1, "s": {"y": "n"}})
    assert read(table) == [(1, {"y": "n"} | more), (2, None), (3, {"y": None} | more)]
    assert [row[0::2] for row in read(table, columns=["id"], position=True)] == [(1, 0), (2, 1), (3, 2)]
    assert read(table, columns=["s"]) == [(None,), ({"y": "n"} | more,), ({"y": None} | more,)]


def test_the_struct_of_a_compared_field_is_dropped(catalog: ClosingCatalog) -> None:
    table = place(catalog)
    delete(table, [3], {"s": {"x": 1}})
    with change(table) as update:
        update.delete_column("s")
    append(table, {"id": 4})
    assert read(table) == [(2,), (3,), (4,)]
    commit(table, delete_file(table, keys(1, "id", pa.int64(), [3]), equality=[1]))
    assert read(table) == [(2,), (4,)]


def test_a_dropped_column_is_compared_in_files_that_pyiceberg_reads(catalog: ClosingCatalog) -> None:
    table = place(catalog)
    delete(table, [1], {"id": 1})
    with change(table) as update:
        update.rename_column(("s", "x"), "xx")
        update.delete_column("id")
    append(table, {"s": {"xx": 9}})
    scan = plan_scan(table.metadata, table.io)
    assert {bool(file.reason) for file in scan.files} == {True, False}
    assert read(table) == [(None,), ({"xx": 3, "y": None},), ({"xx": 9, "y": None},)]
    assert sorted(row[-1] for row in read(table, position=True)) == [0, 1, 2]


def test_a_dropped_column_that_stands_in_the_partition_alone(catalog: ClosingCatalog) -> None:
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))
    without_counts = {"write.metadata.metrics.default": "none"}
    table = catalog.create_table("n.t", SCHEMA, partition_spec=spec, properties=without_counts)
    append(table, {"id": 1, "p": "a"}, {"id": 2, "p": "b"}, {"id": 3, "p": None})
    for file in plan_scan(table.metadata, table.io).files:
        path = local_path(file.path)
        pq.write_table(pq.ParquetFile(path).read(columns=["id"]), path)
    with table.update_spec() as update:
        update.remove_field("p")
    commit(table, delete_file(table, keys(2, "p", pa.string(), ["a"]), equality=[2]))
    assert read(table) == [(2, "b"), (3, None)]
    with change(table) as changed:
        changed.delete_column("p")
    assert read(table) == [(2,), (3,)]


def test_a_field_of_no_schema(catalog: ClosingCatalog) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    append(table, {"id": 1, "p": "a"})
    commit(table, delete_file(table, keys(77, "q", pa.int64(), [1]), equality=[77]))
    with pytest.raises(QueryError, match=r"delete-.* compares fields 77.* in any schema") as caught:
        read(table)
    assert caught.value.hint


@pytest.mark.parametrize("kind", [FileFormat.ORC, FileFormat.AVRO])
def test_deletes_in_other_formats(catalog: ClosingCatalog, kind: FileFormat) -> None:
    table = catalog.create_table("n.t", SCHEMA)
    append(table, {"id": 1, "p": "a"}, {"id": 2, "p": "b"})
    path = f"{local_path(table.location())}/data/delete.{kind.name}"
    field = pa.field("id", pa.int64(), metadata={"iceberg.id": "1"})
    orc.write_table(pa.table([[1]], schema=pa.schema([field])), path)
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=path,
        file_format=kind,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=Path(path).stat().st_size,
        equality_ids=[1],
    )
    file.spec_id = 0
    commit(table, file)
    if kind == FileFormat.ORC:
        assert read(table) == [(2, "b")]
        return
    with pytest.raises(QueryError, match=r"delete\.AVRO is an Avro file, which cannot be read here"):
        read(table)


def test_a_struct_that_lost_every_field_it_had(catalog: ClosingCatalog) -> None:
    table = catalog.create_table(
        "n.t", Schema(NestedField(1, "s", StructType(NestedField(2, "a", LongType()))))
    )
    append(table, {"s": {"a": 1}}, {"s": None})
    with change(table) as update:
        update.add_column(("s", "b"), StringType())
    with change(table) as update:
        update.delete_column(("s", "a"))
    append(table, {"s": {"b": "q"}})
    assert read(table) == [(None,), ({"b": "q"},), ({"b": None},)]


def test_names_of_fields_that_differ_only_in_case_and_deletes(catalog: ClosingCatalog) -> None:
    inner = StructType(NestedField(3, "x", LongType()), NestedField(4, "X", StringType()))
    table = catalog.create_table("n.t", Schema(NestedField(1, "id", LongType()), NestedField(2, "s", inner)))
    for number in range(4):
        append(table, {"id": number, "s": {"x": number % 2, "X": str(number)}})
    delete(table, [4], {"s": {"X": "1"}}, {"s": {"X": "0"}})
    delete(table, [3, 1], {"id": 2, "s": {"x": 0}}, {"id": 3, "s": {"x": 0}})
    append(table, {"id": 5, "s": None})
    scan = plan_scan(table.metadata, table.io)
    assert [(row[0], row[1] and [*row[1].values()]) for row in rows_of(scan)] == [(3, [1, "3"]), (5, None)]


def test_a_query_and_a_handle_apply_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LDP_CACHE_DIR", str(tmp_path / "cache"))
    lake = open_catalog(Spec({"identifier": "nyc", "warehouse_path": "wh"}, tmp_path), create=True)
    lake.create_namespace("nyc")
    table = lake.create_table("nyc.t", SCHEMA)
    append(table, {"id": 1, "p": "a"}, {"id": 2, "p": "b"})
    delete(table, [1], {"id": 1})
    with change(table) as update:
        update.delete_column("id")
    append(table, {"p": "c"})
    for _ in range(2):  # planned, and from the plan that was kept
        found = CliRunner().invoke(
            query, [str(tmp_path / "wh"), "select p from t order by p", "--format", "csv"]
        )
        assert found.stdout.split() == ["p", "b", "c"]
        assert sorted(read_table("nyc.t", tmp_path / "wh").to_arrow()["p"].to_pylist()) == ["b", "c"]
    [plan] = (tmp_path / "cache" / "plans").iterdir()
    assert [column["name"] for column in json.loads(plan.read_text())["scan"]["compared"]] == ["id"]


class History:
    """A table, and what its rows are by the specification: values by field id, and deletes of older rows."""

    def __init__(self, folder: str) -> None:
        self.catalog = ClosingCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=folder)
        self.catalog.create_namespace("n")
        inner = StructType(NestedField(5, "x", IntegerType()), NestedField(6, "y", StringType()))
        self.table = self.catalog.create_table(
            "n.t",
            Schema(
                NestedField(1, "k", LongType()),
                NestedField(2, "a", IntegerType()),
                NestedField(3, "b", StringType()),
                NestedField(4, "s", inner),
            ),
        )
        self.rows: list[dict[int, Any]] = []
        self.places: dict[int, tuple[str, int]] = {}
        self.append(Random(0))

    def append(self, random: Random) -> None:
        rows = [self.record(self.table.schema().as_struct(), random) for _ in range(4)]
        for number, row in enumerate(rows):
            row["k"] = len(self.places) + number
        append(self.table, *rows)
        newest = max(plan_scan(self.table.metadata, self.table.io).files, key=lambda file: file.sequence)
        self.places |= {row["k"]: (newest.path, number) for number, row in enumerate(rows)}
        self.rows += [by_id(self.table.schema().as_struct(), row) for row in rows]

    def record(self, kind: StructType, random: Random) -> dict[str, Any]:
        return {field.name: self.value(field.field_type, random) for field in kind.fields}

    def value(self, kind: Any, random: Random) -> Any:
        if isinstance(kind, StructType):
            return self.record(kind, random) if random.random() < 0.8 else None
        found = random.choice([None, 1, 2, 3])
        return str(found) if found and isinstance(kind, StringType) else found

    def delete(self, random: Random) -> None:
        schema = self.table.schema()
        leaves = [
            number
            for number in sorted(schema.field_ids)
            if number != 1 and not isinstance(schema.find_type(number), StructType)
        ]
        if not leaves:
            return
        ids = random.sample(leaves, min(len(leaves), random.choice([1, 1, 2])))
        pruned = prune_columns(schema, set(ids), select_full_types=False).as_struct()
        rows = [self.record(pruned, random) for _ in range(random.choice([1, 2]))]
        delete(self.table, ids, *rows)
        gone = [[by_id(pruned, row).get(number) for number in ids] for row in rows]
        self.rows = [row for row in self.rows if [row.get(number) for number in ids] not in gone]

    def mark(self, random: Random) -> None:
        """Delete a row by its position."""
        if self.rows:
            row = self.rows.pop(random.randrange(len(self.rows)))
            commit(self.table, delete_file(self.table, positions(self.places[row[1]])))

    def evolve(self, random: Random) -> None:
        """One change of the schema."""
        schema = self.table.schema()
        names = [n for n in schema.column_names if n != "k"]
        if not names:
            return
        name = random.choice(names)
        path = tuple(name.split("."))
        parent = schema.find_type(".".join(path[:-1])) if path[1:] else schema.as_struct()
        alone = len(parent.fields) == 1
        kind = random.choice(["drop", "rename", "again", "promote", "add"])
        spare = next(n for n in ("p", "q", "X", "r", "t", "u") if n not in {f.name for f in parent.fields})
        with change(self.table) as update:
            if kind == "drop" and not alone:
                update.delete_column(path)
            elif kind == "rename":
                update.rename_column(path, spare)
            elif kind == "promote" and isinstance(schema.find_type(name), IntegerType):
                update.update_column(path, LongType())
            elif kind == "add":
                update.add_column((*path[:-1], spare), random.choice([IntegerType(), StringType()]))
            elif kind == "again" and not alone and not isinstance(schema.find_type(name), StructType):
                update.delete_column(path)
        if kind == "again" and not alone and not isinstance(schema.find_type(name), StructType):
            with change(self.table) as update:
                update.add_column(path, random.choice([IntegerType(), StringType()]))

    def expected(self) -> list[tuple[Any, ...]]:
        kind = self.table.schema().as_struct()
        return sorted((tuple(named(kind, row).values()) for row in self.rows), key=repr)


def by_id(kind: StructType, row: dict[str, Any]) -> dict[int, Any]:
    """Values by field id, those of structs too; a struct's own is whether it is there."""
    found: dict[int, Any] = {}
    for field in kind.fields:
        value = row.get(field.name)
        if isinstance(field.field_type, StructType):
            found[field.field_id] = value is not None
            found |= by_id(field.field_type, value) if value is not None else {}
        else:
            found[field.field_id] = value
    return found


def named(kind: StructType, row: dict[int, Any]) -> dict[str, Any]:
    """A row in the names of a schema."""
    return {
        f.name: row.get(f.field_id)
        if not isinstance(f.field_type, StructType)
        else named(f.field_type, row)
        if row.get(f.field_id)
        else None
        for f in kind.fields
    }


STEPS = ["append", "append", "delete", "delete", "mark", "evolve", "evolve", "evolve"]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 10**6)), min_size=4, max_size=14))
def test_deletes_hold_in_every_history(history: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = History(folder)
        for step, seed in history:
            getattr(made, step)(Random(seed))
        assert read(made.table) == made.expected()
        assert [row[0] for row in read(made.table, columns=["k"])] == sorted(
            (row[1] for row in made.rows), key=repr
        )
        made.catalog.engine.dispose()
