"""Outliers, against the plainest reading."""

from __future__ import annotations

import math
import statistics
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import Anomaly, Rule, run_checks

FLOATS = st.one_of(
    st.none(), st.integers(-50, 50).map(float), st.sampled_from([math.nan, math.inf, -math.inf, 1e6])
)


def beyond(values: list[Any], sigma: float, past: tuple[float, float] | None, least: int) -> list[int] | None:
    """The rows that lie too far; None where there are too few values."""
    known = [float(value) for value in values if value is not None and not math.isnan(value)]
    finite = [value for value in known if math.isfinite(value)]
    if past is None:
        if len(known) < least or len(finite) < 2:
            return None
        past = statistics.fmean(finite), statistics.stdev(finite)
    mean, stddev = past
    far = [abs(float(value) - mean) if value is not None else 0.0 for value in values]
    # Two ways to add floats differ in their last digits: no value right at the border.
    assume(not any(math.isclose(distance, sigma * stddev, rel_tol=1e-9) for distance in far))
    return [at for at, distance in enumerate(far) if distance > sigma * stddev]


@settings(deadline=None)
@given(
    st.lists(FLOATS, max_size=12),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.one_of(st.none(), st.tuples(st.integers(-5, 5).map(float), st.integers(1, 20).map(float))),
    st.integers(2, 5),
)
def test_outliers(
    values: list[float | None], sigma: float, past: tuple[float, float] | None, least: int
) -> None:
    expected = beyond(values, sigma, past, least)
    mean, stddev = past or (None, None)
    check = Anomaly("x", sigma=sigma, mean=mean, stddev=stddev, min_rows=least)
    [result] = run_checks(pa.table({"x": pa.array(values, pa.float64(), from_pandas=False)}), [check]).results
    assert result.failing_rows == len(expected or ())
    assert result.passed is not bool(expected)
    assert [sample["row"] for sample in result.samples] == (expected or [])[:5]
    assert ("too few" in result.details) is (expected is None)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1] * 20 + [1000]),
        pa.array([Decimal("1.0")] * 20 + [Decimal("1000.0")]),
        pa.array([1.0] * 20 + [1000.0], pa.float32()),
    ],
)
def test_every_kind_of_number(values: pa.Array) -> None:
    [result] = run_checks(pa.table({"x": values}), [Anomaly("x")]).results
    assert (result.failing_rows, result.samples[0]["row"]) == (1, 20)
    assert "1 of 21 rows have a x beyond 3 standard deviations" in result.details


@pytest.mark.parametrize("value", [0.1, 0.3, -1e-9, 1e308])
def test_equal_values_are_none_of_them_unlike_the_others(value: float) -> None:
    # Their mean, added up in floats, is not quite the value, and the deviation is zero.
    [result] = run_checks(pa.table({"x": [value] * 30}), [Anomaly("x")]).results
    assert (result.status, result.failing_rows, result.metrics["stddev"]) == ("pass", 0, 0)
    [odd] = run_checks(pa.table({"x": [0.3] * 30 + [0.1 + 0.2]}), [Anomaly("x")]).results
    assert odd.passed


def test_values_too_large_for_a_mean_are_not_run() -> None:
    [result] = run_checks(pa.table({"x": [1e308, -1e308, 1e307] * 10}), [Anomaly("x")]).results
    assert (result.status, "too large for a mean" in result.details) == ("not_run", True)


@settings(deadline=None, max_examples=50)
@given(st.lists(FLOATS, max_size=12), st.integers(0, 12), st.sampled_from([0.5, 1.0, 2.0]))
def test_rows_of_a_condition_are_compared_with_all_rows(
    values: list[float | None], first: int, sigma: float
) -> None:
    expected = beyond(values, sigma, None, 2)
    judged = [row for row in expected or () if row >= first]
    table = pa.table(
        {"x": pa.array(values, pa.float64(), from_pandas=False), "k": list(range(len(values)))},
    )
    rule = Rule(check=Anomaly("x", sigma=sigma, min_rows=2), where=f"k >= {first}")
    [result] = run_checks(table, [rule]).results
    assert result.failing_rows == len(judged)
    assert [sample["row"] for sample in result.samples] == judged[:5]
    assert ("too few" in result.details) is (expected is None)


def test_values_that_never_change_and_columns_that_are_no_numbers() -> None:
    frame = pa.table({"x": [1] * 10, "t": ["a"] * 10, "e": pa.array([None] * 10, pa.int64())})
    report = run_checks(
        frame, [Anomaly("x"), Anomaly("t"), Anomaly("e"), Rule(check=Anomaly("x"), where="x > 1")]
    )
    assert [result.status for result in report.results] == ["pass", "fail", "pass", "pass"]
    assert "is no numeric column" in report.results[1].details


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"sigma": 0}, "sigma must be a number above 0"),
        ({"sigma": "3"}, "sigma must be"),
        ({"mean": 1}, "give both or neither"),
        ({"mean": 1, "stddev": 0}, "stddev must be above 0"),
        ({"mean": "a", "stddev": 1}, "mean must be a number"),
        ({"min_rows": 1}, "min_rows must be a whole number from 2"),
        ({"detector": "forest"}, "unknown detector 'forest'; installed: sigma"),
        ({"detector": {"type": "sigma", "trees": 5}}, "unknown option"),
        ({"detector": 5}, "unknown detector 5"),
        ({"sigma": 2, "detector": {"type": "sigma"}}, "are options of the detector sigma"),
    ],
)
def test_what_is_wrong(said: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        Anomaly("x", **said)
