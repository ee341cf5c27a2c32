"""Random histories of a table: rows read as pyiceberg reads them, whatever was renamed, dropped or added."""

from __future__ import annotations

import tempfile
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core._duck import connect
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.tables.scan import plan_scan, scan_sql
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, StructType

NAMES = ["a", "b", "A", "x y"]
INNER = ["p", "q", "P"]


def value(kind: pa.DataType, seed: int) -> Any:
    if seed % 5 == 0:
        return None
    if pa.types.is_struct(kind):
        return {field.name: value(field.type, seed + i + 1) for i, field in enumerate(kind)}
    return seed if pa.types.is_integer(kind) else f"v{seed}"


def append(table: Table, seed: int) -> None:
    schema = table.schema().as_arrow()
    columns = [
        pa.array([value(f.type, seed + i), value(f.type, seed + i + 2)], f.type) for i, f in enumerate(schema)
    ]
    table.append(pa.Table.from_arrays(columns, schema=schema))


def change(table: Table, kind: str, old: str, new: str, seed: int) -> None:
    """One change, or none where it does not apply."""
    top = {field.name: field for field in table.schema().fields}
    struct = next(field for field in table.schema().fields if isinstance(field.field_type, StructType))
    inner = {field.name for field in struct.field_type.fields}  # type: ignore[union-attr]
    if kind == "append":
        append(table, seed)
        return
    with table.update_schema() as update:
        if kind == "add" and new not in top:
            update.add_column(new, IntegerType() if seed % 2 else StringType())
        elif kind == "drop" and old in top and len(top) > 2:
            update.delete_column(old)
        elif kind == "rename" and old in top and new not in top:
            update.rename_column(old, new)
        elif kind == "promote" and old in top and isinstance(top[old].field_type, IntegerType):
            update.update_column(old, LongType())
        elif kind == "inner add" and new not in inner and new in INNER:
            update.add_column((struct.name, new), StringType())
        elif kind == "inner drop" and old in inner and len(inner) > 1:
            update.delete_column((struct.name, old))
        elif kind == "inner rename" and old in inner and new in INNER and new not in inner:
            update.rename_column((struct.name, old), new)


KINDS = ["append", "append", "add", "drop", "rename", "promote", "inner add", "inner drop", "inner rename"]
WORDS = st.sampled_from(NAMES + INNER)


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(st.sampled_from(KINDS), WORDS, WORDS, st.integers(1, 99)), min_size=3, max_size=10))
def test_every_history_reads_as_pyiceberg_reads_it(history: list[tuple[str, str, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        catalog = ClosingCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=folder)
        catalog.create_namespace("n")
        inner = StructType(NestedField(4, "p", IntegerType()), NestedField(5, "q", StringType()))
        table = catalog.create_table(
            "n.t",
            Schema(
                NestedField(1, "a", IntegerType()),
                NestedField(2, "b", StringType()),
                NestedField(3, "s", inner),
            ),
        )
        append(table, 1)
        for kind, old, new, seed in history:
            change(table, kind, old, new, seed)
        names = [field.name for field in table.schema().fields]
        children = [f.name.casefold() for f in table.schema().find_type("s").fields]  # type: ignore[union-attr]
        if len(set(children)) == len(children):
            scan = plan_scan(table.metadata, table.io)
            con = connect()
            found = con.sql(scan_sql(con, scan)).to_arrow_table()
            expected = table.scan().to_arrow()
            assert found.column_names == expected.column_names == names
            assert _rows(found) == _rows(expected)
        catalog.engine.dispose()


def _rows(table: pa.Table) -> list[str]:
    columns = [column.to_pylist() for column in table.columns]
    return sorted(repr(row) for row in zip(*columns, strict=True))
