"""Manifests are regrouped by partition, once, and the entries stay what they are."""

from __future__ import annotations

import datetime as dt
import itertools
from pathlib import Path

import pytest
from ldp_core.errors import LDPError, SnapshotNotFound
from ldp_maintenance.manifests import rewrite_manifests
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Manifests, Policy
from ldp_maintenance.testing import (
    DAY0,
    append,
    branch,
    catalog,
    delete_keys,
    delete_positions,
    entries_in_manifest_of_wrong_content,
    evolve_spec,
    files_on_disk,
    overwrite,
    rows,
    small_files,
    table,
    unreferenced_files,
    v3_table,
)
from pyiceberg.manifest import ManifestContent, ManifestEntryStatus

APART = {"commit.manifest-merge.enabled": "false"}
GO = Doing(commit=True)


def aim(made, policy=None):
    return Target(made.catalog, made.name(), policy or Policy())


def entries(made):
    """Path to (sequence number, snapshot, content of the manifest) of the live entries."""
    made.refresh()
    return {
        entry.data_file.file_path: (entry.sequence_number, entry.snapshot_id, manifest.content)
        for manifest in made.current_snapshot().manifests(made.io)
        for entry in manifest.fetch_manifest_entry(made.io)
    }


def manifests(made):
    made.refresh()
    return made.current_snapshot().manifests(made.io)


def test_small_manifests_become_one_and_a_second_run_finds_nothing(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    small_files(made, 12)
    before, known = rows(made), entries(made)
    seen = rewrite_manifests(aim(made), Doing())
    assert seen.status == "preview"
    assert seen.detail["manifests_before"] == 12
    assert len(manifests(made)) == 12
    done = rewrite_manifests(aim(made), GO)
    assert (done.status, done.detail) == ("done", seen.detail)
    (only,) = manifests(made)
    assert {e.status for e in only.fetch_manifest_entry(made.io)} == {ManifestEntryStatus.EXISTING}
    assert made.current_snapshot().summary.operation.value == "replace"
    assert made.current_snapshot().summary["manifests-replaced"] == "12"
    assert (rows(made), entries(made)) == (before, known)
    assert rewrite_manifests(aim(made), GO).status == "nothing"
    assert not unreferenced_files(made)


def test_each_manifest_holds_a_run_of_partitions(tmp_path: Path):
    made = table(catalog(tmp_path), partition="day", properties=APART)
    for turn in range(4):
        for day in range(6):
            append(made, [turn * 10 + day], at=DAY0 + dt.timedelta(days=day))
    before = rows(made)
    size = manifests(made)[0].manifest_length * 2
    small = Policy(manifests=Manifests(target_size_bytes=size))
    done = rewrite_manifests(aim(made, small), GO)
    found = manifests(made)
    assert 1 < len(found) == done.detail["manifests_after"] < 24
    runs = sorted(
        (min(days), max(days))
        for days in ([e.data_file.partition[0] for e in m.fetch_manifest_entry(made.io)] for m in found)
    )
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(runs))
    assert all(m.manifest_length <= size for m in found)
    assert rows(made) == before
    assert rewrite_manifests(aim(made, small), GO).status == "nothing"


def test_the_size_is_the_tables_own_property_and_the_policy_stands_above_it(tmp_path: Path):
    made = table(catalog(tmp_path), properties={**APART, "commit.manifest.target-size-bytes": "1"})
    small_files(made, 3)
    assert rewrite_manifests(aim(made), Doing()).status == "nothing"
    above = Policy(manifests=Manifests(target_size_bytes=1_000_000))
    assert rewrite_manifests(aim(made, above), Doing()).detail["manifests_after"] == 1


def test_a_property_that_is_no_number_is_named(tmp_path: Path):
    made = table(catalog(tmp_path), properties={**APART, "commit.manifest.target-size-bytes": "8MB"})
    small_files(made, 2)
    with pytest.raises(LDPError, match=r"commit.manifest.target-size-bytes is '8MB'"):
        rewrite_manifests(aim(made), GO)


def test_data_and_deletes_stay_apart_and_deletes_keep_applying(tmp_path: Path):
    made = table(catalog(tmp_path), partition="identity", properties=APART)
    first, second, third = small_files(made, 3)
    delete_positions(made, {first: [0], second: [1]}, apart=True)
    delete_positions(made, {third: [2]}, scoped=False)
    evolve_spec(made, None)
    delete_keys(made, [5])
    append(made, [5, 100])
    before, known = rows(made), entries(made)
    done = rewrite_manifests(aim(made), GO)
    assert done.detail["manifests_after"] == 4
    assert sorted((m.partition_spec_id, m.content) for m in manifests(made)) == [
        (0, ManifestContent.DATA),
        (0, ManifestContent.DELETES),
        (1, ManifestContent.DATA),
        (1, ManifestContent.DELETES),
    ]
    assert (rows(made), entries(made)) == (before, known)
    assert entries_in_manifest_of_wrong_content(made) == 0
    assert rewrite_manifests(aim(made), GO).status == "nothing"


def test_manifests_that_only_record_deletions_go(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    first, _ = small_files(made, 2)
    overwrite(made, first, [])
    assert len(manifests(made)) == 2
    done = rewrite_manifests(aim(made), GO)
    assert done.detail["manifests_without_live_entries"] == 1
    assert len(manifests(made)) == 1
    assert rewrite_manifests(aim(made), GO).status == "nothing"


def test_few_manifests_are_left_alone(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    small_files(made, 4)
    assert (
        rewrite_manifests(aim(made, Policy(manifests=Manifests(min_input_manifests=5))), GO).status
        == "nothing"
    )
    off = rewrite_manifests(aim(made, Policy(manifests=Manifests(enabled=False))), GO)
    assert off.status == "skipped"


def test_an_append_that_lands_meanwhile_is_kept(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    small_files(made, 3)
    other = made.catalog.load_table(made.name())
    landed = []

    def meanwhile(*_):
        if not landed:
            landed.extend(append(other, [100]))
            delete_positions(other, {landed[0]: [0]})
            append(other, [101])

    done = rewrite_manifests(aim(made), Doing(commit=True, progress=meanwhile))
    assert done.status == "done"
    assert [row[0] for row in rows(made)] == sorted([*range(30), 101], key=str)
    assert len(manifests(made)) == 2
    assert not unreferenced_files(made)


def test_another_that_did_it_meanwhile_leaves_nothing_to_do(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    small_files(made, 3)

    def meanwhile(*_):
        rewrite_manifests(aim(made), GO)

    assert rewrite_manifests(aim(made), Doing(commit=True, progress=meanwhile)).status == "nothing"
    made.refresh()
    assert len(made.metadata.snapshots) == 4
    assert not unreferenced_files(made)


def test_a_branch_is_rewritten_by_itself(tmp_path: Path):
    made = table(catalog(tmp_path), properties=APART)
    small_files(made, 2)
    branch(made, "dev")
    append(made, [50], branch="dev")
    main, before = made.current_snapshot(), rows(made, "dev")
    assert rewrite_manifests(aim(made), Doing(commit=True, branch="dev")).status == "done"
    made.refresh()
    assert made.current_snapshot() == main
    assert len(made.snapshot_by_name("dev").manifests(made.io)) == 1
    assert rows(made, "dev") == before
    with pytest.raises(SnapshotNotFound, match="no branch 'nope'"):
        rewrite_manifests(aim(made), Doing(branch="nope"))


def test_version_one(tmp_path: Path):
    made = table(catalog(tmp_path), format_version=1, properties=APART, partition="bucket")
    small_files(made, 3)
    before = rows(made)
    assert rewrite_manifests(aim(made), GO).status == "done"
    assert len(manifests(made)) == 1
    assert rows(made) == before
    assert rewrite_manifests(aim(made), GO).status == "nothing"


def test_version_three_is_refused_before_anything_is_touched(tmp_path: Path):
    made = v3_table(catalog(tmp_path))
    before = files_on_disk(made)
    for doing in (Doing(), GO):
        with pytest.raises(LDPError, match="format version 3"):
            rewrite_manifests(aim(made), doing)
    assert files_on_disk(made) == before


def test_an_empty_table_has_none(tmp_path: Path):
    assert rewrite_manifests(aim(table(catalog(tmp_path))), GO).status == "nothing"
