"""The numbers of a table, and its grades."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import pytest
from ldp_core.errors import SnapshotNotFound
from ldp_maintenance.health import GRADES, THRESHOLDS, grade_of, grades_of, health
from ldp_maintenance.layout import Layout, layout_of, measure, speed_up
from ldp_maintenance.manifests import rewrite_manifests
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Policy, Rewrite
from ldp_maintenance.testing import (
    DAY0,
    append,
    branch,
    catalog,
    delete_keys,
    delete_positions,
    files_on_disk,
    live_files,
    overwrite,
    small_files,
    table,
    v3_table,
)


def aim(made, policy=None):
    return Target(made.catalog, made.name(), policy or Policy())


def test_the_numbers_are_those_of_the_files(tmp_path: Path):
    made = table(catalog(tmp_path), partition="day")
    first, *_ = small_files(made, 4)
    append(made, range(100, 110), at=DAY0 + dt.timedelta(days=1))
    delete_positions(made, {first: [0, 1]})
    delete_keys(made, [999], partition=live_files(made)[first].partition)
    found = measure(aim(made))
    assert (found.data_files, found.rows, found.partitions) == (5, 50, 2)
    assert (found.small_files, found.mergeable_files) == (5, 3)
    assert (found.delete_files, found.deletes, found.delete_reads) == (2, 3, 5)
    assert (found.manifests, found.snapshots) == (7, 7)
    assert found.manifests_per_partition == 2.5
    assert (found.files_per_partition, found.most_files_in_a_partition) == (2.5, 4)
    assert found.data_bytes == sum(Path(p.removeprefix("file://")).stat().st_size for p in live_files(made))
    assert found.metadata_bytes == Path(made.metadata_location.removeprefix("file://")).stat().st_size
    assert found.skew > 1
    assert layout_of(aim(made)) == found.to_dict()
    json.dumps(found.to_dict())


def test_a_delete_that_is_older_than_a_file_is_no_work_for_it(tmp_path: Path):
    made = table(catalog(tmp_path))
    (first,) = small_files(made, 1)
    delete_positions(made, {first: [0, 1]})
    overwrite(made, first, range(2, 10))
    found = measure(aim(made))
    assert (found.delete_files, found.deletes, found.delete_reads) == (1, 0, 0)


def test_the_target_is_the_policys_then_the_tables(tmp_path: Path):
    made = table(catalog(tmp_path), properties={"write.target-file-size-bytes": "1000"})
    small_files(made, 1)
    assert (measure(aim(made)).target_file_bytes, measure(aim(made)).small_files) == (1000, 0)
    big = Policy(rewrite=Rewrite(target_file_size_bytes=10**9))
    assert measure(aim(made, big)).small_files == 1


def test_branches_and_empty_tables(tmp_path: Path):
    place = catalog(tmp_path)
    made = table(place)
    assert measure(aim(made)).data_files == 0
    assert measure(aim(made)).read_amplification == 1
    small_files(made, 1)
    branch(made, "dev")
    append(made, [7], branch="dev")
    assert measure(aim(made), "dev").data_files == 2
    with pytest.raises(SnapshotNotFound):
        measure(aim(made), "nope")
    assert measure(aim(v3_table(place))).delete_files == 1


def test_fewer_files_and_deletes_are_a_faster_scan():
    base = Layout("a.b", data_files=100, data_bytes=10**9, rows=10**6, target_file_bytes=10**8, manifests=100)
    fewer = replace(base, data_files=10)
    assert speed_up(base, fewer) > 1
    assert speed_up(base, base) == 1
    assert speed_up(replace(base, manifests=500), base) > 1
    worse = replace(base, delete_reads=300, deletes=10**5)
    assert speed_up(worse, base) > 1
    assert speed_up(worse.to_dict(), base.to_dict()) == pytest.approx(speed_up(worse, base), rel=0.01)
    assert worse.read_amplification > base.read_amplification > fewer.read_amplification >= 1


def test_each_bound_is_the_last_value_of_its_grade():
    for name, bounds in THRESHOLDS.items():
        assert list(bounds) == sorted(bounds)
        for letter, bound in zip(GRADES, bounds, strict=False):
            assert grade_of(name, bound) == letter
        assert grade_of(name, bounds[-1] * 1.01) == "F"


def test_a_table_of_large_files_is_well_and_one_of_small_files_is_not():
    well = Layout(
        "a.b", data_files=10, data_bytes=1280 * 2**20, rows=10**7, target_file_bytes=128 * 2**20,
        manifests=1, manifests_per_partition=1, partitions=1, snapshots=5,
    )  # fmt: skip
    assert {one.grade for one in grades_of(well)} == {"A"}
    ill = replace(well, data_files=10_000, mergeable_files=9_999, deletes=4 * 10**6, snapshots=9_999)
    grades = {one.dimension: one.grade for one in grades_of(ill)}
    assert grades["small_files"] == grades["delete_ratio"] == grades["snapshots"] == "F"
    assert grades["skew"] == "A"


def test_health_says_what_operations_win_and_changes_nothing(tmp_path: Path):
    made = table(catalog(tmp_path), properties={"commit.manifest-merge.enabled": "false"})
    first, *_ = small_files(made, 12)
    delete_positions(made, {first: [0]})
    overwrite(made, first, [1])
    before = files_on_disk(made)
    found = health(aim(made))
    assert files_on_disk(made) == before
    assert found.grade == "F"
    wins = {win.operation: win for win in found.wins if win.status == "preview"}
    assert wins["rewrite-manifests"].files >= 11
    assert wins["remove-dangling-deletes"].files == 1
    ranked = [win.files for win in found.wins if win.status == "preview"]
    assert ranked == sorted(ranked, reverse=True)
    assert any(line.startswith("F  small files: 11 of 12 data files") for line in found.lines())
    json.dumps(found.to_dict())
    assert health(aim(made), wins=False).wins == ()
    rewrite_manifests(aim(made), Doing(commit=True))
    assert {g.dimension: g.grade for g in health(aim(made), wins=False).grades}[
        "manifests_per_partition"
    ] == "A"
