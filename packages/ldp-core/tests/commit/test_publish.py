"""Publishing: one commit, right totals, lost races, removed files, merged manifests."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.commit.retry import RetryPolicy
from ldp_core.errors import CommitConflict, TableNotFound
from ldp_core.testing.builders import append, data_files, new_table, orphans, write_parquet
from pyiceberg.table.update import RemoveSnapshotRefUpdate

QUICK = RetryPolicy(deadline=20, sleep=lambda _: None)
NAME = ("nyc", "rides")


def catalog(tmp_path: Path) -> LocalIcebergCatalog:
    return LocalIcebergCatalog("nyc", tmp_path / "wh")


def fresh(cat: LocalIcebergCatalog, **kwargs: str) -> Base:
    return load_base(cat, NAME, new_table(**kwargs))


def ids(cat: LocalIcebergCatalog) -> list[int]:
    return sorted(cat.load_table(NAME).scan().to_arrow()["id"].to_pylist())


def test_a_table_is_created_and_filled_in_one_commit(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    done = append(fresh(cat), "r1", [1, 2])
    table = cat.load_table(NAME)
    assert ids(cat) == [1, 2]
    assert table.metadata_location == done.metadata_location
    assert table.metadata_location.rsplit("/", 1)[1].startswith("00000-")
    assert table.properties["write.metadata.previous-versions-max"] == "20"
    assert done.attempts == 1
    assert not orphans(load_base(cat, NAME))


def test_loading_the_base_of_a_missing_table_makes_nothing(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    with pytest.raises(TableNotFound):
        load_base(cat, NAME)
    assert [path.name for path in (tmp_path / "wh").iterdir()] == ["nyc_catalog.db"]


def test_totals_agree_with_pyiceberg(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat, partitioned=True), "r1", [1, 2, 3])
    append(fresh(cat), "r2", [4], city="BKK")
    table = cat.load_table(NAME)
    first = next(task.file for task in table.scan().plan_files() if task.file.record_count == 3)
    base = fresh(cat)
    publish(base, lambda b: Change("delete", removed=(first,)))
    table = cat.load_table(NAME)
    table.append(table.scan().to_arrow())
    table = cat.load_table(NAME)
    files = table.inspect.files().to_pylist()
    ours = table.metadata.snapshots[-2].summary.additional_properties
    assert ours["deleted-records"] == "3"
    assert ours["total-records"] == "1"
    assert ours["total-data-files"] == "1"
    theirs = table.current_snapshot().summary.additional_properties
    assert theirs["total-records"] == str(sum(file["record_count"] for file in files)) == "2"
    assert theirs["total-data-files"] == str(len(files))
    assert theirs["total-files-size"] == str(sum(file["file_size_in_bytes"] for file in files))


def test_removed_files_leave_deleted_entries_and_others_keep_their_sequence_numbers(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    base = fresh(cat)
    data = f"{base.metadata.location}/data"
    paths = [write_parquet(base, f"{data}/{n}.parquet", {"id": [n], "city": ["x"]}) for n in (1, 2)]
    publish(base, lambda b: Change("append", added=data_files(b, paths)))
    append(fresh(cat), "r2", [3])
    gone = next(t.file for t in cat.load_table(NAME).scan().plan_files() if t.file.file_path == paths[0])
    base = fresh(cat)
    new = write_parquet(base, f"{base.metadata.location}/data/n.parquet", {"id": [9], "city": ["x"]})
    done = publish(base, lambda b: Change("overwrite", added=data_files(b, [new]), removed=(gone,)))
    assert ids(cat) == [2, 3, 9]
    table = cat.load_table(NAME)
    entries = [
        (entry.status.name, entry.sequence_number, entry.data_file.file_path)
        for manifest in table.current_snapshot().manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
    ]
    assert ("DELETED", 1, paths[0]) in entries
    assert ("EXISTING", 1, paths[1]) in entries
    assert ("ADDED", 3, new) in entries
    assert done.snapshot_id == table.current_snapshot().snapshot_id
    assert len([e for e in table.inspect.entries().to_pylist() if e["status"] != 2]) == 3


def test_a_file_that_is_gone_already_is_a_conflict(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    gone = next(iter(cat.load_table(NAME).scan().plan_files())).file
    publish(fresh(cat), lambda b: Change("delete", removed=(gone,)))
    with pytest.raises(CommitConflict, match="no longer holds"):
        publish(fresh(cat), lambda b: Change("delete", removed=(gone,)))
    assert ids(cat) == []
    assert not [o for o in orphans(load_base(cat, NAME)) if o.endswith((".avro", ".json"))]


def test_a_lost_race_is_rebased_with_the_same_snapshot_and_manifest(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    base = fresh(cat)
    append(fresh(cat), "r2", [2])
    done = append(base, "r3", [3], policy=QUICK)
    assert done.attempts == 2
    assert ids(cat) == [1, 2, 3]
    table = cat.load_table(NAME)
    assert [s.sequence_number for s in table.metadata.snapshots] == [1, 2, 3]
    assert table.current_snapshot().summary["total-records"] == "3"
    assert not orphans(load_base(cat, NAME))


def test_a_lost_creation_appends_to_the_winners_table(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    first, second = fresh(cat), fresh(cat)
    append(first, "r1", [1])
    done = append(second, "r2", [2], policy=QUICK)
    assert done.base.exists
    assert ids(cat) == [1, 2]
    assert not orphans(load_base(cat, NAME))


def test_a_recomputed_change_is_built_for_the_new_head(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    base = fresh(cat)
    append(fresh(cat), "r2", [2])
    heads: list[int | None] = []

    def build(at: Base) -> Change:
        heads.append(at.metadata.current_snapshot_id)
        return Change("append", summary={"seen": str(len(heads))})

    done = publish(base, build, policy=QUICK)
    assert len(set(heads)) == 2
    assert cat.load_table(NAME).current_snapshot().summary["seen"] == "2"
    assert done.attempts == 2


def test_attempts_are_bounded(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    other = iter(range(100))

    def build(base: Base) -> Change:
        append(fresh(cat), f"x{next(other)}", [7])
        return Change("append")

    with pytest.raises(CommitConflict, match="in each of 3 attempts"):
        publish(fresh(cat), build, policy=RetryPolicy(attempts=3, sleep=lambda _: None))
    assert not orphans(load_base(cat, NAME))


def test_a_table_dropped_or_made_again_meanwhile_is_a_conflict(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    base = fresh(cat)
    cat.drop_table(NAME)
    with pytest.raises(CommitConflict, match="was dropped"):
        append(base, "r2", [2], policy=QUICK)
    append(fresh(cat), "r3", [3])
    with pytest.raises(CommitConflict, match="was replaced"):
        append(base, "r4", [4], policy=QUICK)
    assert ids(cat) == [3]


def test_a_branch_commit_cannot_turn_the_sequence_number_back(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r0", [5])
    table = cat.load_table(NAME)
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side").commit()
    cat.commit_table(table, (), (RemoveSnapshotRefUpdate.model_validate({"ref-name": "main"}),))
    base = fresh(cat)
    assert base.metadata.current_snapshot_id is None
    table = cat.load_table(NAME)
    table.append(table.scan().use_ref("side").to_arrow(), branch="side")
    done = append(base, "r1", [1], policy=QUICK)
    metadata = cat.load_table(NAME).metadata
    assert done.attempts == 2
    assert metadata.last_sequence_number == 3
    assert ids(cat) == [1]


def test_concurrent_schema_and_spec_changes_are_conflicts_that_rebase(tmp_path: Path) -> None:
    from pyiceberg.transforms import BucketTransform
    from pyiceberg.types import LongType

    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    base = fresh(cat)
    table = cat.load_table(NAME)
    with table.update_schema() as schema:
        schema.add_column("more", LongType())
    with table.update_spec() as spec:
        spec.add_field("id", BucketTransform(4))
    with pytest.raises(CommitConflict, match="attempts"):
        publish(base, lambda b: Change("append"), policy=RetryPolicy(attempts=1, sleep=lambda _: None))


def test_evolution_and_rows_arrive_in_one_commit(tmp_path: Path) -> None:
    from ldp_core._pyiceberg import schema_updates
    from pyiceberg.types import LongType

    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    base = fresh(cat)
    updates = schema_updates(base, lambda update: update.add_column("tip", LongType()) and None)
    path = write_parquet(base, f"{base.metadata.location}/data/a.parquet", {"id": [2], "city": ["x"]})
    before = base.metadata_location
    done = publish(
        base,
        lambda b: Change("append", added=data_files(b, [path]), updates=updates, properties={"a": "b"}),
    )
    table = cat.load_table(NAME)
    assert table.schema().column_names == ["id", "city", "tip"]
    assert table.current_snapshot().schema_id == table.metadata.current_schema_id == 1
    assert table.properties["a"] == "b"
    assert table.metadata.metadata_log[-1].metadata_file == before
    assert done.metadata_location == table.metadata_location
    assert ids(cat) == [1, 2]


def test_many_small_manifests_are_merged(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    for n in range(8):
        append(fresh(cat, **{"commit.manifest.min-count-to-merge": "4"}), f"r{n}", [n])
    table = cat.load_table(NAME)
    manifests = table.current_snapshot().manifests(table.io)
    assert len(manifests) <= 4
    assert ids(cat) == list(range(8))
    assert table.current_snapshot().summary["total-data-files"] == "8"
    entries = [e for m in manifests for e in m.fetch_manifest_entry(table.io)]
    assert sorted(e.sequence_number for e in entries) == list(range(1, 9))
    assert not orphans(load_base(cat, NAME))
    first = table.metadata.snapshots[0].snapshot_id
    assert len(list(table.scan(snapshot_id=first).plan_files())) == 1


def test_old_metadata_files_are_trimmed_where_the_table_wants_it(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    for n in range(7):
        append(fresh(cat, **{"write.metadata.previous-versions-max": "3"}), f"r{n}", [n])
    kept = sorted((tmp_path / "wh/nyc/rides/metadata").glob("*.metadata.json"))
    assert len(kept) == 4
    assert not orphans(load_base(cat, NAME))


def test_a_table_made_elsewhere_keeps_its_old_metadata(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    cat.create_namespace("nyc")
    cat.create_table(NAME, new_table().schema, properties={"write.metadata.previous-versions-max": "2"})
    for n in range(4):
        append(load_base(cat, NAME), f"r{n}", [n])
    assert len(list((tmp_path / "wh/nyc/rides/metadata").glob("*.metadata.json"))) == 5


def test_retention_set_on_main_survives(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    append(fresh(cat), "r1", [1])
    table = cat.load_table(NAME)
    snapshot = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_branch(snapshot, "main", min_snapshots_to_keep=7).commit()
    append(fresh(cat), "r2", [2])
    assert cat.load_table(NAME).metadata.refs["main"].min_snapshots_to_keep == 7


def test_a_version_1_table_can_be_written(tmp_path: Path) -> None:
    cat = catalog(tmp_path)
    cat.create_namespace("nyc")
    cat.create_table(NAME, new_table().schema, properties={"format-version": "1"})
    append(load_base(cat, NAME), "r1", [1])
    append(load_base(cat, NAME), "r2", [2])
    assert ids(cat) == [1, 2]
