"""A number beside those of earlier runs, against the plainest reading."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import MetricAnomaly, Rule, run_checks
from ldp_quality.history import Past

NOW = datetime(2026, 8, 31, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Days:
    """A history of one number a day, the last one yesterday."""

    values: tuple[float, ...]
    timezone: str = "UTC"

    def past(
        self, number: str, where: str | None, before: datetime, limit: int, keep: Callable[[datetime], bool]
    ) -> list[Past]:
        every = [Past(NOW - (at + 1) * DAY, value) for at, value in enumerate(reversed(self.values))]
        return [item for item in every if item.at < before and keep(item.at)][:limit]


def judged(check: MetricAnomaly, table: pa.Table, values: Any, **more: Any) -> Any:
    context = {"now": NOW, "history": Days(tuple(values))}
    [result] = run_checks(table, [Rule(check=check, **more)], context).results
    return result


def rows(count: int) -> pa.Table:
    return pa.table({"x": list(range(count))})


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 30), max_size=20),
    st.integers(0, 40),
    st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    st.sampled_from(["mean", "median"]),
    st.sampled_from(["both", "above", "below"]),
    st.sampled_from(["runs", "weekday"]),
    st.integers(2, 4),
    st.integers(4, 12),
)
def test_what_is_far_is_what_the_words_say(
    values: list[int],
    count: int,
    sigma: float,
    method: str,
    direction: str,
    baseline: str,
    least: int,
    last: int,
) -> None:
    step = 7 if baseline == "weekday" else 1
    past = [float(value) for value in list(reversed(values))[step - 1 :: step][:last]]
    wanted = True
    if len(past) >= least:
        usual, spread = statistics.fmean(past), statistics.stdev(past)
        if method == "median":
            usual = statistics.median(past)
            spread = 1.4826 * statistics.median(abs(value - usual) for value in past)
        distance = {"both": abs(count - usual), "above": count - usual, "below": usual - count}[direction]
        assume(not math.isclose(distance, sigma * spread, rel_tol=1e-9) or not spread)
        wanted = distance <= sigma * spread
    check = MetricAnomaly(
        "row_count",
        sigma=sigma,
        method=method,
        direction=direction,
        baseline=baseline,
        min_history=least,
        last=last,
    )
    result = judged(check, rows(count), values)
    assert result.status == ("pass" if wanted else "fail"), result.details
    assert (f"not enough history: {len(past)} of {least} runs" in result.details) is (len(past) < least)


VALUES = st.one_of(st.none(), st.integers(-5, 5).map(float), st.just(math.nan))


@settings(deadline=None, max_examples=40)
@given(st.lists(VALUES, max_size=12), st.booleans())
def test_every_number_is_that_of_the_rows(values: list[float | None], scoped: bool) -> None:
    table = pa.table({"x": pa.array(values, pa.float64(), from_pandas=False), "k": list(range(len(values)))})
    seen = values[2:] if scoped else values
    known = [value for value in seen if value is not None]
    numbers = [value for value in known if not math.isnan(value)]
    wanted = {
        "null_share": (len(seen) - len(known)) / len(seen) if seen else None,
        "sum": math.fsum(numbers) if numbers else None,
        "mean": math.fsum(numbers) / len(numbers) if numbers else None,
        "min": min(numbers, default=None),
        "max": max(numbers, default=None),
        "distinct": len({"nan" if math.isnan(value) else value for value in known}),
    }
    rules = [Rule(check=MetricAnomaly(metric, "x"), where="k >= 2" if scoped else None) for metric in wanted]
    report = run_checks(table, rules, {"now": NOW, "history": Days(())})
    for (metric, value), result in zip(wanted.items(), report.results, strict=True):
        assert result.passed
        found = result.metrics.get(f"{metric}(x)")
        assert found == value or math.isclose(found, value, abs_tol=1e-9)


@pytest.mark.parametrize(
    "values",
    [pa.array([1, 2]), pa.array([Decimal("1.0"), Decimal("2.0")]), pa.array([1.0, 2.0], pa.float32())],
)
def test_every_kind_of_number(values: pa.Array) -> None:
    for metric, usual in (("sum", 3), ("mean", 1.5), ("min", 1), ("max", 2)):
        result = judged(MetricAnomaly(metric, "x"), pa.table({"x": values}), [usual] * 7)
        assert result.passed, result.details
        odd = judged(MetricAnomaly(metric, "x"), pa.table({"x": values}), [usual + 1] * 7)
        assert odd.status == "fail"


def test_an_infinite_number_is_far_and_one_that_is_none_is_not_compared() -> None:
    infinite = pa.table({"x": [math.inf, 1.0]})
    assert judged(MetricAnomaly("sum", "x"), infinite, range(7)).status == "fail"
    assert judged(MetricAnomaly("sum", "x", direction="below"), infinite, range(7)).status == "pass"
    both = pa.table({"x": [math.inf, -math.inf]})
    assert judged(MetricAnomaly("sum", "x"), both, range(7)).status == "fail"
    none = judged(MetricAnomaly("mean", "x"), pa.table({"x": pa.array([None], pa.float64())}), range(7))
    assert (none.status, none.details) == ("pass", "no row has a x, so there is no number")


def test_words() -> None:
    check = MetricAnomaly("row_count", sigma=2)
    values = [9, 10, 11] * 3
    assert judged(check, rows(10), values).details == (
        "row_count is 10, within 2 standard deviations (0.866025) of the mean 10 of 9 runs"
    )
    assert judged(check, rows(3), values).details == (
        "row_count is 3, below the mean 10 of 9 runs by more than 2 standard deviations (0.866025)"
    )
    odd = MetricAnomaly("row_count", baseline="weekday", min_history=2, method="median")
    assert judged(odd, rows(40), range(21)).details == (
        "row_count is 40, above the median 7 of 3 runs of this weekday by more than 3 deviations (10.3782)"
    )


def test_without_a_history_it_is_not_run_and_never_green() -> None:
    [result] = run_checks(rows(3), [MetricAnomaly("row_count")]).results
    assert (result.status, result.details) == ("not_run", "not run: no history of earlier runs is at hand")
    [missing, text] = run_checks(rows(3), [MetricAnomaly("sum", "y"), MetricAnomaly("sum", "x")]).results
    assert (missing.status, text.status) == ("fail", "not_run")
    [words] = run_checks(pa.table({"x": ["a"]}), [MetricAnomaly("sum", "x")]).results
    assert words.status == "fail"
    assert "is no numeric column" in words.details


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"metric": "median"}, "metric must be one of"),
        ({"metric": "sum"}, "metric sum needs a column"),
        ({"metric": "row_count", "column": "x"}, "leave column out"),
        ({"baseline": "month"}, "baseline must be one of runs, weekday"),
        ({"method": "max"}, "method must be one of mean, median"),
        ({"direction": "up"}, "direction must be one of both, above, below"),
        ({"sigma": 0}, "sigma must be a number above 0"),
        ({"min_history": 1}, "min_history must be a whole number from 2"),
        ({"min_history": 8, "last": 7}, "is more than the last 7"),
    ],
)
def test_what_is_wrong(said: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        MetricAnomaly(**{"metric": "row_count", **said})
