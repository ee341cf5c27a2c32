"""Every type and every history of a schema survives a rewrite."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.fs import local_path
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Ordering, Policy, Rewrite, SortKey
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks
from pyiceberg.schema import Schema
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

EVERY: dict[str, tuple[Any, list[Any]]] = {
    "flag": (BooleanType(), [True, None]),
    "int": (IntegerType(), [-(2**31), None]),
    "long": (LongType(), [2**63 - 1, None]),
    "float": (FloatType(), [math.nan, None]),
    "double": (DoubleType(), [-0.0, math.nan]),
    "price": (DecimalType(38, 10), [decimal.Decimal("-1234567890123456789012345678.0123456789"), None]),
    "day": (DateType(), [dt.date(1, 1, 1), None]),
    "time": (TimeType(), [dt.time(23, 59, 59, 999999), None]),
    "at": (TimestampType(), [dt.datetime(1900, 1, 1, 0, 0, 0, 1), None]),
    "instant": (TimestamptzType(), [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None]),
    "text": (StringType(), ["é\x00x", ""]),
    "key": (UUIDType(), [uuid.UUID(int=2**127 + 5).bytes, None]),
    "bytes": (BinaryType(), [b"\x00\xff", b""]),
    "fixed": (FixedType(3), [b"abc", None]),
    "list": (ListType(50, LongType(), False), [[1, None, 3], []]),
    "map": (MapType(51, StringType(), 52, DoubleType(), False), [[("a", 1.0), ("b", None)], []]),
    "struct": (
        StructType(NestedField(53, "a", LongType()), NestedField(54, "b", ListType(55, StringType(), False))),
        [{"a": 1, "b": ["x"]}, None],
    ),
}


def rewrite(table: Any, ordering: Ordering | None = None) -> Any:
    """Rewrite, and make sure that the rows are the same to the last bit that Python shows."""
    before = sorted(map(repr, table.scan().to_arrow().to_pylist()))
    policy = Policy(ordering=ordering or Ordering(), rewrite=Rewrite(skip_newest=None))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    table.refresh()
    assert outcome.status == "done", outcome.reason
    assert sorted(map(repr, table.scan().to_arrow().to_pylist())) == before
    assert len(looks.live_files(table)) == 1
    return outcome


def of(folder: Path, columns: dict[str, tuple[Any, list[Any]]]) -> Any:
    fields = [NestedField(n, name, kind) for n, (name, (kind, _)) in enumerate(columns.items(), 1)]
    table = builders.catalog(folder).create_table(("db", "t"), Schema(*fields))
    arrow = table.schema().as_arrow()
    rows = [
        dict(zip(columns, values, strict=True))
        for values in zip(*(v for _, v in columns.values()), strict=True)
    ]
    for _ in range(2):
        table.append(pa.Table.from_pylist(rows, schema=arrow))
    return table


def test_maint_every_type_survives(tmp_path: Path) -> None:
    rewrite(of(tmp_path, EVERY))


def test_maint_every_type_that_a_copy_can_write_survives(tmp_path: Path) -> None:
    table = of(tmp_path, {name: held for name, held in EVERY.items() if name != "fixed"})
    rewrite(table)
    (file,) = looks.live_files(table).values()
    assert file.value_counts
    assert file.lower_bounds


@pytest.mark.parametrize("kind", [FixedType(2), BinaryType()])
def test_maint_required_fields_of_structs_that_are_null_survive(tmp_path: Path, kind: Any) -> None:
    inner = StructType(NestedField(53, "a", kind, required=True))
    outer = StructType(NestedField(54, "n", inner), NestedField(55, "k", LongType(), required=True))
    held = [None, {"n": None, "k": 1}, {"n": {"a": b"xy"}, "k": 2}]
    rewrite(of(tmp_path, {"s": (outer, held)}))


def test_maint_columns_that_differ_in_case_only_survive(tmp_path: Path) -> None:
    table = of(
        tmp_path, {"Id": (LongType(), [1, 2]), "id": (StringType(), ["a", None]), "ID": (LongType(), [5, 6])}
    )
    rewrite(table)
    assert sorted(table.scan().to_arrow().column("Id").to_pylist()) == [1, 1, 2, 2]


COLLIDING = StructType(
    NestedField(50, "x", LongType()), NestedField(51, "X", StringType()), NestedField(52, "X_1", LongType())
)


def test_maint_fields_of_structs_that_differ_in_case_only_survive(tmp_path: Path) -> None:
    inner = StructType(NestedField(57, "k", FixedType(2)), NestedField(58, "K", FixedType(2)))
    table = of(
        tmp_path,
        {
            "s": (COLLIDING, [{"x": 1, "X": "a", "X_1": 3}, None]),
            "l": (ListType(60, inner, False), [[{"k": b"ab", "K": None}, None], []]),
            "m": (MapType(61, StringType(), 62, COLLIDING, False), [[("a", {"X": "b"}), ("c", None)], None]),
        },
    )
    rewrite(table)
    table.append(table.scan().to_arrow())
    rewrite(table)


def test_maint_fields_that_differ_in_case_only_are_told_apart_in_orders(tmp_path: Path) -> None:
    held = [{"x": 1, "X": "b", "X_1": 1}, {"x": 2, "X": "a", "X_1": 2}]
    table = of(tmp_path, {"s": (COLLIDING, held)})
    rewrite(table, Ordering("sort", (SortKey("s.X"),)))
    kept = [row["s"]["X"] for row in table.scan().to_arrow().to_pylist()]
    assert kept == ["a", "a", "b", "b"]


def test_maint_fields_that_differ_in_case_only_are_told_apart_in_partitions(tmp_path: Path) -> None:
    held = [{"x": 1, "X": "b", "X_1": 1}, {"x": 2, "X": "a", "X_1": 2}]
    table = of(tmp_path, {"s": (COLLIDING, held)})
    with table.update_spec() as update:
        update.add_field("s.X", "identity", "part")
    table.refresh()
    policy = Policy(rewrite=Rewrite(skip_newest=None, output_spec=1))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    assert outcome.status == "done", outcome.reason
    table.refresh()
    files = looks.live_files(table)
    assert {file.partition[0] for file in files.values()} == {"a", "b"}
    assert sorted(map(repr, table.scan().to_arrow()["s"].to_pylist())) == sorted(map(repr, held * 2))


def test_maint_odd_names_survive(tmp_path: Path) -> None:
    rewrite(
        of(
            tmp_path,
            {
                'a "b".c': (LongType(), [1, 2]),
                "file_index": (StringType(), ["a", "b"]),
                "x-y": (LongType(), [3, 4]),
            },
        )
    )


def test_maint_files_of_older_schemas_are_read_in_the_present_one(tmp_path: Path) -> None:
    columns = {
        "id": (IntegerType(), [1, 2]),
        "gone": (StringType(), ["x", "y"]),
        "place": (StructType(NestedField(60, "zone", StringType())), [{"zone": "a"}, None]),
    }
    table = of(tmp_path, columns)
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.update_column("id", LongType())
        update.delete_column("gone")
        update.add_column("gone2", DoubleType())
        update.rename_column("place.zone", "area")
    table.refresh()
    table.append(pa.Table.from_pylist([{"id": 2**40}], schema=table.schema().as_arrow()))
    with table.update_schema() as update:
        update.rename_column("gone2", "gone")
    table.refresh()
    rewrite(table)
    (path,) = looks.live_files(table)
    file = pq.read_schema(local_path(path))
    assert file.names == ["id", "place", "gone"]
    assert file.field("place").type.field(0).name == "area"


def test_maint_an_identity_partition_keeps_its_values(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), partition="identity")
    for city in (None, "", "a/b=c", "__HIVE_DEFAULT_PARTITION__"):
        builders.small_files(table, 2, city=city)
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    before = looks.rows(table)
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True, jobs=2))
    table.refresh()
    assert outcome.detail["added_data_files"] == 4
    assert looks.rows(table) == before
    held = {file.partition[0] for file in looks.live_files(table).values()}
    assert held == {None, "", "a/b=c", "__HIVE_DEFAULT_PARTITION__"}
