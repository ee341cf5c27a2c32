"""Tolerances, severity and scope: what a broken check means, against the plainest reading."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError, DataQualityError
from ldp_quality import Expression, NotNull, Range, RowCount, Rule, Unique, run_checks
from ldp_quality.grade import Grade, Limit

LIMITS = st.one_of(
    st.none(),
    st.integers(0, 4),
    st.sampled_from(["0%", "12.5%", "50%", "100%"]),
    st.tuples(st.integers(0, 4), st.sampled_from(["25%", "75%"])).map(list),
)


def over(limit: object, bad: int, rows: int) -> bool:
    parts = limit if isinstance(limit, list) else [limit]
    return any(
        Fraction(bad, rows) > Fraction(part[:-1]) / 100 if isinstance(part, str) else bad > part  # type: ignore[operator]
        for part in parts
    )


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 8), LIMITS, LIMITS, st.sampled_from(["error", "warn"]))
def test_the_status(rows: int, bad: int, warn: object, fail: object, severity: str) -> None:
    bad = min(bad, rows)
    frame = pa.table({"x": [None] * bad + [1] * (rows - bad)}, pa.schema([("x", pa.int64())]))
    rule = Rule(check=NotNull("x"), severity=severity, warn_above=warn, fail_above=fail)
    [result] = run_checks(frame, [rule]).results
    if bad == 0:
        expected = "pass"
    elif fail is not None and over(fail, bad, rows):
        expected = "fail"
    elif warn is not None:
        expected = "warn" if over(warn, bad, rows) else "pass"
    elif fail is not None:
        expected = "warn"
    else:
        expected = "warn" if severity == "warn" else "fail"
    assert result.status == expected
    assert result.passed is (expected == "pass")
    assert result.failing_rows == bad
    assert result.share == (bad / rows)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), max_size=8))
def test_a_condition_is_the_same_as_fewer_rows(rows: list[tuple[int, int | None]]) -> None:
    schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])

    def table(kept: list[tuple[int, int | None]]) -> pa.Table:
        return pa.table([[row[0] for row in kept], [row[1] for row in kept]], schema=schema)

    checks = [NotNull("x"), Range("x", min=1), Unique(["x"]), RowCount(min=2), Expression("x <= k")]
    kept = [(number, row) for number, row in enumerate(rows) if row[0] >= 1]
    some = run_checks(table(rows), [*checks, *(Rule(check=check, where="k >= 1") for check in checks)])
    fewer = run_checks(table([row for _, row in kept]), checks)
    for scoped, plain in zip(some.results[len(checks) :], fewer.results, strict=True):
        assert scoped.where == "k >= 1"
        assert (scoped.passed, scoped.details, scoped.failing_rows) == (
            plain.passed,
            plain.details,
            plain.failing_rows,
        )
        numbers = [kept[sample["row"]][0] for sample in plain.samples]
        assert [sample["row"] for sample in scoped.samples] == numbers
        assert [sample["values"] for sample in scoped.samples] == [item["values"] for item in plain.samples]
    assert [result.details for result in some.results[: len(checks)]] == [
        result.details for result in run_checks(table(rows), checks).results
    ]


def test_a_condition_that_cannot_be_evaluated_is_never_green() -> None:
    frame = pa.table({"x": [1], "t": ["a"]})
    for where, text in (("gone > 1", "missing column"), ("x + 1", "not true or false"), ("t > 1", "where")):
        report = run_checks(frame, [Rule(check=NotNull("x"), where=where), NotNull("x")])
        assert [result.status for result in report.results] == ["not_run", "pass"], where
        assert text in report.results[0].details
        assert report.status == "not_run"
        assert not report.passed
        with pytest.raises(DataQualityError, match="could not be evaluated"):
            report.raise_for_failures()


def test_a_report_that_only_warns_does_not_raise() -> None:
    report = run_checks(pa.table({"x": [1, None]}), [Rule(check=NotNull("x"), fail_above="50%")])
    report.raise_for_failures()
    assert report.status == "warn"
    assert not report.passed
    assert report.summary().startswith("1 of 1 data quality checks warn:\n  - not_null(x): 1 of 2 rows")
    assert "fails above 50%" in report.summary()


def test_a_report_says_what_was_covered() -> None:
    report = run_checks(pa.table({"x": [1, 2]}), [Rule(check=Range("x", min=2), where="x < 2")])
    assert "  - range(x) where x < 2: 1 of 1 row violate" in report.summary()
    assert report.to_dict()["results"][0]["where"] == "x < 2"


@pytest.mark.parametrize(
    "where", ["1=1) OR (1=1", "(SELECT 1) > 0", "pg_sleep(10) IS NULL", "x = 1; DROP TABLE t"]
)
def test_a_condition_is_guarded(where: str) -> None:
    with pytest.raises(ConfigError):
        Rule(check=NotNull("x"), where=where)


@pytest.mark.parametrize("value", [-1, "5", "101%", "x%", [1, 2], ["1%", "2%"], [], True, 1.5])
def test_a_limit_that_is_none(value: object) -> None:
    with pytest.raises(ConfigError, match="fail_above must be a number of rows"):
        Rule(check=NotNull("x"), fail_above=value)


def test_words() -> None:
    assert str(Limit(1)) == "1 row"
    assert str(Limit(10, 2.5)) == "10 rows and 2.5%"
    assert (
        str(Grade(warn_above=Limit(10), fail_above=Limit(None, 5))) == "warns above 10 rows, fails above 5%"
    )
