"""Rows that a rule will put aside are written apart at once, so that no file is written twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from ldp_core import run_config
from ldp_core.targets import _changes
from ldp_core.targets.formats import Iceberg
from ldp_quality import Range, run_checks

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
NEGATIVE = {"check": "range", "column": "amount", "min": 0, "on_failure": "quarantine"}
Load = Callable[..., Any]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that data files of the table were written into, one for each pass."""
    found: list[str] = []
    real = _changes.write_files

    def counted(con: Any, sql: str, layout: Any, folder: str, flag: str | None = None) -> Any:
        if "__quarantine" not in folder:
            found.append(folder)
        return real(con, sql, layout, folder, flag)

    monkeypatch.setattr(_changes, "write_files", counted)
    return found


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    monkeypatch.chdir(tmp_path)

    def loaded(rows: pa.Table, *checks: Any, **target: Any) -> Any:
        # CSV: typed files that fit are not written but copied.
        pa.csv.write_csv(rows, tmp_path / "r.csv")
        body = {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG, **target},
            "quality": list(checks),
        }
        (tmp_path / "c.json").write_text(json.dumps({"identifier": "c", "metadata": body}))
        return run_config("c.json")

    return loaded


def table(rows: int, bad: Callable[[int], bool]) -> pa.Table:
    amounts = [f"{'-' if bad(n) else ''}{n % 90 + 1}.25" for n in range(rows)]
    days = [f"2026-01-0{n % 3 + 1}" for n in range(rows)]
    return pa.table({"id": pa.array(range(rows)), "day": days, "amount": amounts})


def ids(name: str = "rides") -> list[int]:
    return sorted(Iceberg(name, CATALOG).get().column("id").to_pylist())


@pytest.mark.parametrize("partition_by", [None, "day"], ids=["whole", "by-day"])
def test_nothing_is_written_twice(load: Load, passes: list[str], partition_by: str | None) -> None:
    by = {"partition_by": [{"column": "day", "transform": partition_by}]} if partition_by else {}
    result = load(table(3000, lambda n: n % 100 == 7), NEGATIVE, **by)
    assert len(passes) == 1
    bad = list(range(7, 3000, 100))
    assert (result.rows_written, result.write_result.rows_quarantined) == (2970, 30)
    assert ids() == sorted(set(range(3000)) - set(bad))
    assert ids("rides__quarantine") == bad
    read = Iceberg("rides", CATALOG).get()
    assert [str(field.type) for field in read.schema] == ["int64", "date32[day]", "decimal128(18, 2)"]
    files = list(Path("wh").rglob("*/rides/**/*.parquet"))
    assert files
    assert not [file for file in files if min(pq.read_table(file).column("amount").to_pylist()) < 0]


def test_what_the_first_rows_do_not_show_is_taken_out_later(load: Load, passes: list[str]) -> None:
    load(table(150_000, lambda n: n in (120_000, 140_000)), NEGATIVE)
    assert len(passes) == 2
    assert ids("rides__quarantine") == [120_000, 140_000]
    assert len(ids()) == 149_998


def test_rules_with_conditions_and_of_other_rows_go_together(load: Load, passes: list[str]) -> None:
    rows = pa.concat_tables([table(500, lambda n: n % 50 == 3), table(2, lambda n: False)])
    keys = {"check": "unique", "columns": ["id"], "on_failure": "quarantine"}
    some = {**NEGATIVE, "where": "id >= 100"}
    warned = {**NEGATIVE, "on_failure": "warn"}
    load(rows, some, keys, warned)
    assert len(passes) == 2  # who has a key twice is known when all rows are written
    assert ids("rides__quarantine") == [0, 1, *range(103, 500, 50)]
    assert ids() == [n for n in range(500) if n < 100 or n % 50 != 3]


def test_samples_are_the_first_rows_also_beyond_those_that_are_looked_at_first() -> None:
    bad = [99_998, 99_999, 100_000, 180_000, 199_999, 249_999]
    amounts = [-1 if n in bad else 1 for n in range(250_000)]
    rows = pa.table({"id": pa.array(range(250_000)), "amount": amounts})
    (result,) = run_checks(rows, [Range(column="amount", min=0)]).results
    assert [sample["row"] for sample in result.samples] == bad[:5]
    assert [sample["values"]["id"] for sample in result.samples] == bad[:5]
    few = rows.slice(150_000)
    (result,) = run_checks(few, [Range(column="amount", min=0)]).results
    assert [sample["row"] for sample in result.samples] == [30_000, 49_999, 99_999]


def test_a_value_that_no_sample_shows_changes_the_type_also_then(load: Load, tmp_path: Path) -> None:
    rows = table(60_000, lambda n: n % 100 == 7)
    notes = pa.array(["x" if n == 59_999 else str(n) for n in range(60_000)])
    load(rows.append_column("note", notes), NEGATIVE)
    assert len(ids("rides__quarantine")) == 600
    assert str(Iceberg("rides", CATALOG).get().schema.field("note").type).endswith("string")
