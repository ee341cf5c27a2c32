"""Each kind of check, asked of an engine, against a naive reading of the same rows in Python."""

# ruff: noqa: D102 - the names of tests say what they are

from __future__ import annotations

import math
import re
from collections import Counter
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ldp_quality.checks.base import Check
from ldp_quality.checks.expression import Expression
from ldp_quality.checks.freshness import Freshness
from ldp_quality.checks.range import Range
from ldp_quality.checks.rows import AcceptedValues, NotNull, Regex
from ldp_quality.checks.temporal import MaxGap, MaxSkew, Monotonic, RateBelow
from ldp_quality.checks.unique import Unique
from ldp_quality.checks.volume import RowCount
from ldp_quality.engine import run_checks
from ldp_quality.result import CheckResult
from ldp_quality.rule import Rule
from ldp_quality.testing.values import (
    BASE,
    BASE_NS,
    CENTS,
    FLOATS,
    INTS,
    KEYS,
    NANOS,
    NUMBERS,
    TEXTS,
    bound,
    column,
    exact,
    frame,
    iso,
    key,
    same,
    written,
)

law = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.differing_executors])
_SIZES = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def expect(result: CheckResult, bad: list[int]) -> None:
    """The verdict, the count and the first five rows in the order of the input."""
    assert result.status != "not_run", result.details
    assert result.passed is (not bad), result.details
    assert result.failing_rows == len(bad)
    assert [sample["row"] for sample in result.samples] == bad[:5]


class Oracle:
    """To be inherited by the tests of an executor, which say how its engine comes to hold rows."""

    units: ClassVar[tuple[str, ...]] = ("s", "ms", "us", "ns")
    """Units that timestamps of the engine have."""
    nul: ClassVar[bool] = True
    """Whether the engine has texts with a NUL."""
    lacks: ClassVar[frozenset[str]] = frozenset()
    """Arrow types that the engine has none for: ``struct``, ``null``."""

    def holding(self, table: pa.Table) -> AbstractContextManager[Any]:
        """What ``run_checks`` takes, over these rows in this order."""
        raise AssertionError("the tests of an executor say how it holds rows")

    def verdict(self, check: Check, table: pa.Table) -> CheckResult:
        """The engine's verdict."""
        with self.holding(table) as rows:
            return check.run(rows)

    @property
    def texts(self) -> st.SearchStrategy[str]:
        """Texts that the engine has."""
        return TEXTS if self.nul else TEXTS.filter(lambda text: "\0" not in text)

    def has(self, type_: pa.DataType) -> bool:
        """Whether the engine has such values."""
        if pa.types.is_timestamp(type_) and type_.unit not in self.units:
            return False
        return not any(str(type_).startswith(name) for name in self.lacks)

    def drawn(self, data: st.DataObject, kinds: list[Any]) -> tuple[pa.DataType, Any]:
        """A type and its values."""
        type_, values = data.draw(st.sampled_from([item for item in kinds if self.has(item[0])]))
        return type_, self.texts if type_ == pa.string() else values

    def unit(self, data: st.DataObject) -> str:
        """A unit of timestamps."""
        return str(data.draw(st.sampled_from(self.units)))

    @law
    @given(st.data())
    def test_not_null(self, data: st.DataObject) -> None:
        rows = data.draw(st.lists(st.tuples(st.none() | FLOATS, st.none() | self.texts), max_size=7))
        table = pa.table(
            {
                "x": pa.array([row[0] for row in rows], pa.float64(), from_pandas=False),
                "y": pa.array([row[1] for row in rows], pa.string()),
            }
        )
        expect(self.verdict(NotNull(["x", "y"]), table), [at for at, row in enumerate(rows) if None in row])

    @law
    @given(st.data())
    def test_unique(self, data: st.DataObject) -> None:
        type_, values = self.drawn(data, KEYS)
        other, others = self.drawn(data, KEYS[:3])
        first = data.draw(column(values))
        second = [data.draw(st.one_of(st.none(), others)) for _ in first]
        table = pa.table(
            {
                "x": pa.array(first, type_, from_pandas=False),
                "y": pa.array(second, other, from_pandas=False),
            }
        )
        whole = [(key(a), key(b)) for a, b in zip(first, second, strict=True)]
        for columns, keys in (("x", [a for a, _ in whole]), (["x", "y"], whole)):
            known = [item is not None if columns == "x" else None not in item for item in keys]
            counts = Counter(item for item, there in zip(keys, known, strict=True) if there)
            bad = [row for row, item in enumerate(keys) if known[row] and counts[item] > 1]
            result = self.verdict(Unique(columns), table)
            expect(result, bad)
            assert result.metrics["null_key_rows"] == len(keys) - sum(known)
            assert result.metrics["distinct_keys"] == len(counts)
            assert result.metrics["duplicate_keys"] == sum(count > 1 for count in counts.values())
            first_seen = [item for item in counts if counts[item] > 1][:5]
            found = [item["count"] for item in result.metrics.get("sample", ())]
            assert found == [counts[item] for item in first_seen]

    @law
    @given(st.data())
    def test_range_of_numbers(self, data: st.DataObject) -> None:
        type_, kinds = self.drawn(data, NUMBERS)
        bounds = st.sampled_from(
            [
                0,
                1,
                -1,
                2,
                0.5,
                1.005,
                2**53,
                2**53 + 1,
                10**30,
                -(10**30),
                1e300,
                Decimal("0.015"),
                2**63,
                -0.0,
            ]
        )
        values = data.draw(column(kinds))
        low, high = sorted((data.draw(bounds), data.draw(bounds)), key=written)
        bad = []
        for row, value in enumerate(values):
            if value is None:
                continue
            nan = isinstance(value, float) and math.isnan(value)
            if nan or exact(value) < bound(type_, low) or exact(value) > bound(type_, high):
                bad.append(row)
        expect(self.verdict(Range("x", min=low, max=high), frame(type_, values)), bad)

    @law
    @given(st.data())
    def test_range_of_texts(self, data: st.DataObject) -> None:
        values = data.draw(column(self.texts))
        low, high = sorted((data.draw(self.texts), data.draw(self.texts)), key=lambda text: text.encode())
        bad = [
            row
            for row, value in enumerate(values)
            if value is not None and not low.encode() <= value.encode() <= high.encode()
        ]
        expect(self.verdict(Range("x", min=low, max=high), frame(pa.string(), values)), bad)

    @law
    @given(st.data(), column(NANOS), NANOS, st.sampled_from([None, "UTC", "Asia/Tokyo"]))
    def test_range_of_timestamps(
        self, data: st.DataObject, values: list[Any], limit: int, zone: str | None
    ) -> None:
        unit = self.unit(data)
        size = _SIZES[unit]
        ticks = [None if value is None else value // size for value in values]
        table = frame(pa.timestamp(unit, zone), ticks)
        low = [row for row, tick in enumerate(ticks) if tick is not None and tick * size < limit]
        high = [row for row, tick in enumerate(ticks) if tick is not None and tick * size > limit]
        expect(self.verdict(Range("x", min=iso(limit)), table), low)
        expect(self.verdict(Range("x", max=iso(limit)), table), high)

    @law
    @given(column(st.integers(-3, 3)), NANOS)
    def test_range_of_dates(self, days: list[Any], limit: int) -> None:
        first = (BASE - datetime(1970, 1, 1, tzinfo=UTC)).days
        table = frame(pa.date32(), [None if day is None else first + day for day in days])
        at = [None if day is None else BASE_NS + day * 86_400 * 10**9 for day in days]
        low = [row for row, ns in enumerate(at) if ns is not None and ns < limit]
        high = [row for row, ns in enumerate(at) if ns is not None and ns > limit]
        expect(self.verdict(Range("x", min=iso(limit)), table), low)
        expect(self.verdict(Range("x", max=iso(limit)), table), high)

    @law
    @given(st.data())
    def test_accepted_values(self, data: st.DataObject) -> None:
        listed = st.sampled_from([0, 1, 1.5, "1", "1.50", 2**53 + 1, "a", True, None])
        accepted = data.draw(st.lists(st.one_of(listed, TEXTS), min_size=1, max_size=4))
        kinds = [*NUMBERS, (pa.string(), TEXTS), (pa.bool_(), st.booleans())]
        type_, kinds_ = self.drawn(data, kinds)
        values = data.draw(column(kinds_))
        bad = [
            row
            for row, value in enumerate(values)
            if value is not None and not any(same(value, item) for item in accepted)
        ]
        result = self.verdict(AcceptedValues("x", accepted), frame(type_, values))
        expect(result, bad)
        distinct = list(dict.fromkeys(key(values[row]) for row in bad))
        assert len(result.metrics.get("invalid_values", [])) == min(5, len(distinct))

    @law
    @given(st.data(), st.sampled_from(["a", "^a$", "^[a-z]+$", "", "'", "\\x{1F600}", "[^a]", "^.$", "\\W"]))
    def test_regex(self, data: st.DataObject, pattern: str) -> None:
        values = data.draw(column(self.texts))
        same_in_python = pattern.replace("\\x{1F600}", "\U0001f600").replace("$", r"\Z")
        bad = [
            row
            for row, value in enumerate(values)
            if value is not None and not re.search(same_in_python, value, re.ASCII)
        ]
        expect(self.verdict(Regex("x", pattern), frame(pa.string(), values)), bad)

    @law
    @given(column(st.integers(-3, 3)), column(st.integers(-3, 3)))
    def test_expression(self, a: list[Any], b: list[Any]) -> None:
        size = min(len(a), len(b))
        table = pa.table({"a": pa.array(a[:size], pa.int64()), 'B "q"': pa.array(b[:size], pa.int64())})
        known = [row for row in range(size) if a[row] is not None and b[row] is not None]
        bad = [row for row in known if not (a[row] <= b[row] or a[row] == 0)]
        expect(self.verdict(Expression('a <= "B ""q""" OR a = 0'), table), bad)

    @law
    @given(st.data(), column(NANOS), st.integers(0, 2_000_000_000))
    def test_freshness(self, data: st.DataObject, values: list[Any], age: int) -> None:
        unit = self.unit(data)
        size = _SIZES[unit]
        ticks = [None if value is None else value // size for value in values]
        now = BASE + timedelta(microseconds=age // 1000)
        result = self.verdict(Freshness("x", 0.0001, now=now), frame(pa.timestamp(unit), ticks))
        newest = max((tick * size for tick in ticks if tick is not None), default=None)
        old = None if newest is None else BASE_NS + age // 1000 * 1000 - newest
        assert result.passed is (old is not None and old <= 360_000_000)
        assert result.failing_rows == 0

    @law
    @given(column(st.integers(0, 3), 9), st.none() | st.integers(0, 4), st.none() | st.integers(0, 4))
    def test_row_count(self, values: list[Any], low: int | None, high: int | None) -> None:
        table = frame(pa.int64(), values)
        exactly = self.verdict(RowCount(min=low, equals=len(values)), table)
        assert exactly.passed is (low is None or len(values) >= low)
        if high is not None and (low or 0) <= high:
            passed = self.verdict(RowCount(min=low, max=high), table).passed
            assert passed is ((low or 0) <= len(values) <= high)

    @law
    @given(st.data(), st.booleans(), st.booleans())
    def test_monotonic(self, data: st.DataObject, strict: bool, ordered: bool) -> None:
        steps = [*NUMBERS, *((pa.timestamp(unit), NANOS) for unit in ("us", "ns")), (pa.string(), TEXTS)]
        type_, kinds = self.drawn(data, steps)
        values = data.draw(column(kinds))
        groups = [data.draw(st.sampled_from([None, "a", "b"])) for _ in values]
        order = [data.draw(st.sampled_from([None, 1, 2])) for _ in values]
        if type_ == pa.timestamp("us"):
            values = [None if value is None else value // 1000 for value in values]
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
            value = value.encode() if isinstance(value, str) else value
            before = last.get(groups[row])
            if before is not None and (value <= before if strict else value < before):
                bad.append(row)
            last[groups[row]] = value
        check = Monotonic("x", group_by="g", strict=strict, order_by="o" if ordered else ())
        result = self.verdict(check, table)
        expect(result, sorted(bad))
        assert result.metrics["groups"] == len(last)

    @law
    @given(st.data(), column(NANOS), column(NANOS))
    def test_max_skew(self, data: st.DataObject, a: list[Any], b: list[Any]) -> None:
        size = min(len(a), len(b))
        units = (self.unit(data), self.unit(data))
        first, second = (
            [None if ns is None else ns // _SIZES[unit] for ns in column_[:size]]
            for column_, unit in zip((a, b), units, strict=True)
        )
        table = pa.table(
            {
                "a": pa.array(first, pa.timestamp(units[0], "UTC")),
                "b": pa.array(second, pa.timestamp(units[1])),
            }
        )
        apart = [
            None if one is None or other is None else abs(one * _SIZES[units[0]] - other * _SIZES[units[1]])
            for one, other in zip(first, second, strict=True)
        ]
        result = self.verdict(MaxSkew("a", "b", 5), table)
        expect(result, [row for row, ns in enumerate(apart) if ns is not None and ns > 5_000_000])
        known = [ns for ns in apart if ns is not None]
        assert result.metrics["max_skew_ms"] == (max(known) / 10**6 if known else 0)
        assert result.metrics["checked_rows"] == len(known)

    @law
    @given(column(st.booleans()), st.sampled_from([0, 0.1, 1 / 3, 0.5, 1]), st.booleans())
    def test_rate_below(self, flags: list[Any], limit: float, grouped: bool) -> None:
        groups = [row % 2 if grouped else 0 for row in range(len(flags))]
        table = frame(pa.bool_(), flags).append_column("g", pa.array(groups, pa.int64()))
        known = Counter(group for flag, group in zip(flags, groups, strict=True) if flag is not None)
        true = Counter(group for flag, group in zip(flags, groups, strict=True) if flag)
        over = {group for group in known if true[group] > Fraction(str(limit)) * known[group]}
        bad = [row for row, flag in enumerate(flags) if flag and groups[row] in over]
        expect(self.verdict(RateBelow("x", limit, group_by="g" if grouped else ()), table), bad)

    @law
    @given(st.data(), column(NANOS))
    def test_max_gap(self, data: st.DataObject, values: list[Any]) -> None:
        unit = self.unit(data)
        per = _SIZES[unit]
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
        result = self.verdict(MaxGap("x", 5, group_by=["g"]), table)
        expect(result, sorted(bad))
        assert result.metrics["max_gap_ms"] == max(gaps) / 10**6

    @law
    @given(st.lists(st.tuples(INTS, CENTS), max_size=7), st.integers(-3, 3))
    def test_where(self, rows: list[tuple[int, Decimal]], limit: int) -> None:
        table = pa.table(
            {
                "x": pa.array([row[0] for row in rows], pa.int64()),
                "y": pa.array([row[1] for row in rows], pa.decimal128(6, 2)),
            }
        )
        inside = [at for at, row in enumerate(rows) if row[1] >= limit]
        counts = Counter(rows[at][0] for at in inside)
        with self.holding(table) as held:
            rule = Rule(check=Unique("x"), where=f"y >= {limit}")
            result = run_checks(held, [rule]).results[0]
        expect(result, [at for at in inside if counts[rows[at][0]] > 1])
        assert result.metrics["row_count"] == len(inside)
