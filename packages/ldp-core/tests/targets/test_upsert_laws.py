"""An upsert leaves one row a key of the batch and touches nothing else, whatever the keys are."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ldp_core import Iceberg
from ldp_core.errors import LDPError

CATALOG = {"identifier": "lake", "warehouse_path": "wh"}

KEYS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "long": (pa.int64(), st.integers(-3, 3)),
    "text": (pa.string(), st.sampled_from(["", "a", "A", "é", "'", "NULL", "a\nb"])),
    "double": (pa.float64(), st.sampled_from([math.nan, 0.0, -0.0, 1.5, math.inf, -math.inf])),
    "date": (pa.date32(), st.dates(dt.date(2026, 1, 1), dt.date(2026, 1, 4))),
    "moment": (
        pa.timestamp("us", tz="UTC"),
        st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, 0, 0, 0, 3), timezones=st.just(dt.UTC)),
    ),
    "decimal": (pa.decimal128(10, 2), st.sampled_from([Decimal("1.10"), Decimal("-1.10"), Decimal("0.00")])),
    "binary": (pa.binary(), st.sampled_from([b"", b"\x00", b"\xff", b"a\\x"])),
    "bool": (pa.bool_(), st.booleans()),
}
VALUES = st.sampled_from([None, 0.0, -0.0, 1.0, math.nan])


def same(value: Any) -> Any:
    """A value as upserts compare it."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


def key_of(row: dict[str, Any], keys: list[str]) -> tuple[Any, ...]:
    return tuple(same(row[key]) for key in keys)


def shown(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr([(name, plain(row[name])) for name in sorted(row)]) for row in rows)


def plain(value: Any) -> Any:
    """A value whose text does not depend on who made it: UTC is one zone, whatever class stands for it."""
    if isinstance(value, dt.datetime) and value.tzinfo:
        return value.astimezone(dt.UTC).replace(fold=0)
    return same(value)


def table(schema: pa.Schema, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)


@pytest.mark.parametrize("kinds", [*([kind] for kind in KEYS), ["long", "text"], ["double", "date"]])
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_upsert_equals_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("upsert")
    keys = [f"k {number}" for number in range(len(kinds))]
    schema = pa.schema(
        [*(pa.field(key, KEYS[kind][0]) for key, kind in zip(keys, kinds, strict=True)), ("v", pa.float64())]
    )
    row = st.fixed_dictionaries(
        {
            **{key: st.one_of(st.none(), KEYS[kind][1]) for key, kind in zip(keys, kinds, strict=True)},
            "v": VALUES,
        }
    )
    batches = data.draw(
        st.lists(
            st.lists(row, min_size=1, max_size=6, unique_by=lambda r: key_of(r, keys)), min_size=1, max_size=3
        )
    )
    partitioned = data.draw(st.booleans()) and kinds[0] != "binary"
    target = Iceberg(
        "t",
        CATALOG,
        base_dir=folder,
        write_mode="upsert",
        join_cols=keys,
        partition_by=[{"column": keys[0], "transform": "identity"}] if partitioned else None,
    )
    expected: dict[tuple[Any, ...], dict[str, Any]] = {}
    for batch in batches:
        old = dict(expected)
        expected.update({key_of(r, keys): r for r in batch})
        changed = sum(
            key not in old or same(old[key]["v"]) != same(r["v"])
            for key, r in ((key_of(r, keys), r) for r in batch)
        )
        result = target.put(table(schema, batch))
        assert result.rows_written == changed
        assert result.rows_unchanged == len(batch) - changed
        assert result.rows_after == len(expected)
        assert shown(target.get().to_pylist()) == shown(list(expected.values()))


def upserting(tmp_path: Path, **options: Any) -> Iceberg:
    return Iceberg("t", CATALOG, base_dir=tmp_path, write_mode="upsert", join_cols=["id"], **options)


def test_a_batch_that_is_there_already_commits_nothing(tmp_path: Path) -> None:
    target = upserting(tmp_path)
    rows = pa.table({"id": [1, 2], "v": [1.0, 2.0]})
    first = target.put(rows)
    again = target.put(rows)
    assert (again.rows_written, again.rows_unchanged, again.rows_before, again.rows_after) == (0, 2, 2, 2)
    assert again.snapshot_id == first.snapshot_id
    assert len(target.snapshots()) == 1


def test_a_new_column_arrives_in_the_same_commit(tmp_path: Path) -> None:
    target = upserting(tmp_path)
    target.put(pa.table({"id": [1, 2], "v": [1.0, 2.0]}))
    result = target.put(pa.table({"id": [2, 3], "v": [2.0, 3.0], "note": [None, "x"]}))
    assert (result.rows_written, result.rows_unchanged) == (1, 1)
    assert len(target.snapshots()) == 2
    assert shown(target.get().to_pylist()) == shown(
        [
            {"id": 1, "v": 1.0, "note": None},
            {"id": 2, "v": 2.0, "note": None},
            {"id": 3, "v": 3.0, "note": "x"},
        ]
    )


def test_only_the_files_concerned_are_rewritten(tmp_path: Path) -> None:
    target = upserting(tmp_path)
    for low in (0, 100, 200):
        target.put(pa.table({"id": list(range(low, low + 100)), "v": [0.0] * 100}))
    before = {task.file.file_path for task in target.table().scan().plan_files()}
    result = target.put(pa.table({"id": [150], "v": [1.0]}))
    after = {task.file.file_path for task in target.table().scan().plan_files()}
    assert len(before - after) == 1
    assert len(before & after) == 2
    assert result.rows_after == 300


def test_a_key_that_stands_twice_in_the_table_stands_once_afterwards(tmp_path: Path) -> None:
    plain = Iceberg("t", CATALOG, base_dir=tmp_path)
    plain.put(pa.table({"id": [1, 1, 2], "v": [1.0, 2.0, 3.0]}))
    result = upserting(tmp_path).put(pa.table({"id": [1], "v": [2.0]}))
    assert shown(plain.get().to_pylist()) == shown([{"id": 1, "v": 2.0}, {"id": 2, "v": 3.0}])
    assert (result.rows_written, result.rows_before, result.rows_after) == (1, 3, 2)


def test_twice_the_same_key_in_a_batch_is_refused(tmp_path: Path) -> None:
    target = upserting(tmp_path)
    with pytest.raises(LDPError, match=r"2 duplicate rows.*join_cols \['id'\]"):
        target.put(pa.table({"id": [7, 7, 7], "v": [1.0, 2.0, 3.0]}))
    assert not target.exists()


def test_rows_deleted_by_position_are_not_matched(tmp_path: Path) -> None:
    target = upserting(tmp_path)
    target.put(pa.table({"id": [1, 2, 3], "v": [1.0, 2.0, 3.0]}))
    target.table().delete("id = 2")
    result = target.put(pa.table({"id": [2, 3], "v": [9.0, 3.0]}))
    assert (result.rows_written, result.rows_unchanged, result.rows_after) == (1, 1, 3)
