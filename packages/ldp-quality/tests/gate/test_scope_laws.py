"""Scopes against plain Python: which rows a rule judges, and what its keys are compared with."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core import _duck
from ldp_core.spi import Batch, Standing, Verdict
from ldp_quality import Rule, Unique
from ldp_quality.checks.metric import Metric
from ldp_quality.checks.operators import Operator
from ldp_quality.gate import GATE

NOW = datetime(2026, 8, 1, tzinfo=UTC)
PAIR = pa.struct([("a", pa.int64())])
SCHEMA = pa.schema([("k", pa.float64()), ("s", pa.string()), ("p", PAIR), ("live", pa.bool_())])
ROW = st.fixed_dictionaries(
    {
        "k": st.sampled_from([None, math.nan, 0.0, -0.0, 1.5, 2.5]),
        "s": st.sampled_from([None, "", "a", "b"]),
        "p": st.sampled_from([None, {"a": None}, {"a": 1}, {"a": 2}]),
        "live": st.sampled_from([True, False, None]),
    }
)
ROWS = st.lists(ROW, max_size=7)
KEYS = st.lists(st.sampled_from(["k", "s", "p"]), min_size=1, max_size=2, unique=True)
Row = dict[str, Any]


def same(value: Any) -> Any:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return tuple(value.items()) if isinstance(value, dict) else value


def keys(rows: list[Row], columns: list[str]) -> list[tuple[Any, ...] | None]:
    """The key of each row; None where a part of it is missing."""
    found = [tuple(same(row[name]) for name in columns) for row in rows]
    return [None if None in key else key for key in found]


def judged(
    rows: list[Row], within: list[Row], others: list[Row], rules: list[Rule], windowed: bool
) -> Verdict:
    """The verdict on rows beside those that stand in the table, first those in the window."""
    con = _duck.connect()
    schema = SCHEMA.append(pa.field("__row", pa.int64()))
    listed = ", ".join(SCHEMA.names)
    for name, held in (("batch", rows), ("stands", [*within, *others]), ("inside", within)):
        numbered = [{**row, "__row": at} for at, row in enumerate(held)]
        con.register(name, pa.Table.from_pylist(numbered, schema=schema))
    told = Standing(f"SELECT {listed} FROM stands", 7, "SELECT * FROM stands")
    if windowed:
        told = Standing(told.sql, 7, told.ordered_sql, f"SELECT {listed} FROM inside", "SELECT * FROM inside")
    batch = Batch(
        con,
        f"SELECT {listed} FROM batch",
        SCHEMA,
        len(rows),
        len(rows),
        "SELECT * FROM batch",
        NOW,
        standing=lambda: told,
    )
    try:
        return GATE.of(rules).judge(batch)
    finally:
        con.close()


@settings(max_examples=60, deadline=None)
@given(
    rows=ROWS,
    within=ROWS,
    others=ROWS,
    columns=KEYS,
    scope=st.sampled_from(["batch", "window", "table"]),
    windowed=st.booleans(),
    where=st.booleans(),
)
def test_each_rule_judges_what_its_scope_says(
    rows: list[Row],
    within: list[Row],
    others: list[Row],
    columns: list[str],
    scope: str,
    windowed: bool,
    where: bool,
) -> None:
    condition = "live" if where else None
    none = (Operator.of("mustBe", 0),)
    rules = [
        Rule(check=Unique(columns), scope=scope, where=condition),
        Rule(check=Metric("duplicateValues", none, tuple(columns)), scope=scope, where=condition),
        Rule(check=Metric("nullValues", none, (columns[0],)), scope=scope, where=condition),
        Rule(check=Metric("rowCount", none), scope=scope, where=condition),
        Rule(check=Unique("s")),
    ]
    verdict = judged(rows, within, others, rules, windowed)
    unique, repeats, nulls, count, own = verdict.report.to_dict()["results"]
    held = "batch" if scope == "window" and not windowed else scope
    beside = {"batch": [], "window": within, "table": [*within, *others]}[held]
    live, there = ([row for row in some if row["live"] or not where] for some in (rows, beside))

    assert {item["scope"] for item in (unique, repeats, nulls, count)} == {held}
    assert own["scope"] == "batch"
    assert {item["base_snapshot"] for item in (unique, count)} == {None if held == "batch" else "7"}
    assert verdict.of_table == (held != "batch")

    mine, theirs = Counter(keys(live, columns)), set(keys(there, columns)) - {None}
    bad = {key: n for key, n in mine.items() if key is not None and (n > 1 or key in theirs)}
    assert unique["failing_rows"] == sum(bad.values())
    assert unique["metrics"]["duplicate_keys"] == len(bad)
    if held != "batch":
        assert unique["metrics"]["keys_standing"] == len(set(mine) & theirs)
    later = sum(n - (key not in theirs) for key, n in bad.items())
    assert repeats["metrics"]["count"] == later
    first = [at for at, (row, key) in enumerate(zip(rows, keys(rows, columns), strict=True))
             if key in bad and (row["live"] or not where)]  # fmt: skip
    assert [sample["row"] for sample in unique["samples"]] == first[:5]

    every = [*live, *there]
    assert count["metrics"]["value"] == len(every)
    assert nulls["metrics"]["count"] == sum(row[columns[0]] is None for row in every)
    missing = [at for at, row in enumerate(rows)
               if row[columns[0]] is None and (row["live"] or not where)]  # fmt: skip
    expected = [*missing, *(None for row in there if row[columns[0]] is None)]
    assert [sample["row"] for sample in nulls["samples"]] == expected[:5]
    assert all(sample["values"][columns[0]] is None for sample in nulls["samples"])


@pytest.mark.parametrize(("last", "passed"), [(3, True), (1, False)])
def test_what_stood_there_comes_before_the_batch(last: int, passed: bool) -> None:
    from ldp_quality import Monotonic

    told = judged(
        [{"k": float(last), "s": "z", "p": None, "live": True}],
        [],
        [{"k": 2.0, "s": "z", "p": None, "live": True}],
        [Rule(check=Monotonic("k", order_by="s"), scope="table")],
        windowed=False,
    )
    assert told.passed is passed
