"""The order of rows: the table's own by default, one's own keys, a z-order; each is done once."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import random
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.errors import LDPError, UsageError
from ldp_core.fs import local_path
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import Ordering, Policy, Rewrite, SortKey
from ldp_maintenance.rewrite import zorder
from ldp_maintenance.rewrite.run import rewrite_data_files
from ldp_maintenance.testing import builders, looks
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

RICH = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "name", StringType()),
    NestedField(3, "at", TimestamptzType()),
    NestedField(4, "price", DecimalType(12, 2)),
    NestedField(5, "key", UUIDType()),
    NestedField(6, "ratio", DoubleType()),
    NestedField(7, "place", StructType(NestedField(8, "zone", StringType()))),
)


def rewrite(table: Any, ordering: Ordering | None = None, **policy: Any) -> Outcome:
    """Rewrite, and make sure that no row changed."""
    before = sorted(map(repr, looks.rows(table)))
    policies = Policy(ordering=ordering or Ordering(), rewrite=Rewrite(skip_newest=None, **policy))
    outcome = rewrite_data_files(Target(table.catalog, ("db", "t"), policies), Doing(commit=True))
    table.refresh()
    assert sorted(map(repr, looks.rows(table))) == before
    return outcome


def column(table: Any, name: str) -> list[Any]:
    """A column of the only file, in the order of its rows."""
    (path,) = looks.live_files(table)
    return pq.read_table(local_path(path)).column(name).to_pylist()


def order_ids(table: Any) -> set[int | None]:
    return {file.sort_order_id for file in looks.live_files(table).values()}


def rich(folder: Path, order: SortOrder | None = None, *, files: int = 3) -> Any:
    """A table of many types, with nulls and NaN."""
    table = builders.catalog(folder).create_table(
        ("db", "t"), RICH, None, PartitionSpec(), order or SortOrder()
    )
    draw = random.Random(3)
    for number in range(files):
        rows = []
        for item in range(50):
            at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=draw.randrange(2000))
            row = {
                "id": number * 50 + item,
                "name": draw.choice("abcdefgh") * draw.randrange(1, 4),
                "at": at,
                "price": decimal.Decimal(draw.randrange(-99999, 99999)) / 100,
                "key": uuid.UUID(int=draw.getrandbits(128)).bytes,
                "ratio": draw.choice([math.nan, -0.0, 0.0, math.inf, draw.random()]),
                "place": {"zone": draw.choice("xyz")},
            }
            gone = draw.choice([None, "name", "at", "price", "key", "ratio", "place"])
            rows.append({**row, gone: None} if gone else row)
        table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
    return table


def test_maint_the_declared_order_is_the_default_and_is_stamped(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), sorted_by="id")
    builders.append(table, range(20, 40))
    builders.append(table, range(20))
    assert rewrite(table).detail["rewritten_data_files"] == 2
    assert column(table, "id") == list(range(40))
    assert order_ids(table) == {1}
    assert rewrite(table).status == "nothing"


def test_maint_a_lone_unsorted_file_is_sorted_once(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), sorted_by="id")
    builders.append(table, [3, 1, 2])
    assert rewrite(table, Ordering("none")).status == "nothing"
    assert rewrite(table).status == "done"
    assert column(table, "id") == [1, 2, 3]
    assert rewrite(table).status == "nothing"


def test_maint_the_stamp_is_true_only(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), sorted_by="id")
    builders.small_files(table, 2)
    assert rewrite(table, Ordering("none")).status == "done"
    assert order_ids(table) == {None}
    assert rewrite(table, Ordering("sort", (SortKey("id", nulls="first"),))).status == "done"
    assert order_ids(table) == {1}


def test_maint_declared_orders_with_transforms(tmp_path: Path) -> None:
    order = SortOrder(
        SortField(3, DayTransform(), SortDirection.DESC, NullOrder.NULLS_LAST),
        SortField(2, TruncateTransform(1), SortDirection.ASC, NullOrder.NULLS_FIRST),
        SortField(1, BucketTransform(3), SortDirection.ASC, NullOrder.NULLS_FIRST),
        SortField(8, IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_LAST),
        order_id=1,
    )
    table = rich(tmp_path, order)
    assert rewrite(table).status == "done"
    assert order_ids(table) == {1}
    (path,) = looks.live_files(table)
    rows = pq.read_table(local_path(path)).to_pylist()
    bucket = BucketTransform(3).transform(LongType())

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        day = (0, -row["at"].date().toordinal()) if row["at"] else (1, 0)
        name = (1, row["name"][:1]) if row["name"] else (0, "")
        zone = (0, row["place"]["zone"]) if row["place"] else (1, "")
        return day, name, bucket(row["id"]), zone

    assert [key(row) for row in rows] == sorted(key(row) for row in rows)
    assert rewrite(table).status == "nothing"


def test_maint_keys_of_ones_own_converge_without_a_declared_order(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path))
    builders.small_files(table, 3)
    keys = Ordering("sort", (SortKey("amount", "desc"),))
    assert rewrite(table, keys).status == "done"
    assert column(table, "id") == list(reversed(range(30)))
    assert order_ids(table) == {None}
    assert rewrite(table, keys).status == "nothing"
    assert rewrite(table).status == "nothing"
    assert rewrite(table, Ordering("sort", (SortKey("amount"),))).status == "done"
    builders.append(table, range(30, 33))
    assert rewrite(table, Ordering("sort", (SortKey("amount"),))).detail["rewritten_data_files"] == 2


def test_maint_what_cannot_be_ordered_by_is_said_in_a_line(tmp_path: Path) -> None:
    table = rich(tmp_path, files=1)
    with pytest.raises(UsageError, match=r"no column 'nmae' to order by; did you mean name\?"):
        rewrite(table, Ordering("sort", (SortKey("nmae"),)))
    with pytest.raises(UsageError, match="cannot be ordered by column 'place'"):
        rewrite(table, Ordering("sort", (SortKey("place"),)))
    with pytest.raises(LDPError, match="declares no sort order"):
        rewrite(table, Ordering("sort"))
    with pytest.raises(UsageError, match="two columns at least"):
        rewrite(table, Ordering("zorder", zorder=("id",)))
    with pytest.raises(UsageError, match="transform 'day' cannot apply to column 'name'"):
        rewrite(table, Ordering("sort", (SortKey("name", transform="day"),)))


@pytest.mark.parametrize(
    "columns",
    [("id", "ratio"), ("name", "key"), ("price", "at", "place.zone"), ("key", "ratio", "name", "id")],
)
def test_maint_any_type_can_be_z_ordered(tmp_path: Path, columns: tuple[str, ...]) -> None:
    table = rich(tmp_path)
    wanted = Ordering("zorder", zorder=columns)
    assert rewrite(table, wanted).status == "done"
    assert rewrite(table, wanted).status == "nothing"


def test_maint_z_order_clusters_both_columns(tmp_path: Path) -> None:
    """A sixteenth of the rows in a row spans about a quarter of each column, not all of one."""
    con = duckdb.connect()
    con.execute("SELECT setseed(0.5)")
    con.execute(
        "CREATE TABLE t AS "
        "SELECT (random() * 1e6)::BIGINT AS a, exp(random() * 20)::VARCHAR AS b FROM range(16384)"
    )
    rows = con.execute(zorder.ordered(con, "SELECT * FROM t", ["a", "b"], ["a", "b"], 16)).fetchall()
    assert sorted(rows) == sorted(con.execute("SELECT * FROM t").fetchall())
    ranks = [{value: n for n, value in enumerate(sorted(row[i] for row in rows))} for i in range(2)]
    for i in range(2):
        spans = []
        for first in range(0, 16384, 1024):
            held = [ranks[i][row[i]] for row in rows[first : first + 1024]]
            spans.append((max(held) - min(held)) / 16384)
        assert sum(spans) / len(spans) < 0.4


@given(st.lists(st.integers(0, 1023), min_size=1, max_size=6))
@settings(max_examples=50)
def test_maint_bits_are_interleaved(ranks: list[int]) -> None:
    code = 0
    for place, rank in enumerate(ranks):
        code |= zorder.spread(rank, len(ranks)) << place
    for place, rank in enumerate(ranks):
        assert sum(((code >> (bit * len(ranks) + place)) & 1) << bit for bit in range(10)) == rank


@pytest.mark.parametrize("own", [False, True])
def test_maint_files_moved_to_another_spec_are_sorted_before_they_say_so(tmp_path: Path, own: bool) -> None:
    table = builders.table(builders.catalog(tmp_path), sorted_by=None if own else "id")
    ids = random.Random(3).sample(range(100_000), 20_000)
    builders.append(table, ids)
    builders.evolve_spec(table, "bucket")
    ordering = Ordering(mode="sort", sort=(SortKey("id"),)) if own else None
    outcome = rewrite(table, ordering, output_spec=1)
    assert outcome.status == "done"
    parted, _ = outcome.snapshots
    assert {file.sort_order_id for file in looks.live_files(table, parted).values()} == {None}
    files = looks.live_files(table)
    assert len(files) == 4
    assert {file.sort_order_id for file in files.values()} == {None if own else 1}
    for path in files:
        held = pq.read_table(local_path(path)).column("id").to_pylist()
        assert held == sorted(held)
    assert rewrite(table, ordering, output_spec=1).status == "nothing"
