"""Rows that are put aside and rows that stay, against a naive account of each rule."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import _duck
from ldp_core.spi import Batch, Spec, Verdict
from ldp_quality.gate import GATE

SPEC = Spec({}, Path())
NOW = datetime(2026, 8, 1, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("x", pa.float64()),
        ("city", pa.string()),
        ("seen", pa.int64()),
        ("tags", pa.list_(pa.string())),
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.none() | st.integers(1, 3),
            "x": st.none() | st.sampled_from([math.nan, -1.0, 0.0, 1.0, 7.5]),
            "city": st.none() | st.sampled_from(["NYC", "BKK", "?"]),
            "seen": st.none() | st.integers(0, 4),
            "tags": st.sampled_from([None, ["a"], ["a", None]]),
        }
    ),
    max_size=9,
)
Row = Mapping[str, Any]
Rows = Sequence[Row]
Condition = Callable[[Row], bool]


def batch(con: Any, rows: Rows, order: Sequence[int], **more: Any) -> Batch:
    """The rows in the order of the input, and in two files in another order."""
    table = pa.Table.from_pylist([dict(row) for row in rows], SCHEMA)
    con.register("input", table)
    written = table.take(pa.array(order, pa.int64()))
    written = written.append_column("f", pa.array([f"file{at % 2}" for at in range(len(order))], pa.string()))
    con.register("written", written.append_column("p", pa.array(range(len(order)), pa.int64())))
    columns = ", ".join(SCHEMA.names)
    return Batch(
        con,
        f"SELECT {columns} FROM written",
        SCHEMA,
        len(rows),
        len(rows),
        f"SELECT {columns}, row_number() OVER () - 1 AS __row FROM input",
        NOW,
        placed_sql=f"SELECT {columns}, f AS __file, p AS __pos FROM written",
        **more,
    )


@pytest.fixture(scope="module")
def con() -> Iterator[Any]:
    with _duck.connect() as made:
        yield made


def content(row: Row) -> str:
    return repr({name: row[name] for name in SCHEMA.names})


def parted(verdict: Verdict, con: Any) -> tuple[Counter[str], Counter[tuple[str, tuple[str, ...]]]]:
    """The rows that stay, and those that are put aside with the rules they break."""
    if verdict.apart is None:
        return Counter(map(content, con.sql("SELECT * FROM written").to_arrow_table().to_pylist())), Counter()
    table = verdict.apart.table
    joined = con.sql(
        f"SELECT w.*, a.rules, a.reason FROM written AS w LEFT JOIN {table} AS a "
        "ON w.f = a.__file AND w.p = a.__pos"
    )
    found = joined.to_arrow_table().to_pylist()
    assert len(found) == con.sql("SELECT count(*) FROM written").fetchall()[0][0]
    bad = [row for row in found if row["rules"] is not None]
    assert len(bad) == verdict.apart.rows
    assert con.sql(f"SELECT count(*) FROM {table}").fetchall()[0][0] == len(bad)
    assert all(row["reason"] for row in bad)
    good = Counter(content(row) for row in found if row["rules"] is None)
    return good, Counter((content(row), tuple(row["rules"])) for row in bad)


def numbers(value: Any) -> bool:
    return value is not None and not math.isnan(value)


BAD: dict[str, tuple[dict[str, Any], Condition]] = {
    "nulls": (
        {"check": "not_null", "columns": ["id", "city"]},
        lambda row: row["id"] is None or row["city"] is None,
    ),
    "range": (
        {"check": "range", "column": "x", "min": 0},
        lambda row: row["x"] is not None and (math.isnan(row["x"]) or row["x"] < 0),
    ),
    "values": (
        {"check": "accepted_values", "column": "city", "values": ["NYC", "BKK"]},
        lambda row: row["city"] == "?",
    ),
    "regex": (
        {"check": "regex", "column": "city", "pattern": "^[A-Z]", "where": "id > 1"},
        lambda row: row["city"] == "?" and row["id"] is not None and row["id"] > 1,
    ),
    "own": (
        {"check": "expression", "expression": "id < 3 OR x > 5"},
        lambda row: row["id"] == 3 and row["x"] is not None and not (math.isnan(row["x"]) or row["x"] > 5),
    ),
    "outlier": (
        {"check": "anomaly", "column": "x", "mean": 0, "stddev": 1, "sigma": 2},
        lambda row: numbers(row["x"]) and row["x"] > 2,
    ),
}


def repeated(rows: Rows, at: Sequence[int], columns: Sequence[str], keep: str) -> set[int]:
    keys: dict[str, list[int]] = {}
    for number in at:
        key = [rows[number][name] for name in columns]
        if None not in key:
            keys.setdefault(repr(key), []).append(number)
    return {number for same in keys.values() if len(same) > 1 for number in same[keep == "first" :]}


def falling(rows: Rows, at: Sequence[int], strict: bool) -> set[int]:
    bad, last = set(), dict[Any, int]()
    for number in at:
        value, group = rows[number]["seen"], rows[number]["city"]
        if value is None:
            continue
        if group in last and (value <= last[group] if strict else value < last[group]):
            bad.add(number)
        last[group] = max(value, last.get(group, value))
    return bad


def oracle(rows: Rows, names: Sequence[str], keep: str, strict: bool) -> dict[int, list[str]]:
    """Each row that is put aside, by number, with the rules that it breaks."""
    found: dict[int, list[str]] = {}
    own = {name: {at for at, row in enumerate(rows) if BAD[name][1](row)} for name in names if name in BAD}
    left = [at for at in range(len(rows)) if not any(at in bad for bad in own.values())]
    some = [at for at in left if rows[at]["x"] is not None and rows[at]["x"] >= 0]
    of_others = {
        "key": lambda: repeated(rows, left, ["id"], keep),
        "pair": lambda: repeated(rows, some, ["city", "tags"], keep),
        "falling": lambda: falling(rows, left, strict),
    }
    for name in names:
        for at in sorted(own[name] if name in own else of_others[name]()):
            found.setdefault(at, []).append(name)
    return found


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_rows_are_put_aside_as_a_naive_account_says(con: Any, data: st.DataObject) -> None:
    rows = data.draw(ROWS)
    order = data.draw(st.permutations(range(len(rows))))
    names = data.draw(st.lists(st.sampled_from([*BAD, "key", "pair", "falling"]), min_size=1, unique=True))
    keep = data.draw(st.sampled_from(["first", "none"]))
    strict = data.draw(st.booleans())
    others = {
        "key": {"check": "unique", "columns": "id", "keep": keep},
        # NaN is above all numbers.
        "pair": {"check": "unique", "columns": ["city", "tags"], "keep": keep, "where": "x >= 0"},
        "falling": {"check": "monotonic", "column": "seen", "group_by": "city", "strict": strict},
    }
    rows = [
        {**row, "x": None if row["x"] is not None and "pair" in names and math.isnan(row["x"]) else row["x"]}
        for row in rows
    ]
    checks = [{**(BAD[name][0] if name in BAD else others[name]), "name": name} for name in names]
    last = {"check": "monotonic", "column": "id", "on_failure": "warn"}
    wanted = oracle(rows, names, keep, strict)
    gate = GATE.prepare({"on_failure": "quarantine", "checks": [last, *checks]}, SPEC)
    verdict = gate.judge(batch(con, rows, order))
    good, bad = parted(verdict, con)
    left = [at for at in range(len(rows)) if at not in wanted]
    assert bad == Counter((content(rows[at]), tuple(rules)) for at, rules in wanted.items())
    assert good == Counter(content(rows[at]) for at in left)
    assert not verdict.blocks
    told = verdict.report.to_dict()
    assert told["quarantined"] == len(wanted)
    assert [item["name"] for item in told["results"][1:]] == names
    counts = [sum(name in rules for rules in wanted.values()) for name in names]
    assert [item["quarantined"] for item in told["results"][1:]] == counts
    assert [line["quarantined"] for line in verdict.evaluated["checks"][1:]] == counts
    ids = [rows[at]["id"] for at in left if rows[at]["id"] is not None]
    assert told["results"][0]["failing_rows"] == sum(b < a for a, b in pairwise(ids))
    assert told["results"][0]["metrics"]["row_count"] == len(left)
    kept = [table for (table,) in con.sql("SELECT table_name FROM duckdb_tables()").fetchall()]
    assert kept == ([verdict.apart.table] if verdict.apart else [])
    for name in kept:
        con.execute(f"DROP TABLE {name}")
