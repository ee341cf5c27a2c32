"""``on_bad_rows: quarantine`` in a run: rows of the file = rows published + rows in quarantine."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.errors import DataQualityError, LDPError
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import run
from ldp_core.targets.formats import Iceberg

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
GOOD = "".join(f"{n},2026-01-0{1 + n % 3},{n}.50\n" for n in range(100))
HEADER = "id,day,amount\n"
Load = Callable[..., PipelineResult]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Writes the file and loads it."""
    monkeypatch.chdir(tmp_path)

    def do(content: str, source: Any = None, ask: Any = None, **metadata: Any) -> PipelineResult:
        Path("r.csv").write_text(content)
        kept = {"name": "rides", "format": "CSV", "path": "r.csv", "on_bad_rows": "quarantine"}
        body = {
            "source": {**kept, **(source or {})},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": CATALOG},
            **metadata,
        }
        Path("c.json").write_text(json.dumps({"identifier": "c", "metadata": body}))
        return run(Config.from_file("c.json"), window=ask)

    return do


def bad() -> list[tuple[Any, ...]]:
    found = Iceberg("rides__quarantine", CATALOG).get().to_pylist()
    names = ("_ldp_file", "_ldp_line", "_ldp_raw", "_ldp_rules", "_ldp_reason")
    return sorted(tuple(row[name] for name in names) for row in found)


def count() -> int:
    return int(Iceberg("rides", CATALOG).get().num_rows)


def told(key: str) -> str:
    return str(Iceberg("rides", CATALOG).snapshots()[-1]["summary"][key])


def test_rows_of_the_first_load_that_cannot_be_read_go_into_quarantine(load: Load) -> None:
    result = load(f"{HEADER}{GOOD}x,2026-01-01\n" + "100,2026-01-01,1.00\n" * 200 + "101,2026-01-01,much\n")
    assert (result.rows_read, result.rows_written, count()) == (302, 300, 300)
    assert bad() == [
        ("r.csv", 102, "x,2026-01-01", ["parse"], "the row has 2 fields where 3 are expected"),
        ("r.csv", 303, "101,2026-01-01,much", ["cast"], "amount 'much' is no decimal(18,2)"),
    ]
    names = ("in", "written", "quarantined", "kept")
    assert [told(f"ldp.rows-{name}") for name in names] == ["302", "300", "2", "302"]
    assert "  2 rows put into quarantine: nyc.rides__quarantine" in result.lines()


def test_rows_that_do_not_fit_the_table_go_into_quarantine(load: Load) -> None:
    load(HEADER + GOOD)
    load(f"{HEADER}{GOOD}y,2026-01-01,1.00\n1,2026-02-30,0.001\n")
    assert count() == 200
    assert [row[4] for row in bad()] == [
        "id 'y' is no long",
        "day '2026-02-30' is no date; amount '0.001' is no decimal(18,2)",
    ]


def test_rows_of_a_transformed_source_go_into_quarantine(load: Load) -> None:
    typed = {"columns": {"id": "long"}}
    step = {"sql": "SELECT id + 1 AS id, day FROM source WHERE id > 1"}
    result = load(f"{HEADER}{GOOD}y,2026-01-01,1.00\n", typed, transforms=[step])
    assert (result.rows_read, result.rows_written, len(bad())) == (101, 98, 1)
    assert [told(f"ldp.rows-{name}") for name in ("in", "written", "quarantined")] == ["99", "98", "1"]


def test_odd_values_of_a_column_that_a_transform_drops_are_bad_all_the_same(load: Load) -> None:
    many = "".join(f"{n},2026-01-01,1.00\n" for n in range(200))
    load(f"{HEADER}{many}y,2026-01-01,1.00\n", transforms=[{"sql": "SELECT day FROM source"}])
    assert (count(), [row[4] for row in bad()]) == (200, ["id 'y' is no long"])


def test_too_many_bad_rows_stop_the_run(load: Load) -> None:
    load(HEADER + GOOD)
    with pytest.raises(DataQualityError, match="2 of 3 rows"):
        load(f"{HEADER}1,2026-01-01,1.00\nx,2026-01-01,1.00\n2\n")
    assert count() == 100
    assert not Iceberg("rides__quarantine", CATALOG).exists()


WINDOW = {"size": "day", "column": "day"}


def day(number: int) -> tuple[datetime, datetime]:
    return datetime(2026, 1, number, tzinfo=UTC), datetime(2026, 1, number + 1, tzinfo=UTC)


def test_each_window_has_its_own_bad_rows(load: Load) -> None:
    content = f"{HEADER}{GOOD}x,2026-01-01,1.00\ny,2026-01-02,1.00\n"
    typed = {"columns": {"id": "long", "amount": "decimal(18, 2)"}}
    results = [load(content, typed, day(n), window=WINDOW) for n in (1, 2, 3)]
    assert [result.rows_written for result in results] == [34, 33, 33]
    assert [(row[1], row[2]) for row in bad()] == [(102, "x,2026-01-01,1.00"), (103, "y,2026-01-02,1.00")]
    load(content, typed, day(1), window=WINDOW)
    assert (count(), len(bad())) == (100, 2)


def test_a_row_of_no_window_stops_the_run(load: Load) -> None:
    with pytest.raises(LDPError, match=r"r\.csv:102: column day.*'2026-13-01'.*belongs to no window"):
        load(f"{HEADER}{GOOD}1,2026-13-01,1.00\n", {"columns": {"day": "date"}}, day(1), window=WINDOW)
    assert not Iceberg("rides", CATALOG).exists()
