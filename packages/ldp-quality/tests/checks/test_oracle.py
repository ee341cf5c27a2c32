"""Each kind of check against a naive reading of the same rows in Python."""

from __future__ import annotations

import math
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_quality import (
    AcceptedValues,
    Expression,
    Freshness,
    MaxGap,
    MaxSkew,
    Monotonic,
    NotNull,
    Range,
    RateBelow,
    Regex,
    RowCount,
    Unique,
)
from ldp_quality.result import CheckResult

law = settings(deadline=None, max_examples=20)

BASE_NS = 1_785_542_400_000_000_000  # 2026-08-01T00:00:00Z
BASE = datetime(2026, 8, 1, tzinfo=UTC)

FLOATS = st.sampled_from([0.0, -0.0, 0.1, 1.0, 1.5, 2.0**53, math.inf, -math.inf, math.nan, 1e-300])
INTS = st.sampled_from([0, 1, 2, 3, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
TEXTS = st.sampled_from(["", "a", "A", "b", "ab", "é", "1", "'", '"', "a\0b", "\U0001f600"])
CENTS = st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100)
NANOS = st.sampled_from(
    [BASE_NS + step for step in (-(10**9), -1, 0, 1, 999, 1000, 5_000_000, 5_000_001, 10**9)]
)


def column(values: st.SearchStrategy[Any], rows: int = 7) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(st.none(), values), max_size=rows)


def frame(type_: pa.DataType, values: list[Any], name: str = "x") -> pa.Table:
    return pa.table({name: pa.array(values, type_, from_pandas=False)})


def rows_of(result: CheckResult) -> list[int]:
    return [sample["row"] for sample in result.samples]


def expect(result: CheckResult, bad: list[int]) -> None:
    """The verdict, the count and the first five rows in the order of the input."""
    assert result.passed is (not bad), result.details
    assert result.failing_rows == len(bad)
    assert rows_of(result) == bad[:5]


def key(value: Any) -> Any:
    """A value that is equal to another exactly when a unique key is: NaN to NaN, 0.0 to -0.0."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if isinstance(value, list):
        return ("list", *(key(item) for item in value))
    if isinstance(value, dict):
        return ("struct", *((name, key(item)) for name, item in value.items()))
    return value


@law
@given(column(FLOATS), column(TEXTS))
def test_not_null(floats: list[Any], texts: list[Any]) -> None:
    size = min(len(floats), len(texts))
    table = pa.table(
        {
            "x": pa.array(floats[:size], pa.float64(), from_pandas=False),
            "y": pa.array(texts[:size], pa.string()),
        }
    )
    bad = [row for row in range(size) if floats[row] is None or texts[row] is None]
    expect(NotNull(["x", "y"]).run(table), bad)


KEYS = [
    (pa.int64(), INTS),
    (pa.float64(), FLOATS),
    (pa.string(), TEXTS),
    (pa.decimal128(38, 2), CENTS),
    (pa.timestamp("ns"), NANOS),
    (pa.timestamp("ns", "Asia/Tokyo"), NANOS),
    (pa.bool_(), st.booleans()),
    (pa.list_(pa.float64()), st.lists(st.one_of(st.none(), FLOATS), max_size=2)),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), st.fixed_dictionaries({"a": INTS, "b": TEXTS})),
    (pa.null(), st.none()),
]


@law
@given(st.data())
def test_unique(data: st.DataObject) -> None:
    type_, values = data.draw(st.sampled_from(KEYS))
    other, others = data.draw(st.sampled_from(KEYS[:3]))
    first = data.draw(column(values))
    second = [data.draw(st.one_of(st.none(), others)) for _ in first]
    table = pa.table(
        {"x": pa.array(first, type_, from_pandas=False), "y": pa.array(second, other, from_pandas=False)}
    )
    whole = [(key(a), key(b)) for a, b in zip(first, second, strict=True)]
    for columns, keys in (("x", [a for a, _ in whole]), (["x", "y"], whole)):
        known = [item is not None if columns == "x" else None not in item for item in keys]
        counts = Counter(item for item, there in zip(keys, known, strict=True) if there)
        bad = [row for row, item in enumerate(keys) if known[row] and counts[item] > 1]
        result = Unique(columns).run(table)
        expect(result, bad)
        assert result.metrics["null_key_rows"] == len(keys) - sum(known)
        assert result.metrics["distinct_keys"] == len(counts)
        assert result.metrics["duplicate_keys"] == sum(count > 1 for count in counts.values())
        first_seen = [item for item in counts if counts[item] > 1][:5]
        found = [item["count"] for item in result.metrics.get("sample", ())]
        assert found == [counts[item] for item in first_seen]


def exact(value: Any) -> Fraction | float:
    return value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


NUMBERS = [(pa.int64(), INTS), (pa.float64(), FLOATS), (pa.decimal128(6, 2), CENTS)]
BOUNDS = st.sampled_from(
    [0, 1, -1, 2, 0.5, 1.005, 2**53, 2**53 + 1, 10**30, -(10**30), 1e300, Decimal("0.015"), 2**63, -0.0]
)


@law
@given(st.data(), BOUNDS, BOUNDS)
def test_range_of_numbers(data: st.DataObject, one: Any, other: Any) -> None:
    type_, kinds = data.draw(st.sampled_from(NUMBERS))
    values = data.draw(column(kinds))
    low, high = sorted((one, other), key=written)
    bad = []
    for row, value in enumerate(values):
        if value is None:
            continue
        nan = isinstance(value, float) and math.isnan(value)
        if nan or exact(value) < bound(type_, low) or exact(value) > bound(type_, high):
            bad.append(row)
    expect(Range("x", min=low, max=high).run(frame(type_, values)), bad)


def written(value: Any) -> Fraction:
    """A bound as it is written: the float 0.1 is one tenth."""
    return Fraction(str(value))


def bound(type_: pa.DataType, value: Any) -> Fraction:
    """A bound as a column reads it: for floats the float that is written."""
    return (
        Fraction(float(value))
        if pa.types.is_floating(type_) and not isinstance(value, int)
        else written(value)
    )


@law
@given(column(TEXTS), TEXTS, TEXTS)
def test_range_of_texts(values: list[Any], one: str, other: str) -> None:
    low, high = sorted((one, other), key=lambda text: text.encode())
    bad = [
        row
        for row, value in enumerate(values)
        if value is not None and not low.encode() <= value.encode() <= high.encode()
    ]
    expect(Range("x", min=low, max=high).run(frame(pa.string(), values)), bad)


def iso(ns: int) -> str:
    at = datetime.fromtimestamp(ns // 10**9, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09d}Z"


@law
@given(
    column(NANOS),
    NANOS,
    st.sampled_from(["s", "ms", "us", "ns"]),
    st.sampled_from([None, "UTC", "Asia/Tokyo"]),
)
def test_range_of_timestamps(values: list[Any], limit: int, unit: str, zone: str | None) -> None:
    size = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    ticks = [None if value is None else value // size for value in values]
    table = frame(pa.timestamp(unit, zone), ticks)
    low = [row for row, tick in enumerate(ticks) if tick is not None and tick * size < limit]
    high = [row for row, tick in enumerate(ticks) if tick is not None and tick * size > limit]
    expect(Range("x", min=iso(limit)).run(table), low)
    expect(Range("x", max=iso(limit)).run(table), high)


@law
@given(column(st.integers(-3, 3)), NANOS)
def test_range_of_dates(days: list[Any], limit: int) -> None:
    first = (BASE - datetime(1970, 1, 1, tzinfo=UTC)).days
    table = frame(pa.date32(), [None if day is None else first + day for day in days])
    at = [None if day is None else BASE_NS + day * 86_400 * 10**9 for day in days]
    expect(
        Range("x", min=iso(limit)).run(table), [r for r, ns in enumerate(at) if ns is not None and ns < limit]
    )
    expect(
        Range("x", max=iso(limit)).run(table), [r for r, ns in enumerate(at) if ns is not None and ns > limit]
    )


ACCEPTED = st.lists(
    st.one_of(st.sampled_from([0, 1, 1.5, "1", "1.50", 2**53 + 1, "a", True, None]), TEXTS),
    min_size=1,
    max_size=4,
)


@law
@given(st.data(), ACCEPTED)
def test_accepted_values(data: st.DataObject, accepted: list[Any]) -> None:
    type_, kinds = data.draw(st.sampled_from([*NUMBERS, (pa.string(), TEXTS), (pa.bool_(), st.booleans())]))
    values = data.draw(column(kinds))
    bad = [
        row
        for row, value in enumerate(values)
        if value is not None and not any(same(value, item) for item in accepted)
    ]
    result = AcceptedValues("x", accepted).run(frame(type_, values))
    expect(result, bad)
    distinct = list(dict.fromkeys(key(values[row]) for row in bad))
    assert len(result.metrics.get("invalid_values", [])) == min(5, len(distinct))


def same(value: Any, accepted: Any) -> bool:
    if isinstance(value, str):
        return value == (accepted if isinstance(accepted, str) else numeral(accepted))
    if isinstance(value, bool) or isinstance(accepted, bool):
        return isinstance(value, bool) and isinstance(accepted, bool) and value == accepted
    if isinstance(value, float) and not math.isfinite(value):
        return False
    try:
        return accepted is not None and Fraction(value) == Fraction(str(accepted).strip())
    except ValueError:
        return False


def numeral(accepted: Any) -> str | None:
    return str(accepted) if isinstance(accepted, int | float) and not isinstance(accepted, bool) else None


@law
@given(column(TEXTS), st.sampled_from(["a", "^a$", "^[a-z]+$", "", "'", "\\x{1F600}"]))
def test_regex(values: list[Any], pattern: str) -> None:
    same_in_python = pattern.replace("\\x{1F600}", "\U0001f600")
    bad = [
        row
        for row, value in enumerate(values)
        if value is not None and not re.search(same_in_python.replace("$", r"\Z"), value)
    ]
    expect(Regex("x", pattern).run(frame(pa.string(), values)), bad)


@law
@given(column(st.integers(-3, 3)), column(st.integers(-3, 3)))
def test_expression(a: list[Any], b: list[Any]) -> None:
    size = min(len(a), len(b))
    table = pa.table({"a": pa.array(a[:size], pa.int64()), 'B "q"': pa.array(b[:size], pa.int64())})
    bad = [
        r for r in range(size) if a[r] is not None and b[r] is not None and not (a[r] <= b[r] or a[r] == 0)
    ]
    bad = [r for r in bad if a[r] != 0]
    expect(Expression('a <= "B ""q""" OR a = 0').run(table), bad)


@law
@given(column(NANOS), st.sampled_from(["us", "ns"]), st.integers(0, 2_000_000_000))
def test_freshness(values: list[Any], unit: str, age: int) -> None:
    size = {"us": 1000, "ns": 1}[unit]
    ticks = [None if value is None else value // size for value in values]
    now = BASE + timedelta(microseconds=age // 1000)
    result = Freshness("x", 0.0001, now=now).run(frame(pa.timestamp(unit), ticks))
    newest = max((tick * size for tick in ticks if tick is not None), default=None)
    old = None if newest is None else BASE_NS + age // 1000 * 1000 - newest
    assert result.passed is (old is not None and old <= 360_000_000)
    assert result.failing_rows == 0


@law
@given(column(st.integers(0, 3), 9), st.none() | st.integers(0, 4), st.none() | st.integers(0, 4))
def test_row_count(values: list[Any], low: int | None, high: int | None) -> None:
    table = frame(pa.int64(), values)
    assert RowCount(min=low, equals=len(values)).run(table).passed is (low is None or len(values) >= low)
    if high is not None and (low or 0) <= high:
        assert RowCount(min=low, max=high).run(table).passed is ((low or 0) <= len(values) <= high)


STEPS = [
    (pa.int64(), INTS),
    (pa.float64(), FLOATS),
    (pa.decimal128(6, 2), CENTS),
    (pa.timestamp("ns"), NANOS),
]


@law
@given(st.data(), st.booleans(), st.booleans())
def test_monotonic(data: st.DataObject, strict: bool, ordered: bool) -> None:
    type_, kinds = data.draw(st.sampled_from(STEPS))
    values = data.draw(column(kinds))
    groups = [data.draw(st.sampled_from([None, "a", "b"])) for _ in values]
    order = [data.draw(st.sampled_from([None, 1, 2])) for _ in values]
    table = frame(type_, values).append_column("g", pa.array(groups, pa.string()))
    table = table.append_column("o", pa.array(order, pa.int64()))
    rows = list(range(len(values)))
    if ordered:
        rows.sort(key=lambda row: (order[row] is None, order[row] or 0, row))
    last: dict[Any, Any] = {}
    bad = []
    for row in rows:
        value = values[row]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            continue
        before = last.get(groups[row])
        if before is not None and (value <= before if strict else value < before):
            bad.append(row)
        last[groups[row]] = value
    result = Monotonic("x", group_by="g", strict=strict, order_by="o" if ordered else ()).run(table)
    expect(result, sorted(bad))
    assert result.metrics["groups"] == len(last)


@law
@given(column(NANOS), column(NANOS), st.sampled_from(["us", "ns"]))
def test_max_skew(a: list[Any], b: list[Any], unit: str) -> None:
    size = min(len(a), len(b))
    per = {"us": 1000, "ns": 1}[unit]
    second = [None if ns is None else ns // per for ns in b[:size]]
    table = pa.table(
        {"a": pa.array(a[:size], pa.timestamp("ns", "UTC")), "b": pa.array(second, pa.timestamp(unit))}
    )
    apart = [
        None if a[row] is None or second[row] is None else abs(a[row] - second[row] * per)
        for row in range(size)
    ]
    result = MaxSkew("a", "b", 5).run(table)
    expect(result, [row for row, ns in enumerate(apart) if ns is not None and ns > 5_000_000])
    known = [ns for ns in apart if ns is not None]
    assert result.metrics["max_skew_ms"] == (max(known) / 10**6 if known else 0)
    assert result.metrics["checked_rows"] == len(known)


@law
@given(column(st.booleans()), st.sampled_from([0, 0.1, 1 / 3, 0.5, 1]), st.booleans())
def test_rate_below(flags: list[Any], limit: float, grouped: bool) -> None:
    groups = [row % 2 if grouped else 0 for row in range(len(flags))]
    table = frame(pa.bool_(), flags).append_column("g", pa.array(groups, pa.int64()))
    known = Counter(group for flag, group in zip(flags, groups, strict=True) if flag is not None)
    true = Counter(group for flag, group in zip(flags, groups, strict=True) if flag)
    over = {group for group in known if true[group] > Fraction(str(limit)) * known[group]}
    bad = [row for row, flag in enumerate(flags) if flag and groups[row] in over]
    expect(RateBelow("x", limit, group_by="g" if grouped else ()).run(table), bad)


@law
@given(column(NANOS), st.sampled_from(["us", "ns"]))
def test_max_gap(values: list[Any], unit: str) -> None:
    per = {"us": 1000, "ns": 1}[unit]
    ticks = [None if ns is None else ns // per for ns in values]
    groups = [row % 2 for row in range(len(values))]
    table = frame(pa.timestamp(unit, "UTC"), ticks).append_column("g", pa.array(groups, pa.int64()))
    bad, gaps = [], [0]
    for group in (0, 1):
        there = sorted(
            (tick * per, row) for row, tick in enumerate(ticks) if tick is not None and row % 2 == group
        )
        for (before, _), (after, row) in pairwise(there):
            gaps.append(after - before)
            if after - before > 5_000_000:
                bad.append(row)
    result = MaxGap("x", 5, group_by=["g"]).run(table)
    expect(result, sorted(bad))
    assert result.metrics["max_gap_ms"] == max(gaps) / 10**6
