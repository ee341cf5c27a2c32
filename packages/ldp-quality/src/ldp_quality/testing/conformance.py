"""What every executor of checks must do, case by case."""

# ruff: noqa: D102 - the names of tests say what they are

from __future__ import annotations

import json
import math
from contextlib import AbstractContextManager
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from ldp_core.errors import ConfigError

from ldp_quality.checks.anomaly import Anomaly
from ldp_quality.checks.base import Check
from ldp_quality.checks.expression import Expression
from ldp_quality.checks.freshness import Freshness
from ldp_quality.checks.metric_anomaly import MetricAnomaly
from ldp_quality.checks.range import Range
from ldp_quality.checks.rows import AcceptedValues, NotNull, Regex
from ldp_quality.checks.schema import SchemaHas
from ldp_quality.checks.temporal import MaxGap, MaxSkew, Monotonic, RateBelow
from ldp_quality.checks.unique import Unique
from ldp_quality.checks.volume import RowCount
from ldp_quality.engine import run_checks
from ldp_quality.result import QualityReport
from ldp_quality.rule import Rule
from ldp_quality.testing.conditions import AGREED, CONDITIONS, PATTERNS, ROWS

REFUSED = (
    "(SELECT count(*) FROM read_text('secret.txt')) > 0",
    "1=1) OR (1=1",
    "pg_sleep(10) IS NULL",
    "getenv('HOME') IS NULL",
    "pg_read_file('secret.txt') = ''",
    "current_user = 'a'",
    "id > 0; DROP TABLE orders",
)
NAMES = (
    "id",
    "select",
    "c0",
    "r",
    "rows_",
    "v",
    "p",
    "n",
    "__row",
    "a.b",
    'é "q"',
    "o'x",
    " ",
    "--",
    "🙂",
)

EVERY: tuple[Check, ...] = (
    NotNull(["id", "amount"]),
    Unique("id"),
    AcceptedValues("note", ["a"]),
    Range("amount", min=0, max=10),
    Range("at", min="2026-08-01"),
    Freshness("at", 24, now="2026-08-02T00:00:00Z"),
    SchemaHas({"id": "int64", "amount": "decimal128(8, 2)", "day": "date32[day]"}),
    Regex("note", "^[a-z]+$"),
    Expression("amount >= 0 OR note = 'a'"),
    Monotonic("at"),
    Monotonic("id", group_by="note", order_by="at", strict=True),
    MaxSkew("at", "day", 86_400_000),
    RateBelow("flag", 0.5),
    RateBelow("flag", 0.5, group_by="note"),
    MaxGap("at", 3_600_000),
    RowCount(min=0, max=10),
)

_NAN = {"NOT isnan(x)": 3, "isnan(x)": 2, "x > 7": 2, "x <= 1": 3}


def orders(rows: int) -> pa.Table:
    """A table that breaks nearly every check of ``EVERY`` when it has eight rows."""
    amounts = [Decimal(f"{at - 2}.50") if at != 3 else None for at in range(rows)]
    moments = [datetime(2026, 8, 1, (at * 5) % 24, 0, 0, at) for at in range(rows)]
    return pa.table(
        {
            "id": pa.array([at // 2 for at in range(rows)], pa.int64()),
            "amount": pa.array(amounts, pa.decimal128(8, 2)),
            "ratio": pa.array(
                [math.nan if at == 1 else at / 4 for at in range(rows)], pa.float64(), from_pandas=False
            ),
            "note": pa.array([("a", "é", None, "B'", "🙂")[at % 5] for at in range(rows)], pa.string()),
            "flag": pa.array([at % 3 != 0 for at in range(rows)], pa.bool_()),
            "at": pa.array(moments, pa.timestamp("us", "UTC")),
            "day": pa.array([date(2026, 7, 31)] * rows, pa.date32()),
        }
    )


class Conformance:
    """To be inherited by the tests of an executor, which say how its engine comes to hold rows."""

    agrees: ClassVar[frozenset[str]] = AGREED
    """Conditions that the engine must evaluate; of all others it may say that it cannot."""

    def holding(self, table: pa.Table) -> AbstractContextManager[Any]:
        """What ``run_checks`` takes, over these rows in this order."""
        raise AssertionError("the tests of an executor say how it holds rows")

    def judge(self, checks: list[Check | Rule], table: pa.Table) -> QualityReport:
        """The engine's report."""
        with self.holding(table) as rows:
            return run_checks(rows, checks)

    @pytest.mark.parametrize("rows", [0, 1, 8])
    def test_every_check_is_judged_as_in_memory(self, rows: int) -> None:
        table = orders(rows)
        found, wanted = self.judge(list(EVERY), table), run_checks(table, EVERY)
        for one, other in zip(found.results, wanted.results, strict=True):
            assert (one.name, one.status, one.failing_rows) == (other.name, other.status, other.failing_rows)
            assert one.details == other.details
            assert one.metrics == other.metrics
            assert one.samples == other.samples
        json.dumps(found.to_dict())

    @pytest.mark.parametrize("past", [None, 1.0])
    def test_outliers(self, past: float | None) -> None:
        table = orders(16)
        for column in ("ratio", "amount", "id"):
            check = Anomaly(column, sigma=1.5, mean=past, stddev=past and 0.5)
            found, wanted = self.judge([check], table).results[0], run_checks(table, [check]).results[0]
            assert (found.status, found.failing_rows) == (wanted.status, wanted.failing_rows), found.details
            assert found.samples == wanted.samples
            assert found.metrics["mean"] == pytest.approx(wanted.metrics["mean"])
            assert found.metrics["stddev"] == pytest.approx(wanted.metrics["stddev"])

    def test_rows_of_a_condition_are_compared_with_all_rows(self) -> None:
        table = orders(16)
        rule = Rule(check=Anomaly("amount", sigma=1.2), where="id >= 6")
        found, wanted = self.judge([rule], table).results[0], run_checks(table, [rule]).results[0]
        [alone] = run_checks(table, [Anomaly("amount", sigma=1.2)]).results
        assert found.metrics["mean"] == pytest.approx(alone.metrics["mean"])
        assert (found.failing_rows, found.samples) == (wanted.failing_rows, wanted.samples)
        assert 0 < found.failing_rows < alone.failing_rows
        assert found.metrics["values"] == 4

    def test_numbers_that_are_compared_with_earlier_runs(self) -> None:
        of_column = ("null_share", "sum", "mean", "min", "max", "distinct")
        columns = ("id", "amount", "ratio")
        checks: list[Check | Rule] = [MetricAnomaly("row_count")]
        checks += [MetricAnomaly(metric, column) for metric in of_column for column in columns]
        table = orders(8)
        for one, other in zip(
            self.judge(checks, table).results, run_checks(table, checks).results, strict=True
        ):
            assert (one.name, one.status) == (other.name, "not_run")
            numbers = [{k: v for k, v in item.metrics.items() if k != "reason"} for item in (one, other)]
            assert numbers[0] == pytest.approx(numbers[1])

    def test_a_value_that_is_no_number_is_found_whatever_statistics_say(self) -> None:
        numbers = [0.5, math.nan, 1.0, 0.5, math.nan, None]
        table = pa.table({"x": pa.array(numbers, pa.float64(), from_pandas=False)})
        checks: list[Check | Rule] = [
            Range("x", min=0),
            Monotonic("x"),
            Expression("x < 7"),
            *(Rule(check=RowCount(equals=rows), where=where) for where, rows in _NAN.items()),
        ]
        results = self.judge(checks, table).results
        assert [result.failing_rows for result in results[:3]] == [2, 1, 2]
        assert [result.status for result in results[3:]] == ["pass"] * len(_NAN)

    def test_the_same_rows_are_shown_each_time(self) -> None:
        checks: list[Check | Rule] = [Range("amount", max=0), Unique("note"), Expression("id < 1")]
        with self.holding(orders(8)) as rows:
            first = run_checks(rows, checks).to_dict()
            assert all(run_checks(rows, checks).to_dict() == first for _ in range(3))

    def test_a_condition_narrows_and_rows_keep_their_numbers(self) -> None:
        rule = Rule(check=Range("amount", max=1), where="flag")
        result = self.judge([rule], orders(8)).results[0]
        assert [sample["row"] for sample in result.samples] == [4, 5, 7]
        assert (result.metrics["row_count"], result.where) == (5, "flag")

    @pytest.mark.parametrize("name", NAMES)
    def test_any_column_name(self, name: str) -> None:
        table = pa.table({other: pa.array([1, 2, 2], pa.int64()) for other in NAMES} | {name: [3, 1, 1]})
        group = "c0" if name != "c0" else "v"
        report = self.judge([Unique(name), Range(name, max=2), Monotonic(name, group_by=group)], table)
        assert [result.failing_rows for result in report.results] == [2, 1, 0]
        assert [sample["row"] for sample in report.results[0].samples] == [1, 2]
        assert report.results[1].samples[0]["values"][name] == 3
        assert list(report.results[1].samples[0]["values"]) == list(NAMES)
        if name.lower() != "id":
            quoted = '"' + name.replace('"', '""') + '"'
            condition = self.judge([Expression(f"{quoted} < 2")], table).results[0]
            assert [sample["row"] for sample in condition.samples] == [0], condition.details

    @pytest.mark.parametrize("condition", REFUSED)
    def test_a_condition_that_reads_more_than_the_row_is_refused(self, condition: str) -> None:
        with pytest.raises(ConfigError):
            self.judge([Expression(condition)], orders(1))
        with pytest.raises(ConfigError):
            self.judge([Rule(check=NotNull("id"), where=condition)], orders(1))

    def test_what_only_looks_like_a_statement_is_allowed(self) -> None:
        table = pa.table({"note": ["please update; drop", "x"]})
        result = self.judge([Expression("note = 'please update; drop'")], table).results[0]
        assert [sample["row"] for sample in result.samples] == [1]

    def test_a_condition_means_the_same_or_is_not_run(self) -> None:
        not_run, unlike = self.compared([Expression(condition) for condition in CONDITIONS])
        assert unlike == []
        assert not [found for found in not_run if found.partition(": ")[0] in self.agrees]

    def test_a_pattern_means_the_same_or_is_not_run(self) -> None:
        not_run, unlike = self.compared([Regex("t", pattern, name=pattern) for pattern in PATTERNS])
        assert unlike == []
        assert len(not_run) < len(PATTERNS) / 4, not_run

    def compared(self, checks: list[Check | Rule]) -> tuple[list[str], list[str]]:
        """The checks that the engine does not run, and those that it judges otherwise than memory."""
        found, wanted = self.judge(checks, ROWS), run_checks(ROWS, checks)
        not_run, unlike = [], []
        for check, one, other in zip(checks, found.results, wanted.results, strict=True):
            name = check.expression if isinstance(check, Expression) else one.name
            if one.status == "not_run":
                not_run.append(f"{name}: {one.details}")
            elif (one.failing_rows, one.samples) != (other.failing_rows, other.samples):
                unlike.append(f"{name}: {one.failing_rows} rows, not {other.failing_rows}")
        return not_run, unlike

    def test_a_check_that_cannot_be_evaluated_leaves_the_others_alone(self) -> None:
        table = pa.table({"text": ["1", "x"], "b": pa.array([1, None], pa.int64())})
        checks: list[Check | Rule] = [
            Expression("CAST(text AS INTEGER) > 0"),
            NotNull("b"),
            Expression("b + 1"),
            Expression("q = 1"),
            Rule(check=NotNull("b"), where="q = 1"),
        ]
        cast, nulls, number, missing, narrowed = self.judge(checks, table).results
        assert (cast.status, number.status, narrowed.status) == ("not_run", "not_run", "not_run")
        assert (nulls.failing_rows, nulls.metrics["row_count"]) == (1, 2)
        assert "not true or false" in number.details
        assert missing.metrics["missing_columns"] == ["q"]
