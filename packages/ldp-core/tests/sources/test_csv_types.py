"""Types of CSV columns: decided over the whole input, never losing anything in silence."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError, DriftError


def column(*values: str) -> str:
    return "v\n" + "".join(f"{value}\n" for value in values)


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (["1", "-2"], "int64", 1),
        (["9223372036854775807", "-9223372036854775808"], "int64", 2**63 - 1),
        (["02116", "10001"], "string", "02116"),
        (["+5", "6"], "string", "+5"),
        (["1e3", "2"], "string", "1e3"),
        (["0x1F"], "string", "0x1F"),
        (["1_000"], "string", "1_000"),
        ([" 5", "6"], "string", " 5"),
        (["12345678901234567890", "1"], "string", "12345678901234567890"),
        (["1.50", "-2.25"], "decimal128(18, 2)", Decimal("1.50")),
        (["-0.00", "2.25"], "decimal128(18, 2)", Decimal("0.00")),
        (["1.000001", "2.000000"], "decimal128(18, 6)", Decimal("1.000001")),
        (["12345678901234567890.12", "1.00"], "decimal128(38, 2)", Decimal("12345678901234567890.12")),
        (["5.5", "7.5"], "double", 5.5),
        (["1.50", "2.5"], "double", 1.5),
        (["1.0000001", "2.0000000"], "double", 1.0000001),
        (["007.50", "1.25"], "string", "007.50"),
        (["1", "2.5"], "double", 1.0),
        (["1e-07", "1.5E10"], "double", 1e-07),
        ([".5", "1.25"], "double", 0.5),
        (["1e400", "1.5"], "string", "1e400"),
        (["1e-400", "1.5"], "string", "1e-400"),
        (["nan", "1.5"], "string", "nan"),
        (["0.123456789012345678", "1.5"], "string", "0.123456789012345678"),
        (["9007199254740993", "1.5"], "string", "9007199254740993"),
        (["true", "false"], "bool", True),
        (["True", "FALSE"], "bool", True),
        (["yes", "no"], "string", "yes"),
        (["1", "true"], "string", "1"),
        (["2026-08-01", "2026-12-31"], "date32[day]", date(2026, 8, 1)),
        (["2026-02-30", "2026-12-31"], "string", "2026-02-30"),
        (["31.12.2026", "01.02.2026"], "date32[day]", date(2026, 12, 31)),
        (["12/31/2026", "01/02/2026"], "date32[day]", date(2026, 12, 31)),
        (["8/1/2026", "12/31/2026"], "date32[day]", date(2026, 8, 1)),
        (["2026-08-01", "01.08.2026"], "string", "2026-08-01"),
        (["infinity", "2026-08-01"], "string", "infinity"),
        (["2026-08-01 10:00:00", "2026-08-01 10:00"], "timestamp[us]", datetime(2026, 8, 1, 10)),
        (
            ["2026-08-01T10:00:00.120", "2026-08-01T10:00:00"],
            "timestamp[us]",
            datetime(2026, 8, 1, 10, 0, 0, 120000),
        ),
        (["2026-08-01T10:00:00", "2026-08-01 10:00:00"], "string", "2026-08-01T10:00:00"),
        (["2026-08-01 10:00:00.1234567"], "string", "2026-08-01 10:00:00.1234567"),
        (["2026-08-01T10:00:00Z", "2026-08-01T10:00:00"], "string", "2026-08-01T10:00:00Z"),
        (["2026-08-01", "2026-08-01 10:00:00"], "string", "2026-08-01"),
    ],
)
def test_a_type_holds_for_every_value_or_the_column_is_text(
    lab: Any, values: list[str], kind: str, first: Any
) -> None:
    loaded = lab.csv(column(*values))
    assert loaded.types == {"v": kind}
    assert loaded.rows[0][0] == first
    assert len(loaded.rows) == len(values)


def test_offsets_become_instants(lab: Any) -> None:
    loaded = lab.csv(
        column("2026-08-01T10:00:00Z", "2026-08-01T10:00:00+02:00", "2026-08-01T10:00:00.5-0530")
    )
    assert loaded.types == {"v": "timestamp[us, tz=UTC]"}
    assert [row[0].timestamp() - loaded.rows[0][0].timestamp() for row in loaded.rows] == [0, -7200, 19800.5]


def test_days_and_months_that_cannot_be_told_apart_stay_text(lab: Any) -> None:
    loaded = lab.csv(column("01/02/2026", "03/04/2026"))
    assert loaded.types == {"v": "string"}
    assert "date_format" in loaded.warnings[0]
    assert lab.csv(column("01/02/2026"), date_format="%d/%m/%Y").rows == [(date(2026, 2, 1),)]


def test_a_decimal_comma_is_declared(lab: Any) -> None:
    loaded = lab.csv("a;b\n1,50;2,5\n-2,25;1.000,5\n", decimal=",")
    assert loaded.types == {"a": "decimal128(18, 2)", "b": "string"}
    assert loaded.rows[1] == (Decimal("-2.25"), "1.000,5")


def test_few_odd_values_make_text_with_a_warning_that_names_one(lab: Any) -> None:
    loaded = lab.csv(column(*["1"] * 200, "x", *["2"] * 50))
    assert loaded.types == {"v": "string"}
    assert loaded.warnings == [
        "column v: 1 of 251 values are no long; the first is row 201 of t.csv: 'x'; loaded as text"
    ]


def test_few_odd_values_are_an_error_with_strict(lab: Any) -> None:
    lab.strict = True
    with pytest.raises(DriftError, match=r"row 201 of t\.csv: 'x'"):
        lab.csv(column(*["1"] * 200, "x"))


def test_many_odd_values_make_text_without_a_word(lab: Any) -> None:
    assert lab.csv(column(*["1"] * 20, "x")).warnings == []


def test_an_all_empty_column_is_text(lab: Any) -> None:
    loaded = lab.csv("a,b\n1,\n2,\n")
    assert (loaded.types, loaded.rows) == ({"a": "int64", "b": "string"}, [(1, None), (2, None)])


BIG = 30_000
"""Rows of a file that is far larger than the sample."""


def big(position: int, odd: str, usual: str = "123456") -> str:
    values = [usual] * BIG
    values[position] = odd
    return "v,w\n" + "".join(f"{value},x\n" for value in values)


@pytest.mark.parametrize(
    ("odd", "kind"), [("1.5", "double"), ("1.25", "double"), ("x", "string"), ("012", "string")]
)
def test_a_value_that_no_sample_shows_decides_too(lab: Any, odd: str, kind: str) -> None:
    loaded = lab.csv(big(BIG // 4, odd))
    assert loaded.types == {"v": kind, "w": "string"}
    assert len(loaded.rows) == BIG
    assert str(loaded.rows[BIG // 4][0]) == str(float(odd) if kind == "double" else odd)


def test_an_odd_value_that_no_sample_shows_is_named(lab: Any) -> None:
    loaded = lab.csv(big(BIG // 4, "x"))
    assert f"row {BIG // 4 + 1} of t.csv: 'x'" in loaded.warnings[0]


def test_a_column_that_is_empty_in_the_sample_is_typed_by_its_values(lab: Any) -> None:
    loaded = lab.csv(big(BIG // 4, "2026-08-01", usual=""))
    assert loaded.types == {"v": "date32[day]", "w": "string"}
    assert loaded.rows[BIG // 4][0] == date(2026, 8, 1)


def test_a_long_file_of_ambiguous_dates_is_decided_by_one_value(lab: Any) -> None:
    loaded = lab.csv(big(BIG // 4, "31/12/2026", usual="01/02/2026"))
    assert loaded.types["v"] == "date32[day]"
    assert loaded.rows[0][0] == date(2026, 2, 1)


TABLE = pa.schema(
    [
        ("i", pa.int64()),
        ("n", pa.int32()),
        ("d", pa.float64()),
        ("m", pa.decimal128(10, 2)),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
        ("z", pa.timestamp("us", tz="UTC")),
        ("s", pa.large_string()),
        ("b", pa.bool_()),
    ]
)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("i", "5.0", 5),
        ("d", "5", 5.0),
        ("d", "NaN", None),
        ("m", "5", Decimal("5.00")),
        ("m", "5.500", Decimal("5.50")),
        ("day", "2026-08-01 00:00:00", date(2026, 8, 1)),
        ("at", "2026-08-01", datetime(2026, 8, 1)),
        ("at", "2026-08-01T10:00", datetime(2026, 8, 1, 10)),
        ("s", "007", "007"),
        ("b", "TRUE", True),
    ],
)
def test_values_are_cast_to_the_table_where_nothing_is_lost(
    lab: Any, name: str, value: str, expected: Any
) -> None:
    loaded = lab.csv(f"{name}\n{value}\n", TABLE)
    if expected is not None:
        assert loaded.rows == [(expected,)]
    assert loaded.extract.follows_values


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("i", "1.5"),
        ("i", "02116"),
        ("i", "1e3"),
        ("i", "9223372036854775808"),
        ("i", ""),
        ("n", "3000000000"),
        ("d", "1e400"),
        ("d", "x"),
        ("m", "1.239"),
        ("m", "123456789.00"),
        ("day", "2026-08-01 10:00:00"),
        ("at", "2026-08-01T10:00:00+02:00"),
        ("at", "2026-08-01 10:00:00.1234567"),
        ("z", "2026-08-01 10:00:00"),
        ("b", "yes"),
        ("b", "1"),
    ],
)
def test_a_value_that_would_lose_something_is_drift_with_column_row_and_value(
    lab: Any, name: str, value: str
) -> None:
    body = f'{name},q\n,ok\n,ok\n"{value}",ok\n' if not value else f"{name},q\n,ok\n,ok\n{value},ok\n"
    with pytest.raises(DriftError) as caught:
        lab.csv(body, TABLE)
    assert f"column {name}, row 3: {value!r}" in str(caught.value)
    assert str(caught.value).startswith("t.csv:")


def test_a_file_of_a_folder_is_named_in_drift(lab: Any) -> None:
    lab.write("d/a.csv", "i\n1\n2\n")
    lab.write("d/b.csv", "i\n3\nx\n")
    with pytest.raises(DriftError, match=r"d/b.csv: column i, row 2: 'x'"):
        lab.load("CSV", TABLE, path="d")


def test_a_new_column_beside_the_table_is_typed_by_value(lab: Any) -> None:
    assert lab.csv("i,new\n1,2.5\n", TABLE).types == {"i": "int64", "new": "double"}


def test_declared_types_hold_on_the_first_load(lab: Any) -> None:
    loaded = lab.csv(
        "a,b,c\n1,2,02\n", columns={"a": "text", "b": "decimal(10, 2)", "c": {"type": "int", "loss": "allow"}}
    )
    assert loaded.types == {"a": "string", "b": "decimal128(10, 2)", "c": "int32"}
    assert loaded.rows == [("1", Decimal("2.00"), 2)]


def test_loss_is_allowed_by_column(lab: Any) -> None:
    columns = {"v": {"type": "decimal(10, 2)", "loss": "allow"}}
    assert lab.csv(column("1.239"), columns=columns).rows == [(Decimal("1.24"),)]
    with pytest.raises(DriftError):
        lab.csv(column("x"), columns=columns)


def test_a_declared_column_must_be_there(lab: Any) -> None:
    with pytest.raises(ConfigError, match=r"columns\.z: the source has no column 'z'; it has a"):
        lab.csv("a\n1\n", columns={"z": "text"})


def test_text_cannot_fill_a_binary_column(lab: Any) -> None:
    with pytest.raises(DriftError, match="column a: text cannot fill"):
        lab.csv("a\n1\n", pa.schema([("a", pa.binary())]))


def test_null_values_count_only_unquoted(lab: Any) -> None:
    loaded = lab.csv('a,b\nNA,"NA"\n1,\n2,""\n', null_values=["NA"])
    assert loaded.rows == [(None, "NA"), (1, None), (2, "")]
