"""The numbers that a store remembers of earlier runs, for the check that compares them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from ldp_quality import MetricAnomaly, Rule, Store, open_store, run_checks
from ldp_quality.history import Unkept

NOW = datetime(2026, 8, 31, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = [Rule(check=MetricAnomaly("row_count")), Rule(check=MetricAnomaly("sum", "x"), where="x > 0")]


def saved(store: Store, day: int, count: int, again: int = 0, **more: Any) -> None:
    """One run of a day's window; ``again`` makes it a later one of the same window."""
    start = datetime(2026, 8, day, tzinfo=UTC)
    report = run_checks(rows(count), RULES, {"history": Unkept("none yet")})
    told = {"outcome": "published", "pipeline": "rides", "dataset": "nyc.rides", **more}
    store.save_result(
        report,
        run_id=f"run-{day}-{again}",
        rules=RULES,
        window=(start, start + DAY),
        evaluated=NOW + timedelta(minutes=again),
        **told,
    )


def rows(count: int) -> pa.Table:
    return pa.table({"x": list(range(count))})


def test_what_was_published_counts_each_window_once_before_a_moment(place: str) -> None:
    with open_store(place) as store:
        for day in (4, 2, 3, 1):
            saved(store, day, day)
        saved(store, 2, 20, again=1)
        saved(store, 3, 30, again=2, outcome="blocked_quality")
        saved(store, 1, 100, again=3, pipeline="other")
        saved(store, 1, 100, again=4, dataset="nyc.other")
        history = store.history("nyc.rides", "rides")
        before = datetime(2026, 8, 5, tzinfo=UTC)
        past = history.past("row_count", None, before, 9)
        assert [item.value for item in past] == [3, 20, 1]
        assert [item.at.day for item in past] == [4, 3, 2]
        assert [item.value for item in history.past("row_count", None, NOW, 2)] == [4, 3]
        odd = history.past("row_count", None, NOW, 9, lambda at: at.day % 2 == 1)
        assert [item.value for item in odd] == [4, 20]
        # A number is known by what it is of, and by the rows that it is about; the first day had none.
        assert [item.value for item in history.past("sum(x)", "x > 0", NOW, 9)] == [6, 3, 190]
        assert history.past("sum(x)", None, NOW, 9) == []
        assert history.past("sum(y)", "x > 0", NOW, 9) == []
        every = store.history("nyc.rides").past("row_count", None, before, 9)
        assert sorted(item.value for item in every) == [1, 3, 20, 100]


def test_a_window_whose_last_load_had_no_such_number_has_none(place: str) -> None:
    with open_store(place) as store:
        saved(store, 2, 5)
        saved(store, 3, 4)
        saved(store, 3, 1, again=1)  # no row above zero: there is no sum any more
        history = store.history("nyc.rides", "rides")
        assert [item.value for item in history.past("sum(x)", "x > 0", NOW, 9)] == [10]
        assert [item.value for item in history.past("row_count", None, NOW, 9)] == [1, 5]


def test_runs_without_a_window_stand_where_they_were_evaluated(place: str) -> None:
    with open_store(place) as store:
        report = run_checks(rows(3), RULES, {"history": Unkept("none yet")})
        for hour in range(3):
            store.save_result(
                report, dataset="a.b", run_id=f"r{hour}", rules=RULES, evaluated=NOW + timedelta(hours=hour)
            )
        found = store.history("a.b").past("row_count", None, NOW + timedelta(hours=2), 9)
        assert [item.at.hour for item in found] == [1, 0]


def test_in_python(place: str) -> None:
    with open_store(place) as store:
        for day in range(1, 8):
            saved(store, day, 10)
        context = {"history": store.history("nyc.rides"), "now": NOW}
        report = run_checks(rows(3), [MetricAnomaly("row_count")], context)
        assert report.status == "fail"
        assert "row_count is 3, below the mean 10 of 7 runs" in report.results[0].details
