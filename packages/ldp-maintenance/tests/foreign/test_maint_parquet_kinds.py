"""Parquet as other writers write it: encodings, codecs, old types, files without ids, bounds and rows."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
import uuid
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core.fs import local_path
from ldp_maintenance import Doing, Policy, Rewrite, Target, rewrite_data_files
from ldp_maintenance.testing import builders, looks
from pyiceberg.conversions import from_bytes
from pyiceberg.expressions import EqualTo
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DecimalType,
    DoubleType,
    FloatType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "at", TimestampType()),
    NestedField(3, "tz", TimestamptzType()),
    NestedField(4, "text", StringType()),
    NestedField(5, "small", DecimalType(9, 2)),
    NestedField(6, "mid", DecimalType(18, 4)),
    NestedField(7, "big", DecimalType(38, 10)),
    NestedField(8, "ratio", DoubleType()),
    NestedField(9, "part", FloatType()),
    NestedField(10, "raw", BinaryType()),
    NestedField(11, "flag", BooleanType()),
    NestedField(12, "held", ListType(20, StringType(), False)),
    NestedField(13, "by", MapType(21, StringType(), 22, DoubleType(), False)),
)
LONG = f"{'e' * 4_000}é"
FIRST, LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999)
ROWS: tuple[tuple[Any, ...], ...] = (
    (
        dt.datetime(1900, 1, 1, 0, 0, 0, 1),
        LONG,
        "-1.25",
        -0.0,
        b"\xff" * 40,
        True,
        ["a", None],
        [("k", None)],
    ),
    (dt.datetime(2024, 7, 1, 12, 30, 1, 999_999), f"{LONG}b", "9.99", math.nan, b"", None, [], []),
    (None, None, None, None, None, None, None, None),
    (dt.datetime(1970, 1, 1), "", "0.00", math.inf, b"\x00", False, [""], [("", 0.0), (LONG, math.nan)]),
)
KINDS: dict[str, dict[str, Any]] = {
    "int96": {"use_deprecated_int96_timestamps": True},
    "pages of version 2": {"data_page_version": "2.0", "use_dictionary": False, "data_page_size": 64},
    "delta encodings": {
        "use_dictionary": False,
        "column_encoding": {
            "id": "DELTA_BINARY_PACKED",
            "text": "DELTA_BYTE_ARRAY",
            "raw": "DELTA_LENGTH_BYTE_ARRAY",
            "small": "DELTA_BYTE_ARRAY",
            "ratio": "BYTE_STREAM_SPLIT",
            "part": "BYTE_STREAM_SPLIT",
            "flag": "RLE",
        },
    },
    "lz4, a row a group": {"compression": "lz4", "row_group_size": 1},
    "gzip, decimals in integers": {"compression": "gzip", "store_decimal_as_integer": True},
    "brotli, no statistics": {"compression": "brotli", "write_statistics": False},
    "nothing pressed, items": {"compression": "none", "use_compliant_nested_type": False},
    "page index and checksums": {"write_page_index": True, "write_page_checksum": True},
    "version 1.0, milliseconds": {
        "version": "1.0",
        "store_schema": False,
        "coerce_timestamps": "ms",
        "allow_truncated_timestamps": True,
    },
}
BY_NAME = ("int96", "pages of version 2", "nothing pressed, items")
"""Those that are tried without field ids, too."""


def _rows(first: int) -> list[dict[str, Any]]:
    found = []
    for place, (at, word, price, ratio, raw, flag, held, by) in enumerate(ROWS):
        number = None if price is None else decimal.Decimal(price)
        values = (at, at and at.replace(tzinfo=dt.UTC), word, number, number, number, ratio, ratio, raw, flag)
        found.append(dict(zip(SCHEMA.column_names[:11], (first + place, *values), strict=True)))
        found[-1] |= {"held": held, "by": by}
    return found


def _made(folder: Path, *, ids: bool = True, schema: Schema = SCHEMA, **given: Any) -> Table:
    """A table of two files with the rows of ``ROWS``; columns are known by id, or by name."""
    table = builders.catalog(folder).create_table(("db", "t"), schema, properties=given.pop("properties", {}))
    builders.take(table, _written(table, ids=ids, **given))
    return table


def _written(table: Table, *, ids: bool, **given: Any) -> list[Path]:
    arrow = table.schema().as_arrow()
    if not ids:
        arrow = pa.schema(_bare(arrow))
        mapping = table.schema().name_mapping.model_dump_json()
        table.transaction().set_properties({"schema.name-mapping.default": mapping}).commit_transaction()
    paths = []
    for number in range(2):
        path = local_path(f"{table.location()}/data/{uuid.uuid4()}.parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(_rows(10 * number), schema=arrow), path, **given)
        paths.append(path)
    return paths


def _bare(fields: Any) -> list[pa.Field]:
    """Fields as a writer makes them that knows nothing of Iceberg's ids."""
    return [pa.field(field.name, _bare_type(field.type)) for field in fields]


def _bare_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(_bare_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_bare_type(kind.key_type), _bare_type(kind.item_type))
    return kind


def _read(table: Table) -> list[str]:
    """The rows as pyiceberg reads them, to the last bit that Python shows."""
    table.refresh()
    return sorted(map(repr, table.scan().to_arrow().to_pylist()))


def _rewritten(table: Table) -> DataFile:
    """Rewrite, and make sure that the rows are the same and that the new file tells the truth of them."""
    before = _read(table)
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    assert outcome.status == "done", outcome.reason
    assert _read(table) == before
    (file,) = looks.live_files(table).values()
    assert file.record_count == len(before)
    _truthful(table, file)
    return file


def _truthful(table: Table, file: DataFile) -> None:
    """Counts are those of the rows; bounds hold every value, and are no wider than truncation makes them."""
    rows = table.scan().to_arrow()
    for field in table.schema().fields:
        if not isinstance(field.field_type, PrimitiveType) or field.field_id not in (file.value_counts or {}):
            continue
        kind, number = field.field_type, field.field_id
        values = rows.column(field.name).to_pylist()
        there = [value for value in values if value is not None]
        assert file.value_counts[number] == len(values)
        assert file.null_value_counts[number] == len(values) - len(there), field.name
        if number in (file.nan_value_counts or {}):
            assert file.nan_value_counts[number] == sum(value != value for value in there), field.name
        bounds = [(held or {}).get(number) for held in (file.lower_bounds, file.upper_bounds)]
        compared = [_comparable(kind, value) for value in there if value == value]
        low, high = (None if raw is None else from_bytes(kind, raw) for raw in bounds)
        assert low is None or low <= min(compared), field.name
        assert high is None or high >= max(compared), field.name
        if low is not None and not isinstance(low, str | bytes):
            assert (low, high) == (min(compared), max(compared)), field.name


def _comparable(kind: Any, value: Any) -> Any:
    """A value as a bound has it."""
    if isinstance(kind, TimestampType | TimestamptzType):
        return (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    return value


@pytest.mark.parametrize("kind", [*KINDS, *(f"{kind}, by name" for kind in BY_NAME)])
def test_maint_parquet_of_any_kind_is_rewritten_whole(tmp_path: Path, kind: str) -> None:
    table = _made(tmp_path, ids=kind in KINDS, **KINDS[kind.removesuffix(", by name")])
    file = _rewritten(table)
    assert file.value_counts
    assert len(table.scan(row_filter=EqualTo("text", LONG)).to_arrow()) == 2
    assert len(table.scan(row_filter=EqualTo("raw", b"\xff" * 40)).to_arrow()) == 2


def test_maint_timestamps_of_twelve_bytes_of_any_year_are_kept(tmp_path: Path) -> None:
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "at", TimestampType()))
    table = builders.catalog(tmp_path).create_table(("db", "t"), schema)
    paths = []
    for number, at in enumerate([FIRST, LAST]):
        paths.append(local_path(f"{table.location()}/data/{number}.parquet"))
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        body = pa.Table.from_pylist([{"id": number, "at": at}], schema=schema.as_arrow())
        pq.write_table(body, paths[-1], use_deprecated_int96_timestamps=True)
    builders.take(table, paths)
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    assert rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True)).status == "done"
    # pyiceberg takes nanoseconds of such files, which reach from 1677 to 2262, so it reads the new one alone.
    assert [row[1] for row in looks.rows(table)] == [FIRST, LAST]
    (file,) = looks.live_files(table).values()
    _truthful(table, file)


def test_maint_files_that_pyiceberg_took_in_are_rewritten_whole(tmp_path: Path) -> None:
    table = builders.catalog(tmp_path).create_table(("db", "t"), SCHEMA)
    table.add_files([str(path) for path in _written(table, ids=False)])
    _rewritten(table)


def test_maint_a_table_that_wants_no_metrics_gets_none(tmp_path: Path) -> None:
    table = _made(tmp_path, properties={"write.metadata.metrics.default": "none"})
    file = _rewritten(table)
    assert not file.lower_bounds
    assert not file.upper_bounds
    assert not file.value_counts


@pytest.mark.parametrize("mode", ["counts", "full", "truncate(3)"])
def test_maint_metrics_are_those_that_the_table_wants(tmp_path: Path, mode: str) -> None:
    names = {"write.metadata.metrics.default": "none", "write.metadata.metrics.column.text": mode}
    file = _rewritten(_made(tmp_path, properties=names))
    assert set(file.value_counts) == {4}
    low, high = ((held or {}).get(4) for held in (file.lower_bounds, file.upper_bounds))
    wanted = {
        "counts": (None, None),
        "full": (b"", b"e" * 255 + b"f"),  # the engine cuts what it notes of a text at 256 bytes
        "truncate(3)": (b"", b"eef"),
    }
    assert (low, high) == wanted[mode]


def test_maint_files_without_a_row_go(tmp_path: Path) -> None:
    table = _made(tmp_path)
    empty = local_path(f"{table.location()}/data/empty.parquet")
    pq.write_table(table.schema().as_arrow().empty_table(), empty)
    builders.take(table, [empty])
    assert str(empty) in looks.live_files(table)
    _rewritten(table)


def test_maint_a_table_of_files_without_a_row_is_left_with_none(tmp_path: Path) -> None:
    table = builders.catalog(tmp_path).create_table(("db", "t"), SCHEMA)
    paths = [local_path(f"{table.location()}/data/empty-{number}.parquet") for number in range(2)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.schema().as_arrow().empty_table(), path)
    builders.take(table, paths)
    target = Target(table.catalog, ("db", "t"), Policy(rewrite=Rewrite(skip_newest=None)))
    assert rewrite_data_files(target, Doing(commit=True)).status == "done"
    assert looks.rows(table) == []
    assert looks.live_files(table) == {}
    assert rewrite_data_files(target, Doing(commit=True)).status == "nothing"


# Rows (1, [1, 2]), (2, []), (3, None), (4, [3]), as `optional group held (LIST) { repeated int64 array; }`.
TWO_LEVELS = (
    b"eNp1kM+KwkAMxtN0HAbvGTpLD710UKiigp68eFR6EN+gaEHBP+Poruhz7hPsk2yqBfVgIHwhfL+QZD5Z9AkopzwjxYUkGQM"
    b"AcqoggEdgrWGtolb2z2iWUfMdDLEyhl/4iSdh8iFE8rRcl7uCBDdSjHCzgiFGYl1uV4Qk8/HdmoqoUXhfXEErE5vMQsx8Ks"
    b"FUBHFXe+2tmsZULYQwbktjQTH8tLbuUx9zGGlqp529vSBWoRkhSqb0X6CVVSzQSlzhj9/lubN0rsP04ZL8lP60OeyTwajb6"
    b"/ZNxldXh/9yzvmZ/2pfK0k="
)


def test_maint_lists_of_two_levels_without_ids_are_read(tmp_path: Path) -> None:
    held = ListType(3, LongType(), element_required=True)
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "held", held))
    names = {"schema.name-mapping.default": schema.name_mapping.model_dump_json()}
    table = builders.catalog(tmp_path).create_table(("db", "t"), schema, properties=names)
    paths = [local_path(f"{table.location()}/data/{number}.parquet") for number in range(2)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(base64.b64decode(TWO_LEVELS)))
    builders.take(table, paths)
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    assert outcome.status == "done", outcome.reason
    assert looks.rows(table) == sorted([(1, [1, 2]), (2, []), (3, None), (4, [3])] * 2)


def test_maint_what_the_engine_cannot_decode_is_left_as_it_is(tmp_path: Path) -> None:
    encoded = {"big": "BYTE_STREAM_SPLIT"}  # of fixed bytes, which is new in version 2.11 of the format
    table = _made(tmp_path, use_dictionary=False, column_encoding=encoded)
    before, files = _read(table), looks.files_on_disk(table)
    policy = Policy(rewrite=Rewrite(skip_newest=None))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policy), Doing(commit=True))
    assert outcome.status == "failed"
    assert "BYTE_STREAM_SPLIT" in outcome.reason
    assert _read(table) == before
    assert looks.files_on_disk(table) == files
