"""What stands beside a batch before a publish is what the table holds besides it afterwards."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core import Iceberg
from ldp_core.spi import Keyed, Standing
from ldp_core.targets._context import context
from ldp_core.targets._frames import rows_of
from ldp_core.targets.iceberg import TARGET
from ldp_core.testing.deletes import commit, delete_file, positions

CATALOG = {"identifier": "lake", "warehouse_path": "wh"}
SCHEMA = pa.schema([("ID", pa.int64()), ("ts", pa.timestamp("us")), ("v", pa.float64())])
START, END = dt.datetime(2026, 8, 2, tzinfo=dt.UTC), dt.datetime(2026, 8, 3, tzinfo=dt.UTC)
DAYS = [dt.datetime(2026, 8, day, hour) for day in (1, 2, 3) for hour in (0, 23)]
INSIDE = [day for day in DAYS if day.day == 2]
Row = tuple[Any, ...]


def rows(ts: list[dt.datetime | None]) -> st.SearchStrategy[list[Row]]:
    return st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(1, 5)),
            st.sampled_from(ts),
            st.sampled_from([None, 0.5, math.nan]),
        ),
        max_size=6,
    )


def table(given: list[Row], schema: pa.Schema = SCHEMA) -> pa.Table:
    columns = list(zip(*given, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(list(column), kind.type) for column, kind in zip(columns, schema, strict=True)],
        schema=schema,
    )


def counted(found: list[Row]) -> Counter[str]:
    return Counter(repr(row) for row in found)


def in_window(row: Row) -> bool:
    return row[1] is not None and START <= row[1].replace(tzinfo=dt.UTC) < END


def load(
    folder: Path, batch: list[Row], mode: str, keyed: Keyed | None, schema: pa.Schema = SCHEMA
) -> tuple[list[Row], list[Row] | None, Standing, list[Row]]:
    """(rows beside, those in the window, the answer itself, the table afterwards)."""
    spec = Iceberg("t", CATALOG, join_cols=["ID"], base_dir=folder).spec
    with context(folder) as ctx:
        ctx = replace(ctx, keyed=keyed)
        sql, types = rows_of(ctx, table(batch, schema))
        session = TARGET.open(spec, ctx, mode)
        try:
            staged = session.stage(session.resolve(sql, types, follows_values=False))
            told = session.standing(staged)
            beside = ctx.con.execute(told.sql).fetchall()
            ordered = ctx.con.execute(told.ordered_sql).fetchall()
            assert counted([row[:-1] for row in ordered]) == counted(beside)
            assert len({row[-1] for row in ordered}) == len(ordered)
            within = None
            if told.window_sql is not None:
                within = ctx.con.execute(told.window_sql).fetchall()
                numbered = ctx.con.execute(str(told.window_ordered_sql)).fetchall()
                assert counted([row[:-1] for row in numbered]) == counted(within)
            session.publish(staged, {"ldp.run-id": ctx.run_id})
        finally:
            session.discard()
    found = Iceberg("t", CATALOG, base_dir=folder).get()
    return beside, within, told, [tuple(row.values()) for row in found.to_pylist()]


@pytest.mark.parametrize("mode", ["append", "overwrite", "window", "upsert"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_what_stands_beside_a_batch_is_what_is_left_beside_it(mode: str, data: st.DataObject) -> None:
    keyed = Keyed("p", start=START, end=END, column="ts", overlap=True, empty=True)
    if mode == "overwrite" or (mode != "window" and data.draw(st.booleans())):
        keyed = Keyed("p", empty=True)
    batch = data.draw(rows(INSIDE if mode == "window" else [*DAYS, None]))
    if mode == "upsert":
        batch = list({row[0]: row for row in batch}.values())
    loads = data.draw(st.lists(rows([*DAYS, None]).filter(bool), max_size=2))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for before in loads:
            load(folder, before, "append", None)
        written = "overwrite" if mode == "window" else mode
        beside, within, told, after = load(folder, batch, written, keyed)
        made = Iceberg("t", CATALOG, base_dir=folder)
        snapshots = made.snapshots() if made.exists() else []
        assert counted(beside) + counted(batch) == counted(after)
        assert told.snapshot == (snapshots[len(loads) - 1]["snapshot_id"] if loads else None)
        expected = counted([row for row in beside if in_window(row)])
        assert (None if within is None else counted(within)) == (None if keyed.column is None else expected)


def test_deleted_rows_do_not_stand_and_new_columns_are_empty(tmp_path: Path) -> None:
    load(tmp_path, [(1, DAYS[0], 1.0), (2, DAYS[1], 2.0)], "append", None)
    made = Iceberg("t", CATALOG, base_dir=tmp_path).table()
    path = next(iter(made.scan().plan_files())).file.file_path
    commit(made, delete_file(made, positions((path, 0))))
    wider = SCHEMA.append(pa.field("tip", pa.int32()))
    beside, _, _, after = load(tmp_path, [(3, DAYS[2], 3.0, 7)], "append", None, wider)
    assert beside == [(2, DAYS[1], 2.0, None)]
    assert len(after) == 2


def test_an_append_whose_window_column_became_a_text_tells_nothing_of_the_window(tmp_path: Path) -> None:
    schema = SCHEMA.set(1, pa.field("ts", pa.string()))
    keyed = Keyed("p", start=START, end=END, column="ts")
    load(tmp_path, [(1, "x", 1.0)], "append", None, schema)
    beside, within, _, _ = load(tmp_path, [(2, "y", 1.0)], "append", keyed, schema)
    assert (len(beside), within) == (1, None)
