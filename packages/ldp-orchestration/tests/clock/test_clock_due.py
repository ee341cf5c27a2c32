"""Which windows a tick looks at, and how long it leaves one alone that failed."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_core.window import Window
from ldp_orchestration.backoff import LONGEST_WAIT, next_try, wait_after, waits
from ldp_orchestration.due import due, missed, windows_since
from ldp_orchestration.fires import fires, latest_fire, window_of_fire

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from clock_oracle import ZONES, Cron, crons
finally:
    sys.path.remove(HERE)

SIZES = st.sampled_from([None, "day", "hour", "15m"])
SPANS = st.timedeltas(timedelta(0), timedelta(days=4))
STARTS = st.datetimes(datetime(2010, 1, 1), datetime(2027, 1, 1)).map(
    lambda at: at.replace(second=0, microsecond=0, tzinfo=UTC)
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


def one_by_one(schedule: str, zone: str, size: str | None, start: datetime, now: datetime) -> list[Window]:
    """The window of every fire, none left out."""
    found = []
    for fire in fires(schedule, zone, start - timedelta(seconds=1)):
        if fire > now:
            return list(dict.fromkeys(found))
        window = window_of_fire(schedule, zone, size, fire)
        if window.start >= start:
            found.append(window)
    raise AssertionError("fires end")


@settings(deadline=None, max_examples=120)
@given(cron=crons(), zone=st.sampled_from(ZONES), size=SIZES, start=STARTS, span=SPANS)
def test_catch_up_looks_at_the_window_of_every_fire(
    cron: Cron, zone: str, size: str | None, start: datetime, span: timedelta
) -> None:
    now = start + span
    found = due(cron.text, zone, size, True, start, now)
    assert list(found) == one_by_one(cron.text, zone, size, start, now)
    assert all(before.end <= later.start for before, later in pairwise(found))
    assert all(window.start >= start for window in found)
    latest = window_of_fire(cron.text, zone, size, latest_fire(cron.text, zone, now))
    assert latest.end <= now
    assert found[-1:] == ((latest,) if latest.start >= start else ())


@settings(deadline=None, max_examples=120)
@given(cron=crons(), zone=st.sampled_from(ZONES), size=SIZES, start=STARTS, span=SPANS)
def test_without_catch_up_a_window_is_due_or_missed(
    cron: Cron, zone: str, size: str | None, start: datetime, span: timedelta
) -> None:
    now = start + span
    latest = due(cron.text, zone, size, False, start, now)
    before = missed(cron.text, zone, size, False, start, None, now)
    assert (*before, *latest) == due(cron.text, zone, size, True, start, now)
    assert missed(cron.text, zone, size, True, start, None, now) == ()
    assert missed(cron.text, zone, size, False, None, None, now) == ()
    assert missed(cron.text, zone, size, False, None, start, now) == before


@settings(deadline=None, max_examples=60)
@given(
    cron=crons(),
    zone=st.sampled_from(ZONES),
    size=SIZES,
    start=STARTS,
    gaps=st.lists(st.timedeltas(timedelta(0), timedelta(hours=40)), min_size=1, max_size=6),
    each=st.integers(1, 5),
)
def test_ticks_at_any_moments_run_every_window_once(
    cron: Cron, zone: str, size: str | None, start: datetime, gaps: list[timedelta], each: int
) -> None:
    now, ran = start, []
    for gap in gaps:
        now += gap
        left = [window for window in due(cron.text, zone, size, True, start, now) if window not in ran]
        ran += left[:each]
    while left := [window for window in due(cron.text, zone, size, True, start, now) if window not in ran]:
        ran += left[: each * 50]
    assert ran == one_by_one(cron.text, zone, size, start, now)


def test_the_latest_window_alone_and_none_before_start() -> None:
    now = utc(2026, 8, 4, 3)
    day = Window(utc(2026, 8, 3), utc(2026, 8, 4))
    assert due("5 2 * * *", "UTC", "day", False, None, now) == (day,)
    assert due("5 2 * * *", "UTC", "day", False, day.start, now) == (day,)
    assert due("5 2 * * *", "UTC", "day", False, utc(2026, 8, 3, 1), now) == ()
    assert due("0 9 * * 1-5", "UTC", None, False, None, utc(2026, 8, 5, 7)) == (
        Window(utc(2026, 8, 3, 9), utc(2026, 8, 4, 9)),
    )
    with pytest.raises(ConfigError, match="catchup needs a start"):
        due("5 2 * * *", "UTC", "day", True, None, now)


def test_several_fires_of_one_window_are_one() -> None:
    found = due("0 */6 * * *", "Europe/Paris", "day", True, utc(2026, 3, 27, 23), utc(2026, 3, 30, 12))
    assert [window.length // timedelta(hours=1) for window in found] == [24, 23]


def test_a_long_catch_up_is_refused_and_a_year_of_minutes_takes_no_minute() -> None:
    now, begin = utc(2026, 8, 1), process_time()
    with pytest.raises(ConfigError, match=r"more than 100,000 windows have come since 1926-08-26"):
        due("* * * * *", "Europe/Paris", None, True, now - timedelta(days=36500), now)
    assert process_time() - begin < 10
    begin = process_time()
    assert len(due("* * * * *", "Europe/Paris", "day", True, now - timedelta(days=366), now)) == 365
    assert process_time() - begin < 2
    with pytest.raises(ConfigError, match="set a later start"):
        missed("@hourly", "UTC", "hour", False, None, now - timedelta(days=10), now, limit=100)


def test_windows_come_one_by_one() -> None:
    first = next(windows_since("* * * * *", "UTC", None, utc(1970, 1, 1), utc(2026, 1, 1)))
    assert first == Window(utc(1970, 1, 1), utc(1970, 1, 1, 0, 1))


def test_a_window_that_keeps_failing_waits_longer_each_time() -> None:
    at = utc(2026, 8, 4, 2, 5)
    waited = [wait_after(failures) // timedelta(minutes=1) for failures in range(11)]
    assert waited == [0, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440]
    assert wait_after(10**6) == LONGEST_WAIT
    assert next_try(1, at) == utc(2026, 8, 4, 2, 10)
    assert next_try(3, at) == utc(2026, 8, 4, 2, 25)
    assert next_try(0, at) is None
    assert next_try(2, None) is None
    assert next_try(2, at, changed=True) is None


def test_a_tick_that_comes_a_little_early_does_not_wait_for_the_next() -> None:
    until = next_try(1, utc(2026, 8, 4, 2, 5, 2))
    assert not waits(until, utc(2026, 8, 4, 2, 10))
    assert waits(until, utc(2026, 8, 4, 2, 9))
    assert not waits(None, utc(2026, 8, 4, 2, 9))
