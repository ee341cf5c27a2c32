"""Rows in memory, from every library, of every type and name."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import duckdb
import ldp_quality
import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError, DataQualityError
from ldp_quality import (
    AcceptedValues,
    Expression,
    Freshness,
    Monotonic,
    NotNull,
    Range,
    RateBelow,
    Regex,
    RowCount,
    SchemaHas,
    Unique,
    run_checks,
)

ODD_NAMES = [
    "Id",
    "id",
    "a.b",
    "select",
    "c0",
    "__row",
    'é "q"',
    "o'x",
    "",
    " ",
    "rows_",
    "v",
    "p",
    "--",
    "🙂",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_column_name(name: str) -> None:
    table = pa.table({other: [1, 2, 2] for other in ODD_NAMES if other != name} | {name: [3, 1, 1]})
    report = run_checks(
        table, [Unique(name), Range(name, max=2), Monotonic(name, group_by="c0" if name != "c0" else "v")]
    )
    assert [result.failing_rows for result in report.results] == [2, 1, 0]
    assert [sample["row"] for sample in report.results[0].samples] == [1, 2]
    assert report.results[1].samples[0]["values"][name] == 3
    assert list(report.results[1].samples[0]["values"]) == table.column_names


@pytest.mark.parametrize("name", [name for name in ODD_NAMES if name and name.lower() != "id"])
def test_any_column_name_in_a_condition(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    table = pa.table({other: [9, 9] for other in ODD_NAMES if other != name} | {name: [1, 2]})
    assert Expression(f"{quoted} < 2").run(table).samples[0]["row"] == 1


TABLE = pa.table({"x": list(range(10))})
FRAMES: dict[str, Callable[[], Any]] = {
    "table": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=3)),
    "pandas": lambda: pytest.importorskip("pandas") and TABLE.to_pandas(),
    "relation": lambda: duckdb.sql("SELECT CAST(range AS BIGINT) AS x FROM range(10)"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame(kind: str) -> None:
    frame = FRAMES[kind]()
    report = run_checks(
        frame, [Range("x", max=7), Unique("x"), Monotonic("x", strict=True), SchemaHas({"x": "int64"})]
    )
    assert [result.passed for result in report.results] == [False, True, True, True]
    assert [sample["values"] for sample in report.results[0].samples] == [{"x": 8}, {"x": 9}]


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"s": ["a", "b"]})
    assert run_checks(frame, [SchemaHas({"s": "string"}), Unique("s")]).passed


@pytest.mark.parametrize("frame", [3, None, {"x": [1]}, [1]])
def test_anything_else_is_refused(frame: Any) -> None:
    with pytest.raises(ConfigError, match="pyarrow Table"):
        run_checks(frame, [])


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two columns"):
        run_checks(pa.table([pa.array([1]), pa.array([2])], names=["x", "x"]), [])


def test_a_pandas_frame_that_arrow_cannot_hold_is_refused_in_words() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ConfigError, match="two columns are called 'a'"):
        run_checks(pandas.DataFrame([[1, 2]], columns=["a", "a"]), [NotNull("a")])
    with pytest.raises(ConfigError, match=r"the frame cannot be read: .* for column o"):
        run_checks(pandas.DataFrame({"o": [1, "a"]}), [NotNull("o")])


def test_no_columns_and_no_rows() -> None:
    report = run_checks(pa.table({}), [RowCount(equals=0), NotNull("x"), SchemaHas(["x"])])
    assert [result.passed for result in report.results] == [True, False, False]


def test_types_that_engines_read_differently() -> None:
    table = pa.table(
        {
            "half": pa.array([1.5, 2.0], pa.float16()),
            "wide": pa.array([1, 2], pa.decimal256(60, 2)),
            "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
            "span": pa.array([1, 2], pa.duration("ns")),
            "unsigned": pa.array([0, 2**64 - 1], pa.uint64()),
            "bytes": [b"a", b"b"],
            "time": pa.array([1, 2], pa.time64("ns")),
            "tokyo": pa.array([1, 2], pa.timestamp("ns", "Asia/Tokyo")),
            "single": pa.array([0.1, 0.2], pa.float32()),
        }
    )
    checks = [
        Range("half", max=1.6),
        Unique("wide"),
        NotNull("map"),
        Unique("span"),
        Range("unsigned", max=2**64 - 2),
        Unique("bytes"),
        Range("time", max="00:00:00.000000001"),
        Range("tokyo", min="1970-01-01T09:00:00.000000002+09:00"),
        AcceptedValues("single", [0.1]),
        Range("single", max=0.1),
    ]
    report = run_checks(table, checks)
    assert [result.failing_rows for result in report.results] == [1, 0, 1, 0, 1, 0, 1, 1, 1, 1]
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("check", "type_"),
    [
        (Range("x", min=1), pa.string()),
        (Range("x", min="a"), pa.int64()),
        (Range("x", min=1), pa.timestamp("us")),
        (Range("x", min="a"), pa.timestamp("us")),
        (Range("x", min=1), pa.struct([("a", pa.int64())])),
        (Range("x", min=1), pa.bool_()),
        (AcceptedValues("x", [1]), pa.binary()),
        (Regex("x", "a"), pa.int64()),
        (RateBelow("x", 0.5), pa.int64()),
        (Freshness("x", 1), pa.string()),
        (Monotonic("x"), pa.list_(pa.int64())),
    ],
)
def test_a_column_of_the_wrong_kind_is_a_failure_that_says_so(check: Any, type_: pa.DataType) -> None:
    result = check.run(pa.table({"x": pa.nulls(2, type_)}))
    assert not result.passed
    assert result.failing_rows == 0
    assert str(type_) in result.details


def test_context() -> None:
    table = pa.table({"t": pa.array([0], pa.timestamp("us"))})
    context = {"source_rows": 1, "now": datetime(1970, 1, 1, 1, tzinfo=UTC)}
    assert run_checks(table, [RowCount(equals="source"), Freshness("t", 1)], context).passed
    assert not run_checks(table, [RowCount(equals="source")]).passed
    assert not Freshness("t", 1).run(table, {"now": "1970-01-01T01:00:00.000001Z"}).passed
    assert Freshness("t", 1, now="1970-01-01T01:00:00Z").run(table, {"now": "2000-01-01"}).passed
    with pytest.raises(ConfigError, match="allowed: history, now, source_rows"):
        run_checks(table, [], {"rows": 1})
    with pytest.raises(ConfigError, match="now must be"):
        run_checks(table, [], {"now": "later"})


def test_report() -> None:
    table = pa.table({"fare": [5.5, 7.5, 9.0], "id": [1, None, 3]})
    report = run_checks(table, [Range("fare", min=6), NotNull("id", name="ids are known"), RowCount(min=1)])
    with pytest.raises(DataQualityError) as caught:
        report.raise_for_failures()
    assert caught.value.report is report
    assert str(caught.value) == (
        "2 of 3 data quality checks failed:\n"
        "  - range(fare): 1 of 3 rows violate fare >= 6: 1 below min, 0 above max (33.33% of the rows)\n"
        "      row 0: fare=5.5, id=1\n"
        "  - ids are known: 1 of 3 rows have a null in id (id=1) (33.33% of the rows)\n"
        "      row 1: fare=7.5, id=None"
    )
    run_checks(table, [RowCount(min=1)]).raise_for_failures()
    assert report.to_dict()["results"][0]["share"] == pytest.approx(1 / 3)


def test_public_names() -> None:
    assert ldp_quality.__all__ == sorted(ldp_quality.__all__)
    assert all(getattr(ldp_quality, name) for name in ldp_quality.__all__)
    with pytest.raises(AttributeError):
        _ = ldp_quality.nothing
