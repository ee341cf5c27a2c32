"""Each library metric with each operator against a naive reading of the same rows in Python."""

from __future__ import annotations

import math
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_quality import CheckResult, run_checks
from ldp_quality.checks.metric import Metric
from ldp_quality.checks.not_run import NotRun
from ldp_quality.checks.operators import OPERATORS, Operator
from ldp_quality.checks.valid import Valid

law = settings(deadline=None, max_examples=20)

FLOATS = [0.0, -0.0, 0.1, 0.3, 1.0, 1.5, math.inf, -math.inf, math.nan]
INTS = [0, 1, 2, 3, -1, 10, 2**63 - 1]
TEXTS = ["", "a", "ab", "N/A", "é", "'", '"x']
DECIMALS = [Decimal("0.00"), Decimal("0.01"), Decimal("1.50"), Decimal("-2.00")]
KINDS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.float64(), FLOATS),
    (pa.int64(), INTS),
    (pa.string(), TEXTS),
    (pa.decimal128(38, 2), DECIMALS),
    (pa.bool_(), [True, False]),
    (pa.null(), [None]),
]
BOUNDS = st.sampled_from([0, 1, 2, 3, 5, 20, 33.3, 50, 100])


def same(value: Any, other: Any) -> bool:
    nans = isinstance(value, float) and isinstance(other, float) and math.isnan(value) and math.isnan(other)
    return bool(value == other) or nans


def key(value: Any) -> Any:
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def holds(name: str, bound: Any, value: Fraction) -> bool:
    low, high = (Fraction(str(item)) for item in (bound if isinstance(bound, list) else [bound, bound]))
    return {
        "mustBe": value == low,
        "mustNotBe": value != low,
        "mustBeGreaterThan": value > low,
        "mustBeGreaterOrEqualTo": value >= low,
        "mustBeLessThan": value < low,
        "mustBeLessOrEqualTo": value <= low,
        "mustBeBetween": low < value < high,
        "mustNotBeBetween": value <= low or value >= high,
    }[name]


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from(OPERATORS))
    if not name.endswith("Between"):
        return name, draw(BOUNDS)
    return name, sorted(draw(st.lists(BOUNDS, min_size=2, max_size=2, unique=True)))


@st.composite
def rows(draw: st.DrawFn) -> tuple[pa.DataType, list[Any], list[Any]]:
    """A type, the values it may hold, and some of them or nulls."""
    type_, values = draw(st.sampled_from(KINDS))
    return type_, values, draw(st.lists(st.one_of(st.none(), st.sampled_from(values)), max_size=8))


def judge(
    metric: str, type_: pa.DataType, values: list[Any], unit: str, by: tuple[str, Any], **more: Any
) -> Any:
    table = pa.table({"x": pa.array(values, type_, from_pandas=False)})
    check = Metric(metric, (Operator.of(*by),), () if metric == "rowCount" else ("x",), unit, **more)
    return check.run(table)


def expect(
    result: CheckResult, by: tuple[str, Any], unit: str, bad: list[int], total: int, known: bool
) -> None:
    """The number, the verdict, and the rows to blame, the first five of them shown."""
    value = Fraction(len(bad))
    if unit == "percent":
        value = Fraction(100 * len(bad), total) if total else Fraction(0)
    assert result.metrics["count"] == len(bad), result.details
    assert result.passed is holds(*by, value), result.details
    assert result.failing_rows in (0, len(bad))
    if result.failing_rows and known:
        assert [sample["row"] for sample in result.samples] == bad[:5]
    if result.passed:
        assert not result.failing_rows
        assert not result.samples


@law
@given(rows(), comparisons(), st.sampled_from(["rows", "percent"]))
def test_null_values(drawn: Any, by: Any, unit: str) -> None:
    type_, _, values = drawn
    bad = [row for row, value in enumerate(values) if value is None]
    expect(judge("nullValues", type_, values, unit, by), by, unit, bad, len(values), True)


@law
@given(rows(), comparisons(), st.sampled_from(["rows", "percent"]), st.data())
def test_missing_values(drawn: Any, by: Any, unit: str, data: st.DataObject) -> None:
    type_, possible, values = drawn
    missing = tuple(data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), max_size=3)))
    bad = [
        row
        for row, value in enumerate(values)
        if any(
            same(value, item) if value is not None and item is not None else value is item for item in missing
        )
    ]
    result = judge("missingValues", type_, values, unit, by, missing=missing)
    expect(result, by, unit, bad, len(values), True)


@law
@given(rows(), comparisons(), st.sampled_from(["rows", "percent"]), st.data())
def test_invalid_values_of_a_list(drawn: Any, by: Any, unit: str, data: st.DataObject) -> None:
    type_, possible, values = drawn
    valid = tuple(
        data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), min_size=1, max_size=3))
    )
    bad = [
        row
        for row, value in enumerate(values)
        if value is not None and not any(item is not None and same(value, item) for item in valid)
    ]
    result = judge("invalidValues", type_, values, unit, by, valid=Valid(values=valid))
    expect(result, by, unit, bad, len(values), True)


@law
@given(
    st.sampled_from(
        [kind for kind in KINDS if pa.types.is_floating(kind[0]) or str(kind[0])[:3] in ("int", "dec")]
    ),
    st.sampled_from(["min", "max", "above", "below"]),
    st.sampled_from([0, 0.3, 1, 1.5]),
    comparisons(),
    st.data(),
)
def test_invalid_values_of_bounds(kind: Any, word: str, bound: Any, by: Any, data: st.DataObject) -> None:
    type_, possible = kind
    values = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), max_size=8))

    def good(value: Any) -> bool:
        limit = bound if isinstance(value, float) else Decimal(str(bound))
        return {
            "min": value >= limit,
            "max": value <= limit,
            "above": value > limit,
            "below": value < limit,
        }[word]

    bad = [row for row, value in enumerate(values) if value is not None and not good(value)]
    result = judge("invalidValues", type_, values, "rows", by, valid=Valid(**{word: bound}))
    expect(result, by, "rows", bad, len(values), True)


@law
@given(
    st.lists(st.one_of(st.none(), st.sampled_from(TEXTS)), max_size=8),
    st.integers(0, 2),
    st.integers(0, 2),
    comparisons(),
)
def test_invalid_values_of_texts(values: list[Any], least: int, more: int, by: Any) -> None:
    valid = Valid(pattern="^[a-zé]*$", min_length=least, max_length=least + more)
    bad = [
        row
        for row, value in enumerate(values)
        if value is not None
        and not (least <= len(value) <= least + more and re.search("^[a-zé]*$", value) is not None)
    ]
    expect(
        judge("invalidValues", pa.string(), values, "rows", by, valid=valid),
        by,
        "rows",
        bad,
        len(values),
        True,
    )


@law
@given(
    st.sampled_from([(pa.int64(), INTS), (pa.decimal128(10, 2), DECIMALS), (pa.float64(), FLOATS)]),
    st.sampled_from([1, 5, 0.5, 0.01, 0.1]),
    comparisons(),
    st.data(),
)
def test_invalid_values_of_multiples(kind: Any, step: Any, by: Any, data: st.DataObject) -> None:
    type_, possible = kind
    values = data.draw(st.lists(st.one_of(st.none(), st.sampled_from(possible)), max_size=8))

    def good(value: Any) -> bool:
        if isinstance(value, float):
            return math.isfinite(value) and (Fraction(str(value)) / Fraction(str(step))).denominator == 1
        return (Fraction(value) / Fraction(str(step))).denominator == 1

    bad = [row for row, value in enumerate(values) if value is not None and not good(value)]
    result = judge("invalidValues", type_, values, "rows", by, valid=Valid(multiple_of=step))
    expect(result, by, "rows", bad, len(values), True)


@law
@given(rows(), comparisons(), st.sampled_from(["rows", "percent"]))
def test_duplicate_values(drawn: Any, by: Any, unit: str) -> None:
    type_, _, values = drawn
    counts = Counter(key(value) for value in values if value is not None)
    surplus = sum(counts.values()) - len(counts)
    result = judge("duplicateValues", type_, values, unit, by)
    expect(result, by, unit, list(range(surplus)), len(values), False)


@law
@given(rows(), rows(), comparisons())
def test_duplicate_values_of_several_columns(first: Any, second: Any, by: Any) -> None:
    size = min(len(first[2]), len(second[2]))
    pairs = list(zip(first[2][:size], second[2][:size], strict=True))
    table = pa.table(
        {
            "x": pa.array([pair[0] for pair in pairs], first[0], from_pandas=False),
            "y": pa.array([pair[1] for pair in pairs], second[0], from_pandas=False),
        }
    )
    counts = Counter((key(a), key(b)) for a, b in pairs if a is not None and b is not None)
    surplus = sum(counts.values()) - len(counts)
    result = Metric("duplicateValues", (Operator.of(*by),), ("x", "y")).run(table)
    assert result.metrics["count"] == surplus
    assert result.passed is holds(*by, Fraction(surplus))


@law
@given(rows(), comparisons())
def test_row_count(drawn: Any, by: Any) -> None:
    type_, _, values = drawn
    result = judge("rowCount", type_, values, "rows", by)
    assert result.metrics["value"] == len(values)
    assert result.passed is holds(*by, Fraction(len(values)))
    assert result.failing_rows == 0


def test_lists_have_lengths_and_distinct_values() -> None:
    table = pa.table({"x": pa.array([[1, 1], [1, 2], [1, 2, 3], None, [None, None]], pa.list_(pa.int64()))})
    short = Metric("invalidValues", (Operator.of("mustBe", 0),), ("x",), valid=Valid(max_length=2))
    apart = Metric("invalidValues", (Operator.of("mustBe", 0),), ("x",), valid=Valid(distinct=True))
    report = run_checks(table, [short, apart])
    assert [sample["row"] for sample in report.results[0].samples] == [2]
    assert [sample["row"] for sample in report.results[1].samples] == [0]


def test_a_column_may_have_any_name() -> None:
    table = pa.table({'a "b"; --': [1, 2], "A": ["x", "yy"]})
    multiple = Metric(
        "invalidValues", (Operator.of("mustBe", 0),), ('a "b"; --',), valid=Valid(multiple_of=2)
    )
    length = Metric("invalidValues", (Operator.of("mustBe", 0),), ("A",), valid=Valid(max_length=1))
    assert [result.failing_rows for result in run_checks(table, [multiple, length]).results] == [1, 1]


def test_the_verdict_in_words() -> None:
    table = pa.table({"x": [1, None, None]})
    by = Operator.of("mustBeLessThan", 1)
    result = Metric("nullValues", (by,), ("x",), "percent").run(table)
    assert result.name == "nullValues(x)"
    assert result.details == "2 of 3 rows have no x (about 66.67%), must be less than 1%"
    few = Metric("rowCount", (Operator.of("mustBeBetween", [100, 120]),)).run(table)
    assert few.details == "3 rows, must be strictly between 100 and 120"
    assert few.failing_rows == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("mustBe", "many"), ("mustBe", True), ("mustBeBetween", [1]), ("mustBeBetween", [2, 1]), ("mustB", 1)],
)
def test_an_operator_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError):
        Operator.of(name, value)


def test_what_is_not_run_is_never_green() -> None:
    report = run_checks(pa.table({"x": [1]}), [NotRun("soda is not run", "soda")])
    assert report.status == "not_run"
    assert not report.passed
    assert report.results[0].details == "not run: soda is not run"
