"""The tables that the other tests stand on are what they say."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from ldp_maintenance.testing import (
    DAY0,
    append,
    branch,
    catalog,
    delete_keys,
    delete_positions,
    entries_in_manifest_of_wrong_content,
    evolve_schema,
    evolve_spec,
    overwrite,
    referenced_files,
    rollback,
    rows,
    small_files,
    staged,
    table,
    tag,
    unreferenced_files,
    v3_table,
)


def ids(made, ref=None):
    return sorted(row[0] for row in rows(made, ref))


@pytest.mark.parametrize("partition", [None, "day", "month", "identity", "bucket"])
def test_rows_land_in_their_partitions(tmp_path: Path, partition):
    made = table(catalog(tmp_path), partition=partition)
    small_files(made, 2)
    append(made, range(20, 30), city="LA", at=DAY0 + dt.timedelta(days=40))
    assert ids(made) == list(range(30))
    assert made.scan(row_filter="city = 'LA'").to_arrow().num_rows == 10
    assert made.scan(row_filter="id = 21").to_arrow().num_rows == 1
    assert not unreferenced_files(made)


def test_a_table_of_version_one_is_one(tmp_path: Path):
    made = table(catalog(tmp_path), format_version=1)
    small_files(made, 3)
    assert made.metadata.format_version == 1
    assert ids(made) == list(range(30))


@pytest.mark.parametrize("scoped", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_position_deletes(tmp_path: Path, scoped, apart):
    made = table(catalog(tmp_path), partition="identity")
    first, second = small_files(made, 2)
    (third,) = append(made, range(20, 30), city="LA")
    delete_positions(made, {first: [0], second: [9], third: [1, 2]}, scoped=scoped, apart=apart)
    assert ids(made) == [n for n in range(30) if n not in (0, 19, 21, 22)]
    assert entries_in_manifest_of_wrong_content(made) == 0


def test_equality_deletes_hold_for_older_rows_only(tmp_path: Path):
    made = table(catalog(tmp_path))
    small_files(made, 2)
    delete_keys(made, [3, 4])
    append(made, [3])
    assert ids(made) == [n for n in range(20) if n != 4]


def test_evolved_specs_and_schemas_are_read_together(tmp_path: Path):
    made = table(catalog(tmp_path))
    small_files(made, 1)
    evolve_spec(made, "day")
    evolve_schema(made, rename=("amount", "price"))
    append(made, range(10, 20))
    evolve_spec(made, "identity")
    append(made, range(20, 25))
    assert len(made.metadata.specs()) == 3
    assert ids(made) == list(range(25))


def test_refs_and_unreferenced_snapshots(tmp_path: Path):
    made = table(catalog(tmp_path), sorted_by="id")
    (first, _) = small_files(made, 2)
    tag(made, "then")
    branch(made, "dev")
    append(made, [100], branch="dev")
    overwrite(made, first, [0, 1])
    lost = rollback(made)
    waiting = staged(made, [200])
    assert ids(made) == ids(made, "then") == list(range(20))
    assert ids(made, "dev") == [*range(20), 100]
    assert ids(made, lost) == [0, 1, *range(10, 20)]
    assert 200 in ids(made, waiting)
    named = {ref.snapshot_id for ref in made.metadata.refs.values()}
    assert not {lost, waiting} & named
    assert not unreferenced_files(made)
    assert made.sort_order().order_id == 1


@pytest.mark.parametrize("vectors", [True, False])
def test_a_table_of_version_three_is_read(tmp_path: Path, vectors):
    made = v3_table(catalog(tmp_path), vectors=vectors)
    assert made.metadata.format_version == 3
    assert ids(made) == list(range(1 if vectors else 0, 30))
    assert all(Path(path).is_file() for path in referenced_files(made))
