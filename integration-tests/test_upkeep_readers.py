"""What upkeep leaves is read alike by pyiceberg, by DuckDB over the files, and by polars."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from ldp_core.fs import local_path
from ldp_maintenance import Doing, Expire, Maintenance, Ordering, Policy, Rewrite, SortKey, Target
from ldp_maintenance.testing import builders, looks
from pyiceberg.expressions import EqualTo
from pyiceberg.table import Table

COLUMNS = ("id", "town", "at", "amount", "note")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Days of two months in two specs and two schemas, rows replaced and deleted by positions and by keys."""
    made = builders.table(builders.catalog(tmp_path), partition="day")
    days = [builders.DAY0 + dt.timedelta(days=number) for number in (0, 1, 35)]
    for number, day in enumerate(days):
        paths = builders.small_files(made, 3, first=number * 30, at=day)
        builders.delete_positions(made, {paths[0]: [0, 3]})
    builders.overwrite(made, paths[1], range(70, 75), at=days[2])
    builders.evolve_schema(made, rename=("city", "town"))
    builders.small_files(made, 2, first=100, at=days[0])
    builders.evolve_spec(made, "bucket")
    builders.small_files(made, 2, first=200, at=days[1])
    return made


def _rows(found: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in COLUMNS) for row in found), key=str)


def _by_duckdb(table: Table) -> list[tuple[Any, ...]]:
    """Rows of the live files, by column names: right where no delete is left and all are of one schema."""
    paths = [str(local_path(path)) for path in looks.live_files(table)]
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar=false")
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        sql = f"SELECT {names} FROM read_parquet($1, hive_partitioning=false, union_by_name=true)"
        return sorted(con.execute(sql, [paths]).fetchall(), key=str)


ORDERS = {
    "arrival": Ordering(),
    "sort": Ordering("sort", sort=(SortKey("amount", "desc"),)),
    "zorder": Ordering("zorder", zorder=("id", "amount")),
}


@pytest.mark.parametrize("order", ORDERS)
def test_readers_agree_before_and_after(table: Table, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    before = _rows(table.scan().to_arrow().to_pylist())
    assert len(before) == 119
    assert _rows(polars.scan_iceberg(table).collect().to_dicts()) == before
    policy = Policy(
        ordering=ORDERS[order],
        rewrite=Rewrite(skip_newest=None, delete_ratio=0.0, delete_file_threshold=0),
        expire=Expire(max_snapshot_age_days=1),
    )
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    found = Maintenance(Target(table.catalog, ("db", "t"), policy)).run(
        commit=True, doing=Doing(clock=lambda: later)
    )
    assert not found.errors, found.lines()
    table.refresh()
    assert _rows(table.scan().to_arrow().to_pylist()) == before
    for reader in ("native", "pyiceberg"):
        read = polars.scan_iceberg(table, reader_override=reader)
        assert _rows(read.collect().to_dicts()) == before
    assert found.after["delete_files"] == 0
    assert _by_duckdb(table) == before
    wanted = [row for row in before if row[1] == "NYC" and row[2] == builders.DAY0]
    some = polars.scan_iceberg(table).filter(polars.col("at") == builders.DAY0).collect()
    assert _rows(some.to_dicts()) == wanted
    assert table.scan(row_filter=EqualTo("at", builders.DAY0)).count() == len(wanted)
