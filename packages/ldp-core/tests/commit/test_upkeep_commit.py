"""What upkeep needs of a commit: delete files, an older sequence number, manifests regrouped, a branch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.anchor import anchored
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.ledger import Ledger, Publish, read_all, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.publish import publish
from ldp_core.commit.verify import verified
from ldp_core.tables.scan_plan import plan
from ldp_core.tables.view import of_metadata
from ldp_core.testing import deletes
from ldp_core.testing.builders import append, data_files, new_table, orphans, write_parquet
from pyiceberg.manifest import DataFile, ManifestContent
from pyiceberg.table.update import SetPropertiesUpdate

NAME = ("nyc", "rides")


def fresh(cat: LocalIcebergCatalog) -> Base:
    return load_base(cat, NAME, new_table())


@pytest.fixture
def cat(tmp_path: Path) -> LocalIcebergCatalog:
    cat = LocalIcebergCatalog("nyc", tmp_path / "wh")
    append(fresh(cat), "r1", [1, 2, 3])
    append(fresh(cat), "r2", [4, 5])
    return cat


def ids(cat: LocalIcebergCatalog, **scan: int) -> list[int]:
    return sorted(cat.load_table(NAME).scan(**scan).to_arrow()["id"].to_pylist())


def live(base: Base) -> dict[str, DataFile]:
    head = base.metadata.current_snapshot()
    assert head is not None
    return {
        entry.data_file.file_path: entry.data_file
        for manifest in head.manifests(base.io)
        for entry in manifest.fetch_manifest_entry(base.io)
    }


def delete_rows(cat: LocalIcebergCatalog, *pairs: tuple[str, int]) -> list[DataFile]:
    table = cat.load_table(NAME)
    files = [deletes.delete_file(table, deletes.positions(pair)) for pair in pairs]
    deletes.commit(table, *files)
    return files


def test_a_dropped_delete_file_leaves_the_others_in_a_manifest_of_deletes(cat: LocalIcebergCatalog) -> None:
    files = list(live(fresh(cat)))
    first, second = delete_rows(cat, (files[0], 0), (files[1], 0))
    assert len(ids(cat)) == 3
    base = fresh(cat)
    dropped = live(base)[first.file_path]
    publish(base, lambda _: Change("replace", removed=(dropped,)))
    assert len(ids(cat)) == 4
    base = fresh(cat)
    assert first.file_path not in live(base)
    assert second.file_path in live(base)
    head = base.metadata.current_snapshot()
    assert head is not None
    contents = {manifest.content for manifest in head.manifests(base.io)}
    assert contents == {ManifestContent.DATA, ManifestContent.DELETES}
    for manifest in head.manifests(base.io):
        for entry in manifest.fetch_manifest_entry(base.io, discard_deleted=False):
            assert (entry.data_file.content.value == 0) == (manifest.content == ManifestContent.DATA)
    assert head.summary is not None
    assert head.summary.additional_properties["removed-delete-files"] == "1"
    assert head.summary.additional_properties["total-delete-files"] == "1"


def test_added_delete_files_stand_in_a_manifest_of_deletes(cat: LocalIcebergCatalog) -> None:
    base = fresh(cat)
    file = deletes.delete_file(cat.load_table(NAME), deletes.positions((next(iter(live(base))), 0)))
    publish(base, lambda _: Change("delete", added=(file,)))
    assert len(ids(cat)) == 4
    base = fresh(cat)
    head = base.metadata.current_snapshot()
    assert head is not None
    assert sorted(manifest.content for manifest in head.manifests(base.io))[-1] == ManifestContent.DELETES
    assert head.summary is not None
    assert head.summary.additional_properties["added-position-deletes"] == "1"


def test_files_with_an_older_sequence_number_are_under_younger_equality_deletes(
    cat: LocalIcebergCatalog,
) -> None:
    base = fresh(cat)
    began = base.metadata.last_sequence_number
    table = cat.load_table(NAME)
    import pyarrow as pa

    gone = deletes.delete_file(table, deletes.keys(1, "id", pa.int64(), [2]), equality=[1])
    deletes.commit(table, gone)
    old = list(live(base).values())
    path = write_parquet(
        base, f"{base.metadata.location}/data/all.parquet", {"id": [1, 2, 3, 4, 5], "city": ["x"] * 5}
    )
    base = fresh(cat)
    added = data_files(base, [path])
    publish(base, lambda _: Change("replace", added=added, removed=tuple(old), sequence=began))
    base = fresh(cat)
    scan = plan(base.metadata, base.io, None)
    assert [(file.path, file.sequence, len(file.deletes)) for file in scan.files] == [(path, began, 1)]


def test_regrouped_manifests_hold_the_same_files(cat: LocalIcebergCatalog) -> None:
    base = fresh(cat)
    before = live(base)

    def one(manifests, metadata, old):  # type: ignore[no-untyped-def]
        from ldp_core.commit._manifests import existing

        entries = [existing(e) for item in old for e in item.fetch_manifest_entry(base.io)]
        return [manifests.rewrite(metadata, metadata.schema(), 0, entries)]

    publish(base, lambda _: Change("replace", regroup=one))
    base = fresh(cat)
    head = base.metadata.current_snapshot()
    assert head is not None
    assert len(head.manifests(base.io)) == 1
    assert set(live(base)) == set(before)
    assert ids(cat) == [1, 2, 3, 4, 5]
    assert not orphans(base)


def test_a_branch_is_built_on_its_own_head_and_main_stays(cat: LocalIcebergCatalog) -> None:
    table = cat.load_table(NAME)
    first = table.metadata.snapshots[0].snapshot_id
    table.manage_snapshots().create_branch(first, "dev").commit()
    base = fresh(cat)
    path = write_parquet(base, f"{base.metadata.location}/data/dev.parquet", {"id": [9], "city": ["x"]})
    publish(base, lambda b: Change("append", added=data_files(b, [path]), branch="dev"))
    table = cat.load_table(NAME)
    dev = table.metadata.refs["dev"].snapshot_id
    made = table.metadata.snapshot_by_id(dev)
    assert made is not None
    assert made.parent_snapshot_id == first
    assert ids(cat, snapshot_id=dev) == [1, 2, 3, 9]
    assert ids(cat) == [1, 2, 3, 4, 5]


def test_a_branch_of_a_table_without_main(tmp_path: Path) -> None:
    cat = LocalIcebergCatalog("nyc", tmp_path / "wh")
    fresh(cat)
    for number in range(3):
        base = fresh(cat)
        place = f"{base.metadata.location}/data/dev{number}.parquet"
        path = write_parquet(base, place, {"id": [number], "city": ["x"]})
        publish(base, lambda b, path=path: Change("append", added=data_files(b, [path]), branch="dev"))
    metadata = cat.load_table(NAME).metadata
    assert (metadata.current_snapshot(), list(metadata.refs)) == (None, ["dev"])
    assert ids(cat, snapshot_id=metadata.refs["dev"].snapshot_id) == [0, 1, 2]


def test_every_ledger_is_stood_on_the_snapshot_of_the_commit(cat: LocalIcebergCatalog) -> None:
    base = fresh(cat)
    head = base.metadata.current_snapshot()
    assert head is not None
    point = Point(head.snapshot_id, head.sequence_number or 0)
    given: dict[str, str] = {}
    for name in ("rides", "fares"):
        ledger = Ledger(name, "nyc.rides", str(base.metadata.table_uuid))
        given |= written(ledger.recorded(Publish(f"key-{name}", None, (point,)), ledger.uuid))
    cat.commit_table(cat.load_table(NAME), (), (SetPropertiesUpdate(updates=given),))
    done = publish(fresh(cat), lambda _: Change("replace"), guard=anchored)
    base = fresh(cat)
    view = of_metadata(base.metadata, base.io)
    ledgers = read_all(view.properties)
    assert {ledger.pipeline for ledger in ledgers} == {"rides", "fares"}
    for ledger in ledgers:
        assert ledger.anchor is not None
        assert ledger.anchor.snapshot == done.snapshot_id
        cut = replace(
            view, snapshots={done.snapshot_id: view.snapshots[done.snapshot_id]}, names=None, log=()
        )
        known = verified(cut, ledger.pipeline)
        assert known is not None
        assert known.single(f"key-{ledger.pipeline}")
