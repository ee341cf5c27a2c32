"""The private API of pyiceberg that the commit path uses is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core._pyiceberg import manifest_entries, metadata_files, parsed, remembered, staged_table
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.fs import local_path
from ldp_core.testing.builders import append, new_table
from pyiceberg.manifest import ManifestEntry
from pyiceberg.table.update import AddSchemaUpdate, AssertCreate, AssignUUIDUpdate, SetPropertiesUpdate


def test_a_create_transaction_shows_its_table_and_updates(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    catalog.create_namespace("nyc")
    new = new_table(a="b")
    transaction = catalog.create_table_transaction(("nyc", "t"), new.schema, properties=new.properties)
    table, updates = staged_table(transaction)
    assert table.name() == ("nyc", "t")
    assert table.properties == {"a": "b"}
    assert isinstance(updates[0], AssignUUIDUpdate)
    assert any(isinstance(update, AddSchemaUpdate) for update in updates)
    done = catalog.commit_table(table, (AssertCreate(),), updates)
    assert done.metadata.table_uuid == table.metadata.table_uuid


def test_the_metadata_files_of_commits_are_recorded_by_thread(tmp_path: Path) -> None:
    from threading import Thread

    catalog = LocalIcebergCatalog("nyc", tmp_path)
    catalog.create_namespace("nyc")
    table = catalog.create_table(("nyc", "t"), new_table().schema)

    def other() -> None:
        with metadata_files(catalog):
            catalog.load_table(("nyc", "t")).transaction().set_properties(x="y").commit_transaction()

    with metadata_files(catalog) as written:
        thread = Thread(target=other)
        thread.start()
        thread.join()
        assert written == []
        table = catalog.load_table(("nyc", "t"))
        table.transaction().set_properties(a="b").commit_transaction()
    assert written == [table.metadata_location]
    table.transaction().set_properties(a="c").commit_transaction()
    assert len(written) == 1


def test_a_load_takes_parsed_metadata_while_the_catalog_names_its_file(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    name = ("nyc", "t")
    append(load_base(catalog, name, new_table()), "r0", [0])
    base = load_base(catalog, name)
    local_path(base.metadata_location).rename(tmp_path / "aside")
    with parsed(catalog, base):
        assert catalog.load_table(name).metadata == base.metadata
    (tmp_path / "aside").rename(local_path(base.metadata_location))
    append(load_base(catalog, name), "r1", [1])
    with parsed(catalog, base):
        assert len(catalog.load_table(name).metadata.snapshots) == 2


def test_a_commit_copies_no_snapshot(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    name = ("nyc", "t")
    append(load_base(catalog, name, new_table()), "r0", [0])
    base = load_base(catalog, name)
    before = base.metadata.model_dump_json()
    with parsed(catalog, base):
        done = catalog.commit_table(
            catalog.load_table(name), (), (SetPropertiesUpdate(updates={"a": "b"}),)
        ).metadata
    assert done.snapshots[0] is base.metadata.snapshots[0]
    assert done.snapshots is not base.metadata.snapshots
    assert base.metadata.model_dump_json() == before
    assert catalog.load_table(name).metadata == done
    append(load_base(catalog, name), "r1", [1])
    assert len(done.snapshots) == len(base.metadata.snapshots) == 1


def test_a_load_takes_the_metadata_that_this_process_wrote_while_its_file_is_the_same(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    name = ("nyc", "t")
    append(load_base(catalog, name, new_table()), "r0", [0])
    append(load_base(catalog, name), "r1", [1])
    kept = load_base(catalog, name)
    read = catalog.load_table(name)
    assert kept.metadata == read.metadata
    assert repr(kept.metadata) == repr(read.metadata)
    assert load_base(LocalIcebergCatalog("nyc", tmp_path), name).metadata is kept.metadata
    file = local_path(kept.metadata_location)
    content = file.read_bytes()
    file.unlink()
    with remembered(catalog), pytest.raises(FileNotFoundError):
        catalog.load_table(name)
    file.write_bytes(content.replace(b"total-records", b"other-records"))
    assert "other-records" in load_base(catalog, name).metadata.model_dump_json()


def test_others_that_commit_are_seen_at_once(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    name = ("nyc", "t")
    append(load_base(catalog, name, new_table()), "r0", [0])
    assert len(load_base(catalog, name).metadata.snapshots) == 1
    LocalIcebergCatalog("nyc", tmp_path).load_table(name).transaction().set_properties(
        a="b"
    ).commit_transaction()
    assert load_base(catalog, name).metadata.properties["a"] == "b"


@pytest.mark.parametrize("codec", ["gzip", "null", "zstandard"])
def test_entries_of_manifests_are_those_that_pyiceberg_reads(tmp_path: Path, codec: str) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    name = ("nyc", "t")
    new = new_table(**{"write.avro.compression-codec": codec, "commit.manifest.min-count-to-merge": "3"})
    for number in range(5):
        append(load_base(catalog, name, new), f"r{number}", [number, number + 10])
    table = catalog.load_table(name)
    table.delete("id = 2")
    snapshot = table.refresh().current_snapshot()
    assert snapshot is not None
    manifests = snapshot.manifests(table.io)
    recorded = 0
    for manifest in manifests:
        for deleted in (False, True):
            ours = manifest_entries(manifest, table.io, deleted=deleted)
            theirs = manifest.fetch_manifest_entry(table.io, discard_deleted=not deleted)
            assert [_shown(entry) for entry in ours] == [_shown(entry) for entry in theirs]
        recorded += len(theirs) - len(manifest_entries(manifest, table.io))
    assert recorded == 1


def test_a_broken_manifest_is_an_error(tmp_path: Path) -> None:
    catalog = LocalIcebergCatalog("nyc", tmp_path)
    append(load_base(catalog, ("nyc", "t"), new_table()), "r0", [0])
    table = catalog.load_table(("nyc", "t"))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    (manifest,) = snapshot.manifests(table.io)
    place = local_path(manifest.manifest_path)
    whole = place.read_bytes()
    place.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match="broken"):
        manifest_entries(manifest, table.io)


def _shown(entry: ManifestEntry) -> tuple[object, ...]:
    file = entry.data_file
    own = (entry.status, entry.snapshot_id, entry.sequence_number, entry.file_sequence_number, file.spec_id)
    return (*own, [file[place] for place in range(len(file))], type(file), type(file.content))
