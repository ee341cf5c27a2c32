"""Windows: reading them, the local calendar, naive columns, placeholders."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_core.window import Window, iter_windows, midnight, parse_window, shortcut, starts_window
from ldp_core.window.placeholders import fill, problem
from ldp_core.window.wall import wall_bound

ZONES = [
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kolkata",
    "Africa/Casablanca",
    "Antarctica/Troll",
]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-08-01/2026-08-02", "UTC", "2026-08-01T00:00:00Z/2026-08-02T00:00:00Z"),
        ("2026-08-01/2026-08-02", "Europe/Paris", "2026-07-31T22:00:00Z/2026-08-01T22:00:00Z"),
        ("20260801/20260802", "UTC", "2026-08-01T00:00:00Z/2026-08-02T00:00:00Z"),
        (
            "2026-08-01T00:00:00.5/2026-08-01T00:00:01z",
            "UTC",
            "2026-08-01T00:00:00.500000Z/2026-08-01T00:00:01Z",
        ),
        (
            "2026-08-01T02:00+02:00/2026-08-01T01:00Z",
            "Asia/Tokyo",
            "2026-08-01T00:00:00Z/2026-08-01T01:00:00Z",
        ),
    ],
)
def test_a_window_is_read_in_the_zone_of_the_config(text: str, zone: str, expected: str) -> None:
    window = parse_window(text, zone)
    assert str(window) == expected
    assert parse_window(window, zone) is window
    assert parse_window(tuple(text.split("/")), zone) == window


def test_a_pair_of_dates_and_times_is_a_window() -> None:
    assert parse_window((date(2026, 8, 1), utc(2026, 8, 2))) == Window(utc(2026, 8, 1), utc(2026, 8, 2))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2026-08-01/2026-08-01", "must be after its start"),
        ("2011-12-30/2011-12-31", "must be after its start"),
        ("a/b/c", "must be an ISO-8601 interval 'START/END', or one of yesterday, last-week, last-month"),
        ("Yesterday", "must be an ISO-8601 interval"),
        ("/2026-08-02", "window start must be a datetime, a date or an ISO-8601 string, got ''"),
        ((1, 2), "window start must be"),
        (("2026-08-01",), "a window is a pair"),
        (None, "a window is a pair"),
    ],
)
def test_what_is_no_window_says_why(value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("'", ".")):
        parse_window(value, "Pacific/Apia" if "2011" in str(value) else "UTC")


def test_an_unknown_zone_or_word_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown time zone 'Mars/Base'"):
        parse_window("2026-08-01/2026-08-02", "Mars/Base")
    with pytest.raises(
        ConfigError, match="unknown window 'tomorrow'; the shortcuts are yesterday, last-week"
    ):
        shortcut("tomorrow")


@settings(deadline=None, max_examples=150)
@given(
    zone=st.sampled_from(ZONES),
    size=st.sampled_from(["day", "hour", "15m"]),
    day=st.dates(date(2010, 1, 1), date(2030, 12, 31)),
    days=st.integers(1, 4),
)
def test_windows_tile_without_gap_or_overlap(zone: str, size: str, day: date, days: int) -> None:
    start, end = midnight(day, zone), midnight(day + timedelta(days=days), zone)
    windows = list(iter_windows(start, end, size, zone))
    edges = [start, *(window.end for window in windows)]
    assert [window.start for window in windows] == edges[:-1]
    assert edges[-1] == end
    assert all(starts_window(window.start, size, zone) for window in windows)
    if size == "day":
        local = [window.start.astimezone(ZoneInfo(zone)).date() for window in windows]
        assert len(set(local)) == len(local)


@settings(deadline=None, max_examples=300)
@given(
    zone=st.sampled_from(ZONES),
    size=st.sampled_from(["day", "hour", "15m"]),
    value=st.datetimes(datetime(2010, 1, 1), datetime(2030, 12, 31)),
)
def test_a_naive_value_is_in_exactly_one_window(zone: str, size: str, value: datetime) -> None:
    first = midnight((value - timedelta(days=2)).date(), zone)
    end = midnight((value + timedelta(days=3)).date(), zone)
    holding = [
        window
        for window in iter_windows(first, end, size, zone)
        if wall_bound(window.start, zone) <= value < wall_bound(window.end, zone)
    ]
    assert len(holding) == 1
    aware = value.replace(tzinfo=ZoneInfo(zone), fold=1).astimezone(UTC)
    if aware.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == value:
        assert holding[0].start <= aware < holding[0].end


def test_the_repeated_hour_is_loaded_by_its_second_pass() -> None:
    zone = "Europe/Paris"
    quarters = list(iter_windows(utc(2026, 10, 25), utc(2026, 10, 25, 2), "15m", zone))
    value = datetime(2026, 10, 25, 2, 5)
    holding = [w for w in quarters if wall_bound(w.start, zone) <= value < wall_bound(w.end, zone)]
    assert [str(window) for window in holding] == ["2026-10-25T01:00:00Z/2026-10-25T01:15:00Z"]


def test_a_path_is_filled_with_local_bounds() -> None:
    window = parse_window("2026-08-01/2026-08-02", "Europe/Paris")
    path = "d/o_{window_start:%Y-%m-%d}_{window_end:%d}.csv"
    assert fill(path, window, "Europe/Paris") == "d/o_2026-08-01_02.csv"
    assert fill(path, window, "UTC") == "d/o_2026-07-31_01.csv"
    assert fill("d/{a,b}.csv", None, "UTC") == "d/{a,b}.csv"
    assert fill("{window_start:%s_%%s_%%%s}", window, "Europe/Paris") == "1785535200_%s_%1785535200"
    with pytest.raises(
        ConfigError, match=r"has the placeholder .window_start:%Y-%m-%d., which needs a window"
    ):
        fill(path, None, "UTC")


def test_broken_placeholders_say_what_is_wrong() -> None:
    assert problem("d/{window_start:%Y}.csv") is None
    assert "needs a strftime format" in str(problem("d/{window_start}.csv"))
    assert "not closed" in str(problem("d/{window_end:%Y.csv"))
    assert "needs a strftime format" in str(problem("d/{window_end:}.csv"))
