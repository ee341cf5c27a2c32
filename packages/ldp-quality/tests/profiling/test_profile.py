"""A profile against plain Python, over everything that checks read."""

from __future__ import annotations

import math
import statistics
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ldp_core
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import FileTable, profile
from ldp_quality.testing.values import FLOATS, INTS, NANOS, TEXTS

START = datetime(2024, 3, 1, tzinfo=UTC)


def orders(count: int = 1_000) -> pa.Table:
    numbers = range(count)
    return pa.table(
        {
            "order_id": pa.array(numbers, pa.int64()),
            "status": [("new", "paid", "sent")[at % 3] for at in numbers],
            "amount": pa.array(
                [None if at % 10 == 0 else Decimal(at) / 4 for at in numbers], pa.decimal128(9, 2)
            ),
            "mail": [f"user{at % 50}@example.org" for at in numbers],
            "day": [date(2024, 3, 1) + timedelta(days=at % 30) for at in numbers],
            "placed": pa.array([START + timedelta(minutes=at) for at in numbers], pa.timestamp("us", "UTC")),
            "open": [at % 2 == 0 for at in numbers],
            "tags": [["a", "b"]] * count,
        }
    )


def test_what_rows_show() -> None:
    found = profile(orders())
    assert found.rows == 1_000
    assert found.keys == (("order_id",), ("placed",))
    amount = found.column("amount")
    assert (amount.nulls, amount.min, amount.max) == (100, Decimal("0.25"), Decimal("249.75"))
    exact = [at / 4 for at in range(1_000) if at % 10]
    assert amount.mean == pytest.approx(statistics.mean(exact))
    assert amount.stddev == pytest.approx(statistics.stdev(exact))
    assert found.column("status").values == {"new": 334, "paid": 333, "sent": 333}
    assert found.column("open").values == {False: 500, True: 500}
    mail = found.column("mail")
    assert mail.pattern is not None
    assert mail.pattern.format == "email"
    assert (mail.min_length, mail.max_length) == (17, 18)
    assert (found.column("day").min, found.column("day").max) == ("2024-03-01", "2024-03-30")
    newest = START + timedelta(minutes=999)
    assert found.column("placed").newest_ns == int(newest.timestamp()) * 10**9
    assert found.column("tags").distinct is None
    names = [item["name"] for item in found.to_dict()["columns"]]
    assert names == orders().schema.names


def test_one_value_late_in_the_rows_refutes(tmp_path: Path) -> None:
    """What the first look believes is asked of all rows."""
    count = 30_000
    texts = [f"{at:06d}" for at in range(count)]
    rows = pa.table({"key": [*range(count), 5], "code": [*texts, "x"], "good": [*texts, "030000"]})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=10_000)
    found = profile(FileTable(tmp_path / "rows.parquet"))
    assert not found.column("key").unique
    assert found.column("code").pattern is None
    assert found.keys == (("code",), ("good",))
    good = found.column("good").pattern
    assert good is not None
    assert good.regex == "^[0-9]{6}$"


def test_two_columns_are_looked_at_where_no_single_one_is_a_key() -> None:
    rows = pa.table({"order": [at // 5 for at in range(500)], "line": [at % 5 for at in range(500)]})
    found = profile(rows)
    assert found.pair == ("order", "line")
    assert found.keys == (("order", "line"),)


# The lowest pyarrow asks the newest pandas for values in a way that pandas will drop.
@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
def test_the_same_rows_give_the_same_profile_wherever_they_lie(tmp_path: Path) -> None:
    rows = orders(200)
    wanted = profile(rows).to_dict()
    pq.write_table(rows, tmp_path / "rows.parquet")
    iceberg = ldp_core.Iceberg("rows", {"identifier": "shop", "warehouse_path": "wh"}, base_dir=tmp_path)
    iceberg.put(rows)
    reader = rows.to_reader()
    con = duckdb.connect()
    for place in (
        FileTable(tmp_path / "rows.parquet"),
        ldp_core.table("shop.rows", tmp_path),
        reader,
        polars.from_arrow(rows),
        rows.to_pandas(date_as_object=True),
        con.from_arrow(rows),
    ):
        found = profile(place).to_dict()
        for mine, other in zip(found["columns"], wanted["columns"], strict=True):
            for key in ("nulls", "distinct", "unique", "min_length", "values", "pattern", "mean"):
                if key != "distinct" or other["distinct_is_exact"]:
                    assert mine.get(key) == other.get(key), (type(place), mine["name"], key)
        assert found["rows"] == 200


class Elsewhere:
    """Rows that another engine answers for."""

    def opened(self, memory_limit: str | None = None) -> AbstractContextManager[object]:
        return nullcontext(object())


def test_rows_in_another_engine_are_refused() -> None:
    with pytest.raises(ConfigError, match="a profile is measured by DuckDB"):
        profile(Elsewhere())
    with pytest.raises(ConfigError, match=r"not builtins\.int"):
        profile(5)


def test_no_rows_and_no_columns() -> None:
    empty = profile(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}))
    assert (empty.rows, empty.keys) == (0, ())
    assert empty.column("a").min is None
    assert profile(pa.table({})).columns == ()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*(st.one_of(st.none(), kind) for kind in (INTS, FLOATS, TEXTS, NANOS))), max_size=40)
)
def test_numbers_are_those_of_plain_python(rows: list[tuple[Any, ...]]) -> None:
    types = {"i": pa.int64(), "f": pa.float64(), "t": pa.string(), "ns": pa.timestamp("ns")}
    columns = {name: [row[at] for row in rows] for at, name in enumerate(types)}
    table = pa.table({name: pa.array(columns[name], types[name], from_pandas=False) for name in types})
    found = profile(table)
    for name, values in columns.items():
        there = [value for value in values if value is not None]
        column = found.column(name)
        assert column.nulls == len(values) - len(there)
        if column.exact and name != "f":
            assert column.distinct == len(set(there))
            assert column.unique == (len(set(there)) == len(there) > 1)
        if column.values is not None:
            assert column.values == {value: there.count(value) for value in there}
        real = [value for value in there if not (isinstance(value, float) and math.isnan(value))]
        if name == "ns":
            assert column.newest_ns == max(real, default=None)
        else:
            assert (column.min, column.max) == (min(real, default=None), max(real, default=None))
        if name == "f":
            assert column.nans == len(there) - len(real)
        if name == "t":
            assert column.max_length == max(map(len, there), default=None)
