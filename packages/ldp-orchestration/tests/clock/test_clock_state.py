"""The state of a window, against the words of the specification; the range of a backfill."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_core.window import Window
from ldp_orchestration.model import Workflow
from ldp_orchestration.ranges import parse_range, windows_of
from ldp_orchestration.state import STATES, window_state

NOW = datetime(2026, 8, 4, 10, 20, tzinfo=UTC)
RUNS = [None, "succeeded", "failed", "blocked", "incomplete", "unfinished"]


def naive(done: list[bool], unvouched: bool, last: str | None, every_task: bool) -> str:
    """The rules one after the other."""
    keys, missing = done.count(True), done.count(False)
    ran_well = last == "succeeded" and every_task
    asks_ledger = unvouched or len(done) == 0
    if missing == 0 and not asks_ledger:
        return "published"
    if missing == 0 and asks_ledger and ran_well:
        return "published"
    if last == "failed":
        return "failed"
    if last == "blocked":
        return "blocked"
    if keys:
        return "partial"
    return "missing"


@given(
    done=st.lists(st.booleans(), max_size=4),
    unvouched=st.booleans(),
    last=st.sampled_from(RUNS),
    every_task=st.booleans(),
)
def test_state(done: list[bool], unvouched: bool, last: str | None, every_task: bool) -> None:
    state = window_state(done, unvouched, last, every_task)
    assert state == naive(done, unvouched, last, every_task)
    assert state in STATES
    if state == "published":
        assert all(done)
        more = [*done, True] if done else done
        assert window_state(more, unvouched, last, every_task) == "published"
    if last is not None and last not in ("succeeded", "failed", "blocked"):
        assert state == window_state(done, unvouched, None, every_task)


@pytest.mark.parametrize(
    ("done", "unvouched", "last", "every_task", "state"),
    [
        ([True, True], False, None, True, "published"),
        ([True, True], False, "failed", True, "published"),
        ([True], True, None, True, "partial"),
        ([True], True, "succeeded", True, "published"),
        ([True], True, "succeeded", False, "partial"),
        ([True], True, "blocked", True, "blocked"),
        ([True, False], False, "failed", True, "failed"),
        ([True, False], False, "unfinished", True, "partial"),
        ([False], False, "succeeded", True, "missing"),
        ([], True, "incomplete", True, "missing"),
        ([], False, None, True, "missing"),
        ([], False, "succeeded", True, "published"),
    ],
)
def test_states_one_by_one(
    done: list[bool], unvouched: bool, last: str | None, every_task: bool, state: str
) -> None:
    assert window_state(done, unvouched, last, every_task) == state


def workflow(size: str | None = "day", zone: str = "UTC") -> Workflow:
    return Workflow("rides", Path("c.json"), "c.json", "Pipeline", (), {}, {}, size=size, zone=zone)


@pytest.mark.parametrize(
    ("size", "zone", "start", "end", "wanted"),
    [
        ("day", "UTC", "2026-08-01", "2026-08-03", "2026-08-01T00:00:00Z/2026-08-03T00:00:00Z"),
        ("day", "UTC", "2026-08-01", None, "2026-08-01T00:00:00Z/2026-08-04T00:00:00Z"),
        ("hour", "UTC", "2026-08-04", None, "2026-08-04T00:00:00Z/2026-08-04T10:00:00Z"),
        ("15m", "UTC", "2026-08-04T09:45", None, "2026-08-04T09:45:00Z/2026-08-04T10:15:00Z"),
        ("day", "Europe/Paris", "2026-08-01", None, "2026-07-31T22:00:00Z/2026-08-03T22:00:00Z"),
        ("day", "Europe/Paris", date(2026, 3, 29), "2026-03-29T22:00:00Z", None),
    ],
)
def test_ranges(size: str, zone: str, start: Any, end: Any, wanted: str | None) -> None:
    bounds = parse_range(workflow(size, zone), start, end, NOW)
    assert str(Window(*bounds)) == (wanted or "2026-03-28T23:00:00Z/2026-03-29T22:00:00Z")
    windows = windows_of(size, zone, *bounds)
    assert (windows[0].start, windows[-1].end) == bounds


@pytest.mark.parametrize(
    ("size", "zone", "start", "end", "message"),
    [
        (
            None,
            "UTC",
            "2026-08-01",
            None,
            "rides does not say how long a window is; set it to day, hour or 15m",
        ),
        (
            "day",
            "Europe/Paris",
            "2026-08-01T00:00:00Z",
            "2026-08-02T00:00:00Z",
            "the start of the range, 2026-08-01T00:00:00Z, does not start a window of size day in "
            "Europe/Paris; windows of that size start at local midnight; the nearest are "
            "2026-07-31T22:00:00Z and 2026-08-01T22:00:00Z",
        ),
        ("hour", "UTC", "2026-08-01", "2026-08-01T00:30", "the end of the range, 2026-08-01T00:30:00Z"),
        ("hour", "Asia/Kolkata", "2026-08-01T00:00Z", None, "on each full hour from local midnight"),
        ("15m", "UTC", "2026-08-01T00:05", None, "on each quarter of an hour from local midnight"),
        ("day", "UTC", "2026-08-03", "2026-08-01", "has no window"),
        ("day", "UTC", "2026-08-03", "2026-08-03", "has no window"),
        (
            "day",
            "UTC",
            "2026-08-04",
            None,
            "the last complete window of size day ends at 2026-08-04T00:00:00Z",
        ),
        ("day", "UTC", "yesterday", None, "the start of the range must be a datetime, a date or an ISO-8601"),
    ],
)
def test_what_is_no_range(size: str | None, zone: str, start: str, end: str | None, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_range(workflow(size, zone), start, end, NOW)
    assert message in str(caught.value)


def test_too_many_windows_are_not_counted_to_the_end() -> None:
    start, begin = datetime(2020, 1, 1, tzinfo=UTC), process_time()
    assert len(windows_of("day", "UTC", start, start + timedelta(days=1000))) == 1000
    with pytest.raises(ConfigError, match=r"has about 1,001 windows of size day, more than 1,000"):
        windows_of("day", "UTC", start, start + timedelta(days=1001))
    with pytest.raises(ConfigError, match=r"has about 280,\d+ windows of size 15m.*--max-windows"):
        windows_of("15m", "UTC", start, start + timedelta(days=2922))
    with pytest.raises(ConfigError, match="has no window of size day"):
        windows_of("day", "UTC", start, start)
    assert process_time() - begin < 2
