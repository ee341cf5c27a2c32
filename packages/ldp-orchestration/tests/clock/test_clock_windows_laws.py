"""Windows of every size tile time in every zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import available_timezones

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ldp_core.window import Window, iter_windows, midnight, starts_window
from ldp_core.window.calendar import next_start, window_start
from ldp_orchestration.ranges import last_complete

ZONES = sorted(available_timezones())
SIZES = ["day", "hour", "15m"]


@settings(deadline=None, max_examples=400)
@given(
    zone=st.sampled_from(ZONES),
    size=st.sampled_from(SIZES),
    day=st.dates(date(2008, 1, 1), date(2027, 12, 31)),
)
@example("America/St_Johns", "15m", date(2010, 11, 6))
@example("America/Goose_Bay", "hour", date(2008, 11, 1))
@example("Pacific/Apia", "day", date(2011, 12, 29))
@example("Australia/Lord_Howe", "hour", date(2026, 4, 4))
@example("America/Havana", "15m", date(2026, 10, 31))
@example("Africa/Casablanca", "hour", date(2026, 2, 14))
def test_windows_tile_in_every_zone(zone: str, size: str, day: date) -> None:
    start = midnight(day, zone)
    windows = list(islice(iter_windows(start, start + timedelta(days=9), size, zone), 600))
    assert [window.start for window in windows] == [start, *(window.end for window in windows[:-1])]
    assert all(window.start < window.end for window in windows)
    assert all(starts_window(window.start, size, zone) for window in windows)
    if size != "day":
        whole = {"hour": timedelta(hours=1), "15m": timedelta(minutes=15)}[size]
        short = [window for window in windows if window.length != whole]
        days = {midnight(day + timedelta(days=number), zone) for number in range(12)}
        assert all(window.length < whole and window.end in days for window in short)


@settings(deadline=None, max_examples=300)
@given(
    zone=st.sampled_from(ZONES),
    size=st.sampled_from(SIZES),
    at=st.datetimes(datetime(2008, 1, 1), datetime(2027, 12, 31)),
)
@example("America/St_Johns", "15m", datetime(2010, 11, 7, 2, 40))
@example("Pacific/Apia", "day", datetime(2011, 12, 30, 10))
def test_an_instant_is_in_one_window_and_the_one_before_is_complete(
    zone: str, size: str, at: datetime
) -> None:
    moment = at.replace(tzinfo=UTC)
    begin, end = window_start(moment, size, zone), next_start(moment, size, zone)
    assert begin <= moment < end
    assert list(iter_windows(begin, end, size, zone)) == [Window(begin, end)]
    before = last_complete(size, zone, moment)
    assert before.end == begin
    assert next_start(before.start, size, zone) == begin
    assert starts_window(before.start, size, zone)


@pytest.mark.parametrize("zone", ["America/St_Johns", "America/Goose_Bay"])
def test_a_clock_put_back_just_after_midnight_repeats_no_window(zone: str) -> None:
    start, end = midnight(date(2010, 11, 6), zone), midnight(date(2010, 11, 9), zone)
    for size, count in (("day", 3), ("hour", 73), ("15m", 292)):
        windows = list(islice(iter_windows(start, end, size, zone), 1000))
        assert len(windows) == count
        assert windows[-1].end == end
