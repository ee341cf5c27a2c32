"""What expiry keeps, what it removes, and which files go with it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import LDPError, UsageError
from ldp_core.fs import local_path
from ldp_maintenance import testing
from ldp_maintenance.config.resolve import resolve
from ldp_maintenance.errors import Refused
from ldp_maintenance.expire import expire_snapshots
from ldp_maintenance.model import Doing, Target
from ldp_maintenance.policy import Expire, Policy
from ldp_maintenance.testing import builders, looks
from pyiceberg.table import Table
from pyiceberg.table.statistics import PartitionStatisticsFile, StatisticsFile
from pyiceberg.table.update import SetPartitionStatisticsUpdate

assert testing


def _later(days: float = 10) -> dt.datetime:
    return dt.datetime.now(dt.UTC) + dt.timedelta(days=days)


def _run(
    table: Table, *, days: float = 10, commit: bool = True, properties: Any = None, **expire: Any
) -> Any:
    doing = Doing(commit=commit, clock=lambda: _later(days), written_out=bool(expire.pop("written_out", 0)))
    if properties is not None:
        table.transaction().set_properties(properties).commit_transaction()
    policy = Policy(expire=Expire(**expire))
    outcome = expire_snapshots(Target(table.catalog, ("db", "t"), policy), doing)
    table.refresh()
    return outcome


def _ids(table: Table) -> list[int]:
    return [item.snapshot_id for item in table.metadata.snapshots]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return builders.table(builders.catalog(tmp_path))


def test_maint_expire_old_snapshots_go_with_the_files_that_only_they_hold(table: Table) -> None:
    paths = builders.small_files(table, 3)
    builders.overwrite(table, paths[0], range(10))
    before = _ids(table)
    rows = looks.rows(table)
    outcome = _run(table)
    assert outcome.status == "done"
    assert _ids(table) == before[-1:]
    assert outcome.detail["expired_snapshot_ids"] == [str(item) for item in before[:-1]]
    assert not local_path(paths[0]).exists()
    assert local_path(paths[1]).exists()
    assert looks.rows(table) == rows
    assert not looks.unreferenced_files(table)
    assert outcome.detail["files"]["data"] == 1
    assert outcome.detail["deleted_files"] == sum(outcome.detail["files"].values())


def test_maint_expire_a_second_run_has_nothing_to_do(table: Table) -> None:
    builders.small_files(table, 3)
    _run(table)
    location = table.metadata_location
    assert _run(table).status == "nothing"
    assert table.metadata_location == location


def test_maint_expire_a_preview_tells_the_same_and_changes_nothing(table: Table) -> None:
    paths = builders.small_files(table, 2)
    builders.overwrite(table, paths[0], range(10))
    before = looks.files_on_disk(table)
    preview = _run(table, commit=False)
    assert preview.status == "preview"
    assert looks.files_on_disk(table) == before
    done = _run(table)
    for key in ("expired_snapshot_ids", "protected_snapshot_ids", "files"):
        assert preview.detail[key] == done.detail[key]


def test_maint_expire_defaults_five_days_and_one_snapshot(table: Table) -> None:
    builders.small_files(table, 3)
    assert _run(table, days=4.9).status == "nothing"
    assert _run(table, days=5.1).status == "done"
    assert len(_ids(table)) == 1


def test_maint_expire_properties_of_the_table_hold_before_the_defaults_and_after_the_policy(
    table: Table,
) -> None:
    builders.small_files(table, 4)
    keep = {"history.expire.max-snapshot-age-ms": str(1000), "history.expire.min-snapshots-to-keep": "3"}
    _run(table, days=1, properties=keep)
    assert len(_ids(table)) == 3
    _run(table, days=1, min_snapshots_to_keep=2)
    assert len(_ids(table)) == 2


def test_maint_expire_says_why_snapshots_stay(table: Table) -> None:
    builders.small_files(table, 4)
    first, _, third, last = _ids(table)
    builders.tag(table, "release", first)
    outcome = _run(table, keep_last=2)
    assert outcome.detail["protected_snapshot_ids"] == {
        "current": [str(last)],
        "refs": [str(first), str(last)],
        "branch_min_snapshots": [],
        "retain_last": [str(third), str(last)],
        "idempotency_key": [],
        "key_ancestry": [],
    }
    assert any("kept by: current 1, refs 2, retain_last 2" in line for line in outcome.lines)


def test_maint_expire_branches_keep_their_own_ancestry(table: Table) -> None:
    builders.small_files(table, 3)
    builders.branch(table, "dev", _ids(table)[1])
    table.manage_snapshots().create_branch(
        snapshot_id=_ids(table)[1], branch_name="audit", min_snapshots_to_keep=2
    ).commit()
    table.refresh()
    _run(table)
    assert len(_ids(table)) == 3
    assert set(table.metadata.refs) == {"main", "dev", "audit"}


def test_maint_expire_a_snapshot_staged_a_moment_ago_stays(table: Table) -> None:
    builders.append(table, range(5))
    wap = builders.staged(table, range(5, 9))
    builders.append(table, range(9, 12))
    assert _run(table, days=1).status == "nothing"
    assert wap in _ids(table)
    outcome = _run(table, days=1, min_snapshots_to_keep=1)
    assert wap in _ids(table)
    _run(table)
    assert wap not in _ids(table)
    assert outcome.detail["protected_snapshot_ids"]["unreferenced_young"] == [str(wap)]


def test_maint_expire_a_rolled_back_snapshot_stays_until_it_is_old(table: Table) -> None:
    builders.small_files(table, 2)
    left = builders.rollback(table)
    _run(table, days=4)
    assert left in _ids(table)
    _run(table, days=6)
    assert left not in _ids(table)
    assert not looks.unreferenced_files(table)


def test_maint_expire_drops_refs_only_where_an_age_is_set_and_never_pins(table: Table) -> None:
    builders.small_files(table, 2)
    first = _ids(table)[0]
    builders.tag(table, "old", first)
    builders.tag(table, "ldp_ds_train_v1", first)
    _run(table)
    assert {"old", "ldp_ds_train_v1"} <= set(table.metadata.refs)
    outcome = _run(table, max_ref_age_days=7)
    assert outcome.detail["dropped_refs"] == ["old"]
    assert set(table.metadata.refs) == {"main", "ldp_ds_train_v1"}
    assert first in _ids(table)


def test_maint_expire_a_ref_of_an_own_age_goes_and_its_snapshot_with_it(table: Table) -> None:
    builders.small_files(table, 2)
    first = _ids(table)[0]
    table.manage_snapshots().create_tag(first, "short", max_ref_age_ms=60_000).commit()
    table.refresh()
    _run(table)
    assert "short" not in table.metadata.refs
    assert first not in _ids(table)


@pytest.mark.parametrize("sign", ["false", "False", " FALSE ", "no", "0", ""])
def test_maint_expire_refuses_where_garbage_collection_is_off(table: Table, sign: str) -> None:
    builders.small_files(table, 2)
    with pytest.raises(Refused, match=r"gc\.enabled"):
        _run(table, properties={"gc.enabled": sign})
    assert len(_ids(table)) == 2


@pytest.mark.parametrize(
    "given",
    [
        {"max_snapshot_age_days": -1},
        {"min_snapshots_to_keep": -1},
        {"max_ref_age_days": -0.5},
        {"keep_last": -3},
        {"keep_metadata_versions": -1},
    ],
)
def test_maint_expire_refuses_negative_amounts(table: Table, given: Any) -> None:
    builders.small_files(table, 2)
    for written_out in (False, True):
        with pytest.raises(UsageError, match="negative"):
            _run(table, written_out=written_out, **given)
    assert len(_ids(table)) == 2


def test_maint_expire_refuses_a_negative_property(table: Table) -> None:
    builders.small_files(table, 2)
    with pytest.raises(UsageError, match="negative"):
        _run(table, properties={"history.expire.max-snapshot-age-ms": "-1"})
    with pytest.raises(UsageError, match="whole number"):
        _run(table, properties={"history.expire.max-snapshot-age-ms": "five"})


@pytest.mark.parametrize("age", [str(2**63 - 1), 99_999_999, 1e300, 1.7e308])
def test_maint_expire_an_age_without_end_keeps_everything(table: Table, age: Any) -> None:
    builders.small_files(table, 2)
    named = {"properties": {"history.expire.max-snapshot-age-ms": age}}
    outcome = _run(table, **(named if isinstance(age, str) else {"max_snapshot_age_days": age}))
    assert outcome.status == "nothing"
    assert outcome.detail["older_than"] == "0001-01-01T00:00:00.000Z"
    assert len(_ids(table)) == 2


def test_maint_expire_zero_has_to_be_written_out(table: Table) -> None:
    builders.small_files(table, 2)
    with pytest.raises(UsageError, match="is 0"):
        _run(table, max_snapshot_age_days=0)
    assert len(_ids(table)) == 2
    _run(table, days=0.001, max_snapshot_age_days=0, written_out=True)
    assert len(_ids(table)) == 1


def test_maint_expire_tells_a_person_which_files_go(table: Table) -> None:
    builders.small_files(table, 3)
    table.delete("id >= 0")
    preview, done = (
        _run(table, max_snapshot_age_days=1, keep_metadata_versions=1, commit=commit)
        for commit in (False, True)
    )
    assert any("would delete 9 files: data 3, manifest 3, manifest list 3" in line for line in preview.lines)
    assert any("would keep 1 older metadata files" in line for line in preview.lines)
    metadata = done.detail["files"]["metadata"]
    assert done.detail["deleted_files"] == 9 + metadata
    assert any(f"deleted {9 + metadata} files" in line for line in done.lines)


def test_maint_expire_a_zero_that_was_written_out_allows_no_other_one(table: Table) -> None:
    builders.small_files(table, 2)
    with pytest.raises(UsageError, match="the age of snapshots is 0"):
        _run(
            table,
            min_snapshots_to_keep=0,
            written_out=True,
            properties={"history.expire.max-snapshot-age-ms": "0"},
        )
    policy = resolve(properties=table.properties, command_line={"expire.keep_metadata_versions": 0})
    with pytest.raises(UsageError, match="the age of snapshots is 0"):
        expire_snapshots(Target(table.catalog, ("db", "t"), policy), Doing(commit=True, written_out=True))
    assert len(_ids(table)) == 2


def test_maint_expire_statistics_of_expired_snapshots_go_with_their_files(table: Table) -> None:
    builders.small_files(table, 2)
    first, last = _ids(table)
    made = []
    for snapshot in (first, last):
        for kind in ("stats", "partition-stats"):
            path = f"{table.location()}/metadata/{kind}-{snapshot}.puffin"
            local_path(path).write_bytes(b"x" * 7)
            made.append(path)
        stats = StatisticsFile.model_validate(
            {
                "snapshot-id": snapshot,
                "statistics-path": made[-2],
                "file-size-in-bytes": 7,
                "file-footer-size-in-bytes": 1,
                "blob-metadata": [],
            }
        )
        parts = PartitionStatisticsFile.model_validate(
            {"snapshot-id": snapshot, "statistics-path": made[-1], "file-size-in-bytes": 7}
        )
        with table.update_statistics() as update:
            update.set_statistics(stats)
        table.catalog.commit_table(table, (), (SetPartitionStatisticsUpdate(partition_statistics=parts),))
        table.refresh()
    outcome = _run(table)
    assert [item.snapshot_id for item in table.metadata.statistics] == [last]
    assert [item.snapshot_id for item in table.metadata.partition_statistics] == [last]
    assert [local_path(path).exists() for path in made] == [False, False, True, True]
    assert outcome.detail["files"]["statistics"] == outcome.detail["files"]["partition_statistics"] == 1


def test_maint_expire_the_trim_of_metadata_files(table: Table) -> None:
    builders.small_files(table, 6)
    outcome = _run(table, days=1, keep_metadata_versions=2)
    assert outcome.status == "done"
    assert len(_ids(table)) == 6
    assert len(table.metadata.metadata_log) == 2
    found = [path for path in looks.files_on_disk(table) if path.endswith(".metadata.json")]
    assert len(found) == 3
    assert not looks.unreferenced_files(table)
    assert _run(table, days=1, keep_metadata_versions=2).status == "nothing"


def test_maint_expire_an_entry_that_moved_to_another_manifest_keeps_its_file(tmp_path: Path) -> None:
    table = builders.table(
        builders.catalog(tmp_path),
        properties={"commit.manifest.min-count-to-merge": "2", "commit.manifest-merge.enabled": "true"},
    )
    paths = builders.small_files(table, 5)
    outcome = _run(table)
    assert looks.rows(table) == [row for row in looks.rows(table) if row]
    assert len(looks.rows(table)) == 50
    assert all(local_path(path).exists() for path in paths)
    assert outcome.detail["files"]["manifest"] > 0
    assert "data" not in outcome.detail["files"]


def test_maint_expire_merge_on_read_deletes_go_once_nothing_holds_them(table: Table) -> None:
    path = builders.append(table, range(10))[0]
    builders.delete_positions(table, {path: [1, 2]})
    builders.overwrite(table, path, range(3, 10))
    rows = looks.rows(table)
    _run(table)
    assert looks.rows(table) == rows
    assert not looks.unreferenced_files(table)


def test_maint_expire_equality_deletes_and_branches_survive(table: Table) -> None:
    builders.small_files(table, 2)
    builders.branch(table, "dev")
    builders.delete_keys(table, [3, 4])
    before = looks.rows(table), looks.rows(table, "dev")
    _run(table)
    assert (looks.rows(table), looks.rows(table, "dev")) == before
    assert not looks.unreferenced_files(table)


def test_maint_expire_format_version_one(tmp_path: Path) -> None:
    table = builders.table(builders.catalog(tmp_path), format_version=1)
    paths = builders.small_files(table, 3)
    builders.overwrite(table, paths[0], range(10))
    rows = looks.rows(table)
    _run(table)
    assert looks.rows(table) == rows
    assert len(_ids(table)) == 1
    assert not looks.unreferenced_files(table)


def test_maint_expire_of_version_three_is_refused_before_anything_is_touched(tmp_path: Path) -> None:
    from ldp_maintenance.testing.three import v3_table

    table = v3_table(builders.catalog(tmp_path), "t")
    before = looks.files_on_disk(table)
    with pytest.raises(Refused, match="format version 3"):
        _run(table, days=400)
    assert looks.files_on_disk(table) == before


def test_maint_expire_a_missing_manifest_of_what_stays_is_refused(table: Table) -> None:
    builders.small_files(table, 3)
    last = table.current_snapshot()
    assert last is not None
    local_path(last.manifest_list).unlink()
    with pytest.raises(LDPError, match="cannot be read"):
        _run(table)
    assert len(_ids(table)) == 3


def test_maint_expire_a_missing_manifest_list_of_what_goes_is_told(table: Table) -> None:
    builders.small_files(table, 3)
    first = table.metadata.snapshots[0].manifest_list
    local_path(first).unlink()
    outcome = _run(table)
    assert len(_ids(table)) == 1
    assert outcome.detail["unread"] == [first]


def test_maint_expire_files_registered_in_place_stay(tmp_path: Path, table: Table) -> None:
    path = builders.append(table, range(3))[0]
    far = tmp_path / "elsewhere.parquet"
    far.write_bytes(local_path(path).read_bytes())
    table.add_files([str(far)])
    builders.overwrite(table, str(far), range(3, 6))
    _run(table, properties={"ldp.in-place": "true"})
    assert far.exists()


def test_maint_expire_each_deleted_file_is_audited_and_the_rate_holds(table: Table) -> None:
    builders.small_files(table, 6)
    told: list[Any] = []
    doing = Doing(commit=True, clock=lambda: _later(), audit=told.append, deletes_per_second=50, jobs=3)
    outcome = expire_snapshots(Target(table.catalog, ("db", "t")), doing)
    assert len(told) == outcome.detail["deleted_files"] == 5
    assert set(told[0]) == {"ts", "table", "operation", "path", "bytes", "reason"}
    assert {item["table"] for item in told} == {"db.t"}
    assert sum(item["bytes"] for item in told) == outcome.detail["deleted_bytes"]
