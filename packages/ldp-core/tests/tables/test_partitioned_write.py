"""Partitions and data files: what pyiceberg computes is what is written, and filters find every row."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core import _duck
from ldp_core.errors import ConfigError
from ldp_core.tables.fit import fit
from ldp_core.tables.metrics import bounds
from ldp_core.tables.partition import build_spec, parse
from ldp_core.tables.partition_sql import keys, record
from ldp_core.tables.schema import new_schema
from ldp_core.tables.write import Layout, write_files
from ldp_core.tables.write_arrow import write_batches
from pyiceberg.transforms import parse_transform

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
_MOMENT = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
KINDS = {
    "int": (pa.int32(), st.integers(-(2**31) + 64, 2**31 - 1)),
    "long": (pa.int64(), st.integers(-(2**63) + 64, 2**63 - 1)),
    "date": (pa.date32(), st.dates(date(1900, 1, 1), date(2100, 1, 1))),
    "timestamp": (pa.timestamp("us"), _MOMENT),
    "timestamptz": (pa.timestamp("us", tz="UTC"), _MOMENT.map(lambda moment: moment.replace(tzinfo=UTC))),
    "time": (pa.time64("us"), st.times()),
    "string": (pa.string(), _TEXT),
    "binary": (pa.binary(), st.binary(max_size=6)),
    "uuid": (pa.uuid(), st.uuids().map(lambda value: value.bytes)),
    "decimal": (pa.decimal128(9, 2), st.decimals(-9999, 9999, places=2)),
    "bool": (pa.bool_(), st.booleans()),
    "double": (pa.float64(), st.floats(-5, 5, width=16)),
}
TRANSFORMS = {
    "int": ["identity", "bucket[7]", "truncate[10]"],
    "long": ["identity", "bucket[7]", "truncate[10]"],
    "date": ["identity", "bucket[7]", "year", "month", "day"],
    "timestamp": ["identity", "bucket[7]", "year", "month", "day", "hour"],
    "timestamptz": ["identity", "bucket[7]", "year", "month", "day", "hour"],
    "time": ["identity", "bucket[7]"],
    "string": ["identity", "bucket[7]", "truncate[2]"],
    "binary": ["identity", "bucket[7]", "truncate[2]"],
    "uuid": ["identity", "bucket[7]"],
    "decimal": ["identity", "bucket[7]", "truncate[50]"],
    "bool": ["identity"],
    "double": ["identity"],
}
PAIRS = [(kind, transform) for kind, transforms in TRANSFORMS.items() for transform in transforms]


def layout_of(data: pa.Table, *items: dict) -> Layout:
    fitted = fit("x", data.schema, None)
    schema = new_schema(fitted.schema)
    return Layout(schema, build_spec(parse(items), schema), {}, {})


@pytest.mark.parametrize(("kind", "transform"), PAIRS)
def test_keys_differ_exactly_where_icebergs_values_differ(kind, transform):
    arrow, values = KINDS[kind]
    con = _duck.connect(threads=1)

    @given(st.lists(st.none() | values, min_size=1, max_size=30))
    @settings(max_examples=6, deadline=None)
    def holds(column):
        data = pa.table({"c": pa.array(column, arrow)})
        layout = layout_of(data, {"column": "c", "transform": transform})
        con.register("src", data)
        (key,) = keys(layout.spec, layout.schema)
        found = con.execute(f"SELECT {key} FROM src").fetchall()
        wanted = [record(layout.spec, layout.schema, data.slice(at, 1))[0] for at in range(len(data))]
        assert len(set(found)) == len({(value is None, value) for value in wanted})
        assert len(set(zip([row[0] for row in found], [(v is None, v) for v in wanted], strict=True))) == len(
            set(found)
        )
        if transform.startswith("bucket"):
            assert [row[0] for row in found] == wanted

    holds()


NASTY = [
    "NYC",
    "__HIVE_DEFAULT_PARTITION__",
    "null",
    "",
    "a/b",
    "a=b",
    "é" * 200,
    "%2F",
    "NULL",
    None,
    "..",
    "\\",
]


@pytest.mark.parametrize("through_arrow", [False, True])
def test_no_row_is_lost_whatever_a_partition_value_looks_like(tmp_path, through_arrow):
    data = pa.table({"c": [value for value in NASTY for _ in range(3)], "n": list(range(3 * len(NASTY)))})
    layout = layout_of(data, {"column": "c"})
    con = _duck.connect()
    con.register("src", data)
    write = write_batches if through_arrow else write_files
    written = write(con, "SELECT * FROM src", layout, str(tmp_path / "out"))
    assert written.rows == len(data)
    assert sorted(str(file.partition[0]) for file in written.files) == sorted(map(str, NASTY))
    for file in written.files:
        rows = pq.ParquetFile(file.file_path).read()
        assert set(rows["c"].to_pylist()) == {file.partition[0]}
        assert file.file_size_in_bytes == (tmp_path / file.file_path).stat().st_size


def test_zeros_are_one_partition_and_bounds_hold_both():
    data = pa.table({"x": [0.0, -0.0]})
    layout = layout_of(data, {"column": "x"})
    assert str(record(layout.spec, layout.schema, data.slice(1, 1))[0]) == "0.0"
    kind = layout.schema.find_type("x")
    low, high = bounds(kind, 0.0, -0.0, 16)
    assert (low, high) == (b"\0\0\0\0\0\0\0\x80", b"\0" * 8)


def test_zero_rows_make_no_file(tmp_path):
    data = pa.table({"a": pa.array([], pa.int64())})
    con = _duck.connect()
    con.register("src", data)
    for items in ([], [{"column": "a"}]):
        for write in (write_files, write_batches):
            assert write(con, "SELECT * FROM src", layout_of(data, *items), str(tmp_path)).files == ()


def test_files_have_about_the_size_the_table_wants(tmp_path):
    con = _duck.connect()
    data = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    plain = layout_of(data)
    layout = Layout(plain.schema, plain.spec, {"write.target-file-size-bytes": "2000000"}, {})
    sql = "SELECT i AS a, md5(i::VARCHAR) AS b FROM range(400000) t(i)"
    for write in (write_files, write_batches):
        written = write(con, sql, layout, str(tmp_path / write.__name__))
        assert written.rows == 400_000
        assert 3 <= len(written.files) <= 12
        assert all(file.file_size_in_bytes < 6_000_000 for file in written.files)


def test_files_carry_the_ids_of_the_table_at_every_depth(tmp_path):
    inner = pa.struct([("x y", pa.list_(pa.int64())), ("m", pa.map_(pa.string(), pa.int32()))])
    data = pa.table({"s": pa.array([{"x y": [1], "m": [("k", 2)]}, None], inner), 'q"': ["a", "b"]})
    layout = layout_of(data)
    con = _duck.connect()
    con.register("src", data)
    wanted = {1: "s", 2: 'q"', 3: "s.x y", 4: "s.m"}
    assert {i: layout.schema.find_column_name(i) for i in wanted} == wanted
    for write in (write_files, write_batches):
        (file,) = write(con, "SELECT * FROM src", layout, str(tmp_path)).files
        schema = pq.ParquetFile(file.file_path).schema
        text = str(schema)
        for number in range(1, 8):
            assert f"field_id={number} " in text
        assert file.null_value_counts == {2: 0}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"column": "city", "transform": "day"},
            "partition transform day cannot apply to column 'city' of type string",
        ),
        ({"column": "id", "transform": "bucket[0]"}, "needs a positive parameter"),
        ({"column": "id", "transform": "bucket"}, "needs a positive parameter"),
        ({"column": "id", "transform": "truncate[-1]"}, "needs a positive parameter"),
        (
            {"column": "id", "transform": "week"},
            "unknown partition transform 'week'; expected identity, year",
        ),
        ({"column": "nope"}, "partition column 'nope' does not exist; columns: id, city, s"),
        ({"column": "s"}, "cannot apply to column 's'"),
        ({"column": "id", "name": "city"}, "has the name of a column"),
    ],
)
def test_partition_fields_that_cannot_be_are_one_clear_line(item, message):
    data = pa.table({"id": [1], "city": ["x"], "s": [{"a": 1}]})
    with pytest.raises(ConfigError) as caught:
        layout_of(data, item)
    assert message in str(caught.value)


def test_default_names_and_nested_columns():
    data = pa.table({"ts": [datetime(2026, 1, 1)], "id": [1], "city": ["x"], "s": [{"a": 1}], "a.b": [1]})
    layout = layout_of(
        data,
        {"column": "ts", "transform": "DAY"},
        {"column": "id", "transform": "Bucket[4]"},
        {"column": "city", "transform": "truncate[2]"},
        {"column": "city"},
        {"column": "s.a", "transform": "bucket[3]"},
        {"column": "a.b", "transform": "bucket[2]", "name": "mine"},
    )
    assert [(field.name, str(field.transform)) for field in layout.spec.fields] == [
        ("ts_day", "day"),
        ("id_bucket_4", "bucket[4]"),
        ("city_trunc_2", "truncate[2]"),
        ("city", "identity"),
        ("s.a_bucket_3", "bucket[3]"),
        ("mine", "bucket[2]"),
    ]
    assert str(parse_transform("bucket[4]")) == "bucket[4]"


def test_twice_the_same_field_is_refused():
    with pytest.raises(ConfigError, match="twice"):
        parse([{"column": "a", "transform": "day"}, {"column": "a", "transform": "Day"}])
    with pytest.raises(ConfigError, match="called 'x'"):
        parse([{"column": "a", "name": "x"}, {"column": "b", "name": "x"}])


def test_every_type_is_written_the_same_both_ways(tmp_path):
    inside = pa.StructArray.from_arrays(
        [pa.array([uuid.UUID(int=2).bytes], pa.uuid()), pa.array([7], pa.int32())], ["u", "d"]
    )
    data = pa.table(
        {
            "fixed": pa.array([b"abcd", None], pa.binary(4)),
            "uuid": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "dec": pa.array([Decimal("-1.25"), None], pa.decimal128(38, 2)),
            "time": pa.array([time(1, 2, 3, 4), None], pa.time64("us")),
            "tz": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
            "nested": pa.ListArray.from_arrays(pa.array([0, None, 1], pa.int32()), inside),
        }
    )
    con = _duck.connect()
    con.register("src", data)
    without = data.drop(["fixed"])
    (arrow,) = write_files(con, "SELECT * FROM src", layout_of(data), str(tmp_path)).files
    sql = "SELECT * EXCLUDE (fixed) FROM src"
    (copied,) = write_files(con, sql, layout_of(without), str(tmp_path)).files
    (batches,) = write_batches(con, sql, layout_of(without), str(tmp_path)).files
    assert pq.ParquetFile(arrow.file_path).read().to_pylist() == data.to_pylist()
    for file in (copied, batches):
        assert pq.ParquetFile(file.file_path).read().to_pylist() == without.to_pylist()
    assert copied.lower_bounds == batches.lower_bounds
    assert copied.upper_bounds == batches.upper_bounds
    assert copied.null_value_counts == batches.null_value_counts
    assert copied.value_counts == batches.value_counts
