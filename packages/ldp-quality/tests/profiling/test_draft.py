"""A drafted contract lints, and the rows that it was drafted from keep it."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_quality import Contract, FileTable, draft_contract, profile, run_checks
from ldp_quality.contract.lint import lint
from ldp_quality.testing.values import CENTS, KEYS, NUMBERS

NOW = datetime(2026, 8, 2, tzinfo=UTC)


def drafted(rows: pa.Table, name: str = "rows", now: datetime = NOW) -> str:
    return draft_contract(profile(rows), name, now=now)


def read(text: str) -> Contract:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.odcs.yaml"
        path.write_text(text, encoding="utf-8")
        report = lint(path)
        assert report.problems == (), (report.lines(), text)
        assert report.not_run == (), (report.lines(), text)
        return Contract.from_file(path)


def holds(rows: pa.Table, name: str = "rows") -> Contract:
    text = drafted(rows, name)
    contract = read(text)
    report = run_checks(rows, [rule.rule for rule in contract.rules()], {"now": NOW})
    assert {result.status for result in report.results} <= {"pass"}, (
        [(result.name, result.details) for result in report.results if result.status != "pass"],
        text,
    )
    return contract


NAMES = st.one_of(
    st.sampled_from(
        ["id", "rows_id", "no", "y", "null", "1", "a.b", "a,b", " a ", "${x}", "#", "é", 'q"', "c0"]
    ),
    st.text(min_size=1, max_size=6),
)
WORDS = st.sampled_from(
    ["no", "yes", "1", "01", "new", "", " ", "a: b", "#", "${HOME}", "null", "é\u2028", "\x7f"]
)
SHAPED: list[Any] = [
    (pa.string(), WORDS),
    (pa.string(), st.integers(0, 999).map(lambda number: f"{number:03d}")),
    (pa.string(), st.uuids().map(str)),
    (pa.string(), st.dates().map(str)),
    (pa.string(), st.sampled_from(["EUR", "USD", "GBP"])),
    (pa.string(), st.integers(0, 9).map(lambda number: f"password={number}")),
    (pa.string(), st.text(max_size=5)),
    (pa.large_string(), st.text(max_size=3)),
    (pa.binary(), st.binary(max_size=3)),
    (pa.uint8(), st.integers(0, 255)),
    (pa.uint64(), st.sampled_from([0, 1, 2**64 - 1])),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(38, 2), CENTS),
    (pa.date32(), st.dates()),
    (pa.time64("us"), st.times()),
    (pa.duration("us"), st.integers(0, 9)),
    (pa.dictionary(pa.int8(), pa.string()), WORDS),
    (pa.map_(pa.string(), pa.int64()), st.just([("a", 1)])),
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    count = draw(st.sampled_from([0, 1, 2, 7, 30, 120]))
    names = draw(st.lists(NAMES, min_size=0, max_size=4, unique=True))
    arrays = []
    for _ in names:
        type_, values = draw(st.sampled_from([*KEYS, *NUMBERS, *SHAPED]))
        few = draw(
            st.lists(st.one_of(values, st.none()) if draw(st.booleans()) else values, min_size=1, max_size=8)
        )
        arrays.append(pa.array([few[at % len(few)] for at in range(count)], type_, from_pandas=False))
    return pa.table(arrays, names=names)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(["rows", "o.r", "a,b", "no", "${x}"]))
def test_the_rows_keep_what_was_drafted_from_them(rows: pa.Table, name: str) -> None:
    holds(rows, name)


@pytest.mark.parametrize("count", [1, 5, 200])
def test_keys_and_dense_numbers(count: int) -> None:
    holds(pa.table({"id": list(range(count)), "other": list(range(count, 0, -1)), "x": [0.5] * count}))


def test_numbers_at_the_end_of_their_type() -> None:
    rows = pa.table({"low": [-1.7e308, 1.0], "high": [1.7e308, float("inf")], "small": [5e-324, 1e-300]})
    holds(rows)


def test_bytes_of_a_fixed_length_are_bytes(tmp_path: Path) -> None:
    path = str(tmp_path / "rows.parquet")
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT INTERVAL 1 DAY AS x) TO '{path}' (FORMAT parquet)")
    contract = read(draft_contract(profile(FileTable(path)), "rows"))
    report = run_checks(FileTable(path), [rule.rule for rule in contract.rules()])
    assert {result.status for result in report.results} == {"pass"}


def columns(text: str) -> dict[str, list[str]]:
    """The lines of each column, without its evidence."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("      - name: "):
            here = found.setdefault(line.removeprefix("      - name: "), [])
        elif line.startswith("        ") and found and not line.strip().startswith("#"):
            here.append(line.partition("  # ")[0].strip())
    return found


def test_what_merely_holds_is_not_promised() -> None:
    """A few amounts that differ are no key, a largest value is no limit, a few words are no list."""
    rows = pa.table(
        {
            "order_id": [1, 2, 3, 4, 5],
            "customer_id": [9_000, 17, 40_000, 123, 5],
            "amount": [10.5, 20.0, 3.25, 8.0, 1.0],
            "word": ["a", "b", "c", "d", "e"],
            "code": ["12", "34", "56", "78", "90"],
        }
    )
    text = drafted(rows, "orders")
    found = columns(text)
    assert "primaryKey: true" in found["order_id"]
    for name in ("customer_id", "amount", "word", "code"):
        assert "unique: true" not in found[name]
        assert "quality:" not in found[name]
    assert found["amount"] == [
        "logicalType: number",
        "physicalType: DOUBLE",
        "required: true",
        "logicalTypeOptions:",
        "minimum: 0",
    ]
    assert "# maximum: 20  # values run from 1.0 to 20.0" in text
    assert "# unique: true  # all 5 values are different, maybe by chance" in text
    assert (
        '# logicalTypeOptions: {pattern: "^[0-9]{2}$"}  # all 5 values: 2 digits, but there are few' in text
    )


def test_words_that_repeat_are_a_list_with_their_counts() -> None:
    text = drafted(pa.table({"status": ["new"] * 60 + ["paid"] * 40}))
    assert "# 2 different values in 100 rows: new (60.0%), paid (40.0%)" in text
    assert "validValues: [new, paid]" in text


def test_secrets_are_not_written_down() -> None:
    text = drafted(pa.table({"note": ["password=hunter2"] * 30}))
    assert "hunter2" not in text


def test_a_pair_that_is_no_accident_is_the_primary_key() -> None:
    rows = pa.table({"order": [at // 5 for at in range(500)], "line": [at % 5 for at in range(500)]})
    assert holds(rows).table().primary_key == ("order", "line")


@pytest.mark.parametrize(
    ("age", "limit"), [(timedelta(hours=2), 1), (timedelta(days=4), 14), (timedelta(90), None)]
)
def test_how_old_the_rows_may_be_follows_from_the_newest(age: timedelta, limit: int | None) -> None:
    moments = [NOW - age, NOW - age - timedelta(5), None]
    future = [NOW + timedelta(days=300)] * 3
    rows = pa.table(
        {"placed": pa.array(moments, pa.timestamp("us", "UTC")), "until": pa.array(future, pa.date32())}
    )
    levels = read(drafted(rows)).service_levels
    assert [(level.value, level.unit, level.elements) for level in levels] == (
        [(limit, "d", ("rows.placed",))] if limit else []
    )


def test_proposals_are_yaml_once_they_are_taken_up() -> None:
    """Every comment that looks like a key can be uncommented."""
    rows = pa.table({"x": [-5, 7], "t": pa.array([0, 1], pa.timestamp("us", "UTC")), "s": ["ab", "abc"]})
    text = drafted(rows)
    for mark in ("# logicalTypeOptions", "# minimum", "# slaProperties", "#   - property", "#     value"):
        assert mark in text
        text = text.replace(mark, mark[2:])
    for mark in ("#     unit", "#     element"):
        text = text.replace(mark, mark[2:])
    contract = read(text.replace("# unique", "unique"))
    assert contract.table().properties[0].options == {"minimum": -5, "maximum": 10}
    assert contract.service_levels
