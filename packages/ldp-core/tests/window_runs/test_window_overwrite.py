"""Overwrite of a window: its rows are replaced, all others stay, on any table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError, LDPError, NoData
from ldp_core.fs import local_path
from ldp_core.run.registered import run_config
from ldp_core.testing.deletes import commit, delete_file, keys, positions
from ldp_core.window import iter_windows

MakeLake = Callable[..., Any]


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 8, day, hour, minute)


def day(number: int) -> tuple[datetime, datetime]:
    return (datetime(2026, 8, number, tzinfo=UTC), datetime(2026, 8, number + 1, tzinfo=UTC))


def test_the_rows_of_the_window_are_replaced_and_all_others_stay(lake: MakeLake) -> None:
    one = lake()
    first = one.load([(1, at(1)), (2, at(1, 23, 59)), (3, at(2)), (4, None)], None, "append")
    assert first.rows_written == 4
    result = one.load([(5, at(1, 12)), (6, at(2)), (7, None)], day(1))
    assert one.rows() == [(3, at(2)), (4, None), (5, at(1, 12))]
    assert (result.rows_read, result.rows_kept, result.rows_written) == (3, 1, 1)
    wrote = result.write_result
    assert (wrote.rows_before, wrote.rows_after) == (4, 3)
    assert one.summary()["rows-written"] == "1"


def test_the_first_load_has_nothing_to_replace(lake: MakeLake) -> None:
    one = lake()
    result = one.load([(1, at(1)), (2, at(2))], day(1))
    assert (result.write_result.rows_before, result.write_result.rows_after) == (0, 1)
    assert one.rows() == [(1, at(1))]


def test_files_inside_are_dropped_those_outside_are_left_alone_those_astride_are_written_again(
    lake: MakeLake,
) -> None:
    one = lake(target={"partition_by": [{"column": "ts", "transform": "day"}]})
    one.load([(1, at(1)), (2, at(2, 6)), (3, at(2, 18)), (4, at(3)), (5, None)], None, "append")
    before = {path: path.read_bytes() for path in one.files()}
    assert len(before) == 4

    one.load([(9, at(2, 7))], (datetime(2026, 8, 2, 12, tzinfo=UTC), datetime(2026, 8, 3, tzinfo=UTC)))
    astride = set(before) - set(one.files())
    assert len(astride) == 1
    assert one.rows() == [(1, at(1)), (2, at(2, 6)), (4, at(3)), (5, None)]

    one.load([(9, at(2, 7))], day(2))
    assert one.rows() == [(1, at(1)), (4, at(3)), (5, None), (9, at(2, 7))]
    left = set(before) & set(one.files())
    assert len(left) == 3
    assert all(path.read_bytes() == before[path] for path in left)


def test_a_file_astride_that_holds_no_row_of_the_window_is_left_alone(lake: MakeLake) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(3))], None, "append")
    before = one.files()
    one.load([(9, at(2, 7))], day(2))
    assert set(before) < set(one.files())


def test_a_file_outside_need_not_even_be_there(lake: MakeLake) -> None:
    one = lake(target={"partition_by": [{"column": "ts", "transform": "day"}]})
    one.load([(1, at(1)), (2, at(2))], None, "append")
    for path in one.files():
        path.rename(path.with_suffix(".away"))
    one.load([(9, at(2, 7))], day(2))
    for path in local_path(one.table().table().location()).rglob("*.away"):
        path.rename(path.with_suffix(".parquet"))
    assert one.rows() == [(1, at(1)), (9, at(2, 7))]


def test_an_empty_window_replaces_its_rows_by_nothing_where_the_config_says_so(lake: MakeLake) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(2))], None, "append")
    with pytest.raises(NoData, match=r"none of 1 rows is in the window 2026-08-01T00.*empty: publish"):
        one.load([(9, at(3))], day(1), said={"empty": "error"})
    assert one.rows() == [(1, at(1)), (2, at(2))]
    result = one.load([(9, at(3))], day(1))
    assert (result.rows_written, result.write_result.rows_after) == (0, 1)
    assert one.rows() == [(2, at(2))]


@pytest.mark.parametrize("equality", [False, True])
def test_rows_that_were_deleted_stay_deleted(lake: MakeLake, equality: bool) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(1, 6)), (3, at(2)), (4, at(2, 6))], None, "append")
    table = one.table().table()
    path = table.inspect.files()["file_path"].to_pylist()[0]
    if equality:
        gone = delete_file(table, keys(1, "id", pa.int64(), [2, 3]), equality=[1])
    else:
        gone = delete_file(table, positions((path, 1), (path, 2)))
    commit(table, gone)
    assert one.live() == [(1, at(1)), (4, at(2, 6))]
    one.load([(9, at(1))], day(1))
    assert one.live() == [(4, at(2, 6)), (9, at(1))]


def test_the_type_of_the_table_decides(lake: MakeLake) -> None:
    """A source of timestamps into a column of dates, and the other way round."""
    one = lake("date")
    one.load([(1, date(2026, 8, 1)), (2, date(2026, 8, 2))], None, "append")
    one.kind = "timestamp"
    cast = [{"sql": "SELECT id, CAST(ts AS DATE) AS ts FROM source"}]
    one.load([(9, at(1, 7)), (8, at(2, 7))], day(1), transforms=cast)
    assert one.rows() == [(2, date(2026, 8, 2)), (9, date(2026, 8, 1))]
    hour = (datetime(2026, 8, 1, 6, tzinfo=UTC), datetime(2026, 8, 1, 8, tzinfo=UTC))
    with pytest.raises(ConfigError, match="is a date column, so a window must start and end at midnight"):
        one.load([(9, at(1, 7))], hour, transforms=cast)

    two = lake("timestamp")
    two.load([(1, at(1)), (2, at(2))], None, "append")
    two.kind = "date"
    back = [{"sql": "SELECT id, CAST(ts AS TIMESTAMP) AS ts FROM source"}]
    two.load([(9, date(2026, 8, 1)), (8, date(2026, 8, 2))], day(1), transforms=back)
    assert two.rows() == [(2, at(2)), (9, at(1))]


def test_rows_without_the_column_are_refused_before_anything_is_written(lake: MakeLake) -> None:
    one = lake()
    drop = [{"sql": "SELECT id FROM source"}]
    text = r"'ts' is not a column of the rows for nyc\.rides, so an overwrite cannot find the rows"
    with pytest.raises(ConfigError, match=text):
        one.load([(1, at(1))], day(1), transforms=drop)
    assert not one.table().exists()
    one.load([(1, at(1))], None, "append")
    with pytest.raises(ConfigError, match=text):
        one.load([(1, at(1))], day(1), transforms=drop)
    assert one.rows() == [(1, at(1))]


def test_a_table_that_gets_the_column_with_this_load_keeps_its_rows(lake: MakeLake) -> None:
    one = lake()
    one.source([(1, at(1))])
    run_config(one.config("append", transforms=[{"sql": "SELECT id FROM source"}]))
    one.load([(2, at(1))], day(1))
    assert one.rows() == [(1, None), (2, at(1))]
    one.load([(3, at(1))], day(1))
    assert one.rows() == [(1, None), (3, at(1))]


def test_rows_that_a_transform_moves_out_of_the_window_are_refused(lake: MakeLake) -> None:
    one = lake()
    with pytest.raises(LDPError, match="1 of 2 rows are not in the window by 'ts' after the transforms"):
        one.load(
            [(1, at(1)), (2, at(1, 23))],
            day(1),
            transforms=[{"sql": "SELECT id, ts + INTERVAL (id) HOUR AS ts FROM source"}],
        )
    assert not one.table().exists()


def test_without_a_window_column_the_whole_table_is_replaced(lake: MakeLake) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(2))], None, "append")
    one.load([(9, at(3))], day(1), said={"column": None})
    assert one.rows() == [(9, at(3))]


HOURS = st.integers(0, 74)
ZONES = {
    "UTC": datetime(2026, 8, 1),
    "Europe/Paris": datetime(2026, 10, 24),
    "America/New_York": datetime(2026, 3, 7),
}
MINUTES = st.sampled_from([0, 1, 30, 59])


@st.composite
def histories(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["timestamp", "timestamptz", "date"]))
    zone = draw(st.sampled_from(sorted(ZONES)))
    first = ZONES[zone]
    size = "day" if kind == "date" else draw(st.sampled_from(["day", "hour"]))
    steps = st.builds(lambda h, m: first + timedelta(hours=h, minutes=m), HOURS, MINUTES)
    values: st.SearchStrategy[Any] = steps
    if kind == "date":
        values = steps.map(lambda moment: moment.date())
    elif kind == "timestamptz":
        values = steps.map(lambda moment: moment.replace(tzinfo=UTC))
    batch = st.lists(st.none() | values, max_size=25)
    start = first.replace(tzinfo=UTC)
    windows = list(iter_windows(start, start + timedelta(days=4), size, zone))
    if size == "day":
        windows = windows[1:]
    loads = st.tuples(st.sampled_from(windows), batch)
    return {
        "kind": kind,
        "zone": zone,
        "partition": draw(st.sampled_from([None, "day", "month"])),
        "first": draw(batch),
        "loads": draw(st.lists(loads, min_size=1, max_size=5)),
    }


@given(history=histories())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_history_of_windows_leaves_what_plain_python_says(
    lake: MakeLake, history: dict[str, Any]
) -> None:
    partition = [{"column": "ts", "transform": history["partition"]}] if history["partition"] else []
    one = lake(history["kind"], history["zone"], target={"partition_by": partition})
    numbers = iter(range(10_000))
    batch = [(next(numbers), value) for value in history["first"]]
    expected = list(batch)
    if batch:
        one.load(batch, None, "append")
    for window, values in history["loads"]:
        batch = [(next(numbers), value) for value in values]
        one.load(batch, window)
        kept = [row for row in batch if one.inside(row[1], window)]
        expected = [row for row in expected if not one.inside(row[1], window)] + kept
        assert one.rows() == sorted(expected)
