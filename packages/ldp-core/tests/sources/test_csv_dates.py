"""Layouts of dates and timestamps: of an existing table's columns, and those that a config declares."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from ldp_core import registry
from ldp_core.errors import DriftError

TABLE = pa.schema([("v", pa.date32())])
MOMENTS = pa.schema([("t", pa.timestamp("us")), ("z", pa.timestamp("us", tz="UTC"))])
LONG = 30_000


def column(*values: str) -> str:
    return "v\n" + "".join(f"{value}\n" for value in values)


def long(value: str, usual: str) -> str:
    """A file that is larger than what is looked at whole, with one value a quarter into it."""
    rows = [usual] * LONG
    rows[LONG // 4] = value
    return column(*rows)


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["31.01.2026", "01.02.2026"], date(2026, 1, 31)),
        (["02/27/2026", "01/02/2026"], date(2026, 2, 27)),
        (["1/2/2026", "13/2/2026"], date(2026, 2, 1)),
        (["2026/02/01"], date(2026, 2, 1)),
        (["02-Jan-2026"], date(2026, 1, 2)),
        (["2026-02-01 00:00:00", "2026-02-02"], date(2026, 2, 1)),
        (["", ""], None),
    ],
)
def test_the_dates_of_a_later_file_are_read_like_those_of_the_first(
    lab: Any, values: list[str], first: date | None
) -> None:
    loaded = lab.csv("v,w\n" + "".join(f"{value},x\n" for value in values), TABLE)
    assert loaded.types["v"] == "date32[day]"
    assert loaded.rows[0][0] == first


def test_a_declared_date_is_read_by_the_layout_of_its_values(lab: Any) -> None:
    assert lab.csv(column("31.01.2026"), columns={"v": "date"}).rows == [(date(2026, 1, 31),)]


@pytest.mark.parametrize(("value", "usual"), [("31.02.2026", "31.01.2026"), ("x", "2026-01-31")])
def test_the_date_that_breaks_the_layout_of_the_others_is_the_drift(lab: Any, value: str, usual: str) -> None:
    with pytest.raises(DriftError, match=rf"column v, row 2: '{value}' cannot be loaded as date"):
        lab.csv(column(usual, value, usual), TABLE)
    with pytest.raises(DriftError, match=rf"column v, row {LONG // 4 + 1}: '{value}'"):
        lab.csv(long(value, usual), TABLE)


def test_dates_of_which_day_and_month_cannot_be_told_apart_are_refused_with_the_way_out(lab: Any) -> None:
    for body in (column("01/02/2026"), long("01/03/2026", "01/02/2026")):
        with pytest.raises(DriftError, match="column v: days and months") as caught:
            lab.csv(body, TABLE)
        assert "date_format" in str(caught.value.hint)
    assert lab.csv(column("01/02/2026"), TABLE, date_format="%d/%m/%Y").rows == [(date(2026, 2, 1),)]


@pytest.mark.parametrize(
    ("value", "usual", "expected"),
    [
        ("31.12.2026", "", date(2026, 12, 31)),
        ("1/2/2026", "28/12/2026", date(2026, 2, 1)),
        ("13/2/2026", "1/2/2026", date(2026, 2, 13)),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_the_layout_is_that_of_the_whole_input_not_of_a_sample(
    lab: Any, value: str, usual: str, expected: date, known: bool
) -> None:
    body = "v,w\n" + "".join(f"{one},x\n" for one in [usual] * 7000 + [value] + [usual] * 23_000)
    loaded = lab.csv(body, TABLE if known else None)
    assert loaded.types["v"] == "date32[day]"
    assert loaded.rows[7000][0] == expected


@pytest.mark.parametrize(
    ("layout", "value", "expected"),
    [
        ("%d %b %Y", "2 Jan 2026", date(2026, 1, 2)),
        ("%m/%d/%Y", "1/2/2026", date(2026, 1, 2)),
        ("%d-%b-%y", "02-JAN-26", date(2026, 1, 2)),
        ("%A %d %B %Y", "Friday 2 January 2026", date(2026, 1, 2)),
    ],
)
def test_a_declared_layout_takes_what_it_can_parse(lab: Any, layout: str, value: str, expected: date) -> None:
    loaded = lab.csv(column(value), date_format=layout)
    assert loaded.rows == [(expected,)]
    assert loaded.warnings == []


@pytest.mark.parametrize(
    ("layout", "value", "expected"),
    [
        ("%Y-%m-%d %H:%M:%S.%f", "2026-01-02 03:04:05.5", datetime(2026, 1, 2, 3, 4, 5, 500_000)),
        ("%d/%m/%Y %H:%M", "2/1/2026 3:04", datetime(2026, 1, 2, 3, 4)),
        ("%m/%d/%Y %I:%M:%S %p", "1/2/2026 3:04:05 PM", datetime(2026, 1, 2, 15, 4, 5)),
        ("%a %b %d %H:%M:%S %Y", "Fri Jan 02 03:04:05 2026", datetime(2026, 1, 2, 3, 4, 5)),
    ],
)
def test_a_declared_layout_of_timestamps_takes_what_it_can_parse(
    lab: Any, layout: str, value: str, expected: datetime
) -> None:
    assert lab.csv(column(value), timestamp_format=layout).rows == [(expected,)]


@pytest.mark.parametrize("value", ["2026012", "2026112", "02.01.26", "infinity"])
def test_a_date_that_a_layout_could_read_in_two_ways_is_not_one(lab: Any, value: str) -> None:
    layout = "%d.%m.%Y" if "." in value else "%Y%m%d"
    with pytest.raises(DriftError):
        lab.csv(column(value), columns={"v": "date"}, date_format=layout)


def test_a_layout_that_no_column_has_is_told(lab: Any) -> None:
    loaded = lab.csv(column("2026-01-02x"), date_format="%d.%m.%Y", timestamp_format="%d.%m.%Y %H:%M")
    assert loaded.types == {"v": "string"}
    assert [line.split(":")[0] for line in loaded.warnings] == [
        "date_format '%d.%m.%Y'",
        "timestamp_format '%d.%m.%Y %H",
    ]
    assert "no column" in loaded.warnings[0]


def test_digits_and_times_that_a_type_cannot_hold_are_not_dropped(lab: Any) -> None:
    nano = {"timestamp_format": "%Y-%m-%d %H:%M:%S.%n"}
    body = column("2026-01-02 03:04:05.123456789")
    assert lab.csv(body, **nano).types == {"v": "string"}
    with pytest.raises(DriftError, match="row 1"):
        lab.csv(body, columns={"v": "timestamp"}, **nano)
    loose = {"v": {"type": "timestamp", "loss": "allow"}}
    assert lab.csv(body, columns=loose, **nano).rows == [(datetime(2026, 1, 2, 3, 4, 5, 123_456),)]
    exact = column("2026-01-02 03:04:05.123456000")
    assert lab.csv(exact, **nano).rows == [(datetime(2026, 1, 2, 3, 4, 5, 123_456),)]

    day = {"date_format": "%d.%m.%Y %H:%M"}
    with pytest.raises(DriftError, match="row 2"):
        lab.csv(column("02.01.2026 00:00", "02.01.2026 10:30"), columns={"v": "date"}, **day)
    loose = {"v": {"type": "date", "loss": "allow"}}
    assert lab.csv(column("02.01.2026 10:30"), columns=loose, **day).rows == [(date(2026, 1, 2),)]


def test_an_offset_is_neither_dropped_nor_made_up_by_a_layout(lab: Any) -> None:
    zoned = {"timestamp_format": "%d/%m/%Y %H:%M %z"}
    plain = {"timestamp_format": "%d/%m/%Y %H:%M"}
    instant = datetime(2026, 1, 2, 1, 4, tzinfo=UTC)
    assert lab.csv(column("02/01/2026 03:04 +0200"), **zoned).rows == [(instant,)]
    with pytest.raises(DriftError, match="as timestamp "):
        lab.csv(column("02/01/2026 03:04 +0200"), columns={"v": "timestamp"}, **zoned)
    with pytest.raises(DriftError, match="as timestamptz "):
        lab.csv(column("02/01/2026 03:04"), columns={"v": "timestamptz"}, **plain)
    loaded = lab.csv("t,z\n02/01/2026 03:04,2026-01-02 03:04:00+02:00\n", MOMENTS, **plain)
    assert loaded.rows == [(datetime(2026, 1, 2, 3, 4), instant)]


@pytest.mark.parametrize(
    ("key", "layout", "what"),
    [
        ("date_format", "klingon", "has no %Y"),
        ("date_format", "%d/%m", "has no %Y"),
        ("date_format", "%e.%m.%Y", "'%e'"),
        ("timestamp_format", "%s", "'%s'"),
        ("timestamp_format", "%H:%M", "has no %Y"),
        ("timestamp_format", "%Y-%", "'%'"),
    ],
)
def test_a_layout_that_cannot_work_is_refused_before_anything_is_read(
    lab: Any, key: str, layout: str, what: str
) -> None:
    spec = lab.spec(path="t.csv", **{key: layout})
    (problem,) = registry.load("ldp.sources", "CSV").problems(spec)
    assert problem.key == key
    assert what in problem.message


@pytest.mark.parametrize("layout", ["%d.%m.%Y", "%-d/%-m/%y", "%Y-%j", "%c", "%x", "100%% %Y", "%G-W%V-%u"])
def test_layouts_that_work_are_accepted(lab: Any, layout: str) -> None:
    spec = lab.spec(path="t.csv", date_format=layout)
    assert registry.load("ldp.sources", "CSV").problems(spec) == []


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("v", "soon", "date_format"),
        ("t", "soon", "timestamp_format"),
        ("n", "1.5", "correct it"),
    ],
)
def test_drift_says_what_to_do(lab: Any, name: str, value: str, hint: str) -> None:
    table = pa.schema([("v", pa.date32()), ("t", pa.timestamp("us")), ("n", pa.int64())])
    with pytest.raises(DriftError) as caught:
        lab.csv(f"{name},w\n{value},x\n", table)
    assert hint in str(caught.value.hint)
