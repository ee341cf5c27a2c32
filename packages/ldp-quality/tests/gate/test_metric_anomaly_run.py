"""Runs that are compared with earlier ones: by the store, or by the snapshots of the table."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.errors import DataQualityError
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import run
from ldp_quality import open_store

STORE = {"sinks": [{"type": "quality_store"}]}


def config(folder: Path, quality: Any, observability: Any = None, **more: Any) -> Config:
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "write_mode": "overwrite",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
        "window": {"size": "day", "column": "at"},
        "quality": quality,
        **({"observability": observability} if observability else {}),
        **more,
    }
    return Config.from_dict({"identifier": "rides", "metadata": metadata}, base_dir=folder)


def day(loaded: Config, at: int, rows: int, key: str | None = None) -> PipelineResult:
    """Load one day of August with so many rows; once more under a key."""
    first = date(2026, 8, at)
    lines = [f"{first} 10:{second // 60:02}:{second % 60:02},5" for second in range(rows)]
    (loaded.base_dir / "r.csv").write_text("\n".join(["at,fare", *lines]) + "\n", "utf8")
    window = f"{first}/{first + timedelta(days=1)}"
    return run(loaded, window=window, idempotency_key=key, overlap="allow" if key else None)


def of(result: PipelineResult, at: int = 0) -> Any:
    assert result.quality is not None
    return result.quality.to_dict()["results"][at]


CHECKS = [
    {"check": "metric_anomaly", "metric": "row_count", "min_history": 3},
    {"check": "metric_anomaly", "metric": "sum", "column": "fare", "min_history": 3, "method": "median"},
]


def test_a_run_is_compared_with_windows_before_its_own(tmp_path: Path) -> None:
    loaded = config(tmp_path, CHECKS, STORE)
    for at, rows in ((10, 10), (11, 11), (12, 9)):
        assert f"not enough history: {at - 10} of 3 runs" in of(day(loaded, at, rows))["details"]
    with pytest.raises(DataQualityError) as caught:
        day(loaded, 13, 30)
    assert "row_count is 30, above the mean 10 of 3 runs" in str(caught.value)
    assert "sum(fare) is 150, above the median 50 of 3 runs" in str(caught.value)
    # What was held back is no past, a day that was loaded again counts once, and is not its own past.
    assert of(day(loaded, 13, 10))["metrics"]["history"] == 3
    again = day(loaded, 12, 10, key="again")
    assert "not enough history: 2 of 3" in of(again)["details"]
    # A backfill of a day before all others has no past, whatever the clock says.
    assert "not enough history: 0 of 3" in of(day(loaded, 1, 500))["details"]
    assert of(day(loaded, 14, 10))["metrics"]["history"] == 5
    with open_store(tmp_path / ".ldp" / "quality.db", create=False) as store:
        points = store.trend("nyc.rides", "metric_anomaly(sum(fare))", "sum(fare)")
    assert next(point.value for point in points) == 2500


def test_the_rows_of_a_table_are_known_from_its_snapshots(tmp_path: Path) -> None:
    loaded = config(tmp_path, CHECKS[:1])
    for at, rows in ((10, 10), (11, 11), (12, 8)):
        day(loaded, at, rows)
    day(loaded, 12, 9, key="again")
    with pytest.raises(DataQualityError, match="row_count is 30, above the mean 10 of 3 runs"):
        day(loaded, 13, 30)
    assert "not enough history: 1 of 3" in of(day(loaded, 11, 500, key="once more"))["details"]


def test_the_snapshots_of_an_upsert_count_the_rows_that_did_not_change(tmp_path: Path) -> None:
    loaded = config(tmp_path, CHECKS[:1], window={"size": "day"})
    loaded.metadata["target"] |= {"write_mode": "upsert", "join_cols": ["id"]}
    for at in (1, 2, 3):
        lines = [f"{number},{at if number < at else 0}" for number in range(10)]
        (tmp_path / "r.csv").write_text("\n".join(["id,fare", *lines]) + "\n", "utf8")
        run(loaded, window=f"2026-08-0{at}/2026-08-0{at + 1}")
    result = run(loaded, window="2026-08-04/2026-08-05", on_failure="warn")
    assert (of(result)["metrics"]["usual"], of(result)["status"]) == (10, "pass")


def test_what_another_config_loads_into_the_table_is_no_past(tmp_path: Path) -> None:
    loaded = config(tmp_path, CHECKS[:1])
    loaded.metadata["target"]["write_mode"] = "append"
    other = Config.from_dict({"identifier": "other", "metadata": loaded.metadata}, base_dir=tmp_path)
    for at in (10, 11, 12):
        day(loaded, at, at)
        day(other, at, 100)
    assert of(day(loaded, 13, 12))["metrics"]["usual"] == 11


@pytest.mark.parametrize(
    "more", [{"metric": "sum", "column": "fare"}, {"metric": "row_count", "where": "fare > 0"}]
)
def test_other_numbers_need_a_store_and_the_plan_says_so(tmp_path: Path, more: Any) -> None:
    loaded = config(tmp_path, {"checks": [{"check": "metric_anomaly", **more}]})
    with pytest.raises(Exception, match="needs a history of earlier runs, and none is kept") as caught:
        day(loaded, 10, 1)
    assert "quality.checks[0]" in str(caught.value)
    assert "quality_store" in str(caught.value)


def test_a_history_that_cannot_be_read_is_not_run(tmp_path: Path) -> None:
    loaded = config(tmp_path, CHECKS[1:], STORE)
    (tmp_path / ".ldp").mkdir()
    (tmp_path / ".ldp" / "quality.db").write_text("this is no database" * 100)
    with pytest.raises(DataQualityError, match="is no SQLite file"):
        day(loaded, 10, 1)


def test_days_of_the_week_begin_where_the_config_says(tmp_path: Path) -> None:
    checks = [{**CHECKS[0], "baseline": "weekday", "min_history": 2}]
    window = {"size": "day", "column": "at", "timezone": "Asia/Bangkok"}
    loaded = config(tmp_path, checks, STORE, window=window)
    for at, rows in ((3, 10), (4, 30), (10, 12), (11, 31)):
        day(loaded, at, rows)
    assert of(day(loaded, 17, 11))["metrics"]["usual"] == 11
    assert of(day(loaded, 18, 31))["metrics"]["usual"] == 30.5
    assert "not enough history: 0 of 2" in of(day(loaded, 16, 99))["details"]
