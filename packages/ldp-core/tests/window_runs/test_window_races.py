"""Overwrite of a window among other writers: re-applied on the new head, whatever came between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.commit import publish as publishing
from ldp_core.commit.base import load_base
from ldp_core.errors import DriftError
from ldp_core.run.registered import run_config
from ldp_core.testing.builders import orphans
from pyiceberg.types import StringType

MakeLake = Callable[..., Any]
DAY = (datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 8, 2, tzinfo=UTC))


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 8, day, hour)


def between(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], Any]) -> list[int]:
    """Let others act right before the first commits are sent; returns where the sends are counted."""
    real, left, sends = publishing.send, list(acts), []

    def send(*args: Any) -> Any:
        sends.append(1)
        if left:
            act = left.pop(0)
            monkeypatch.setattr(publishing, "send", real)
            try:
                act()
            finally:
                monkeypatch.setattr(publishing, "send", send)
        return real(*args)

    monkeypatch.setattr(publishing, "send", send)
    return sends


def other(one: Any, rows: list[Any], mode: str = "append") -> Callable[[], Any]:
    """Another config that writes into the same table."""

    def act() -> None:
        one.source(rows, "other.parquet")
        source = {"name": "other", "format": "PARQUET", "path": "other.parquet"}
        config = one.config(mode, source=source)
        run_config(config)

    return act


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost races are run again at once; the others are on other machines, which do not see the lock."""
    from ldp_core.commit.retry import RetryPolicy
    from ldp_core.targets import iceberg_session

    monkeypatch.setattr(iceberg_session, "APPEND", RetryPolicy(sleep=lambda seconds: None))
    monkeypatch.setattr(iceberg_session, "table_lock", lambda base: nullcontext())


def test_what_others_appended_into_the_window_meanwhile_is_replaced_too(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(2))], None, "append")
    sends = between(monkeypatch, other(one, [(3, at(1, 5)), (4, at(2, 5))]))
    result = one.load([(9, at(1, 7))], DAY)
    assert len(sends) == 2
    assert one.rows() == [(2, at(2)), (4, at(2, 5)), (9, at(1, 7))]
    assert (result.write_result.rows_before, result.write_result.rows_after) == (4, 3)


def test_files_astride_are_written_again_once_where_others_leave_them_alone(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldp_core.targets._changes import Plan

    one = lake()
    one.load([(1, at(1)), (2, at(2))], None, "append")
    writes: list[str] = []
    real = Plan.write
    between(monkeypatch, other(one, [(4, at(5))]), other(one, [(5, at(6))]))

    def write(self: Plan, sql: str, folder: str, flag: str | None = None) -> Any:
        writes.append(sql)
        return real(self, sql, folder, flag)

    monkeypatch.setattr(Plan, "write", write)
    one.load([(9, at(1, 7))], DAY)
    again = [sql for sql in writes if "WHERE NOT coalesce" in sql]
    assert len(again) == 1
    assert one.rows() == [(2, at(2)), (4, at(5)), (5, at(6)), (9, at(1, 7))]


def test_a_file_astride_that_others_replaced_is_written_again_from_what_they_made(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load([(1, at(1)), (2, at(2)), (3, at(3))], None, "append")
    between(monkeypatch, other(one, [(2, at(2, 9)), (7, at(1, 9))], "upsert"))
    one.load([(9, at(1, 7))], DAY)
    assert one.rows() == [(2, at(2, 9)), (3, at(3)), (9, at(1, 7))]


def with_tips(one: Any) -> Callable[[], Any]:
    """Another writer adds a column, and gives each row a value of it."""

    def act() -> None:
        table = one.table().table()
        with table.update_schema() as update:
            update.add_column("tip", StringType())
        rows = table.refresh().scan().to_arrow()
        tips = pa.array([f"tip {number}" for number in rows["id"].to_pylist()])
        table.overwrite(rows.set_column(rows.column_names.index("tip"), "tip", tips))

    return act


def tips(one: Any) -> dict[int, str | None]:
    return {row["id"]: row["tip"] for row in one.table().get().to_pylist()}


def test_a_column_that_others_added_meanwhile_is_kept_in_rows_that_are_written_again(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake()
    one.load([(1, at(1)), (2, at(2))], None, "append")
    between(monkeypatch, with_tips(one))
    one.load([(9, at(1, 7))], DAY)
    assert tips(one) == {2: "tip 2", 9: None}


def test_an_upsert_does_not_empty_a_column_that_others_added_meanwhile(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load([(1, at(1)), (2, at(2))], None, "append")
    between(monkeypatch, with_tips(one))
    with pytest.raises(DriftError, match=r"the rows lack the columns tip of nyc\.rides"):
        other(one, [(1, at(1, 7))], "upsert")()
    assert tips(one) == {1: "tip 1", 2: "tip 2"}


def test_nothing_is_left_over(lake: MakeLake, monkeypatch: pytest.MonkeyPatch) -> None:
    one = lake(target={"join_cols": ["id"]})
    one.load([(1, at(1)), (2, at(2)), (3, at(3))], None, "append")
    between(monkeypatch, other(one, [(2, at(2, 9))], "upsert"), other(one, [(4, at(1, 2))]))
    one.load([(9, at(1, 7))], DAY)
    table = one.table().table()
    left = [path for path in orphans(load_base(table.catalog, ("nyc", "rides"))) if "write.lock" not in path]
    assert left == []


def test_the_same_window_twice_at_once_is_published_once(
    lake: MakeLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lake()
    one.source([(1, at(1)), (2, at(2))])
    config = one.config("overwrite")
    run_config(config)
    statuses: list[str] = []
    between(monkeypatch, lambda: statuses.append(run_config(config, window=DAY).status))
    statuses.append(run_config(config, window=DAY).status)
    assert statuses == ["published", "skipped_duplicate"]
    assert one.rows() == [(1, at(1)), (2, at(2))]
