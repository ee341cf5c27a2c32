"""Metadata as other writers leave it: each operation works on it, or refuses before it touches anything."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.errors import LDPError
from ldp_core.fs import local_path
from ldp_maintenance import OPERATIONS, Doing, Expire, Maintenance, Policy, Rewrite, Target
from ldp_maintenance.testing import builders, looks
from pyiceberg.avro.file import AvroOutputFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

POLICY = Policy(rewrite=Rewrite(skip_newest=None), expire=Expire(max_snapshot_age_days=1))
DUE = ("rewrite-data-files", "rewrite-manifests", "expire-snapshots")


def _maintained(table: Table, days: float = 20) -> Any:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    doing = Doing(clock=lambda: later)
    return Maintenance(Target(table.catalog, ("db", "t"), POLICY)).run(commit=True, doing=doing)


def _looked_after(table: Table, strays: int = 0) -> Any:
    """All that is due was done, no row changed, what is needed is there, and nothing else is."""
    before = looks.rows(table)
    found = _maintained(table)
    table = table.catalog.load_table(("db", "t"))
    assert not found.errors, found.errors
    assert {found.of(name).status for name in DUE} == {"done"}
    assert found.of("remove-orphans").detail["removed"] == strays
    assert looks.rows(table) == before
    assert all(Path(path).is_file() for path in looks.referenced_files(table))
    assert len(looks.live_files(table)) == 1
    assert {one.status for one in _maintained(table).outcomes} <= {"nothing", "skipped"}
    return found


def _body(table: Table) -> dict[str, Any]:
    """The content of its metadata file."""
    raw = local_path(table.metadata_location).read_bytes()
    found: dict[str, Any] = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    return found


def _registered(
    table: Table, change: Callable[[dict[str, Any]], object], name: str = "00099-x.metadata.json"
) -> Table:
    """The table anew under its name, from a metadata file that was changed."""
    body = _body(table)
    change(body)
    place = f"{table.metadata_location.rpartition('/')[0]}/{name}"
    data = json.dumps(body).encode()
    local_path(place).write_bytes(gzip.compress(data) if ".gz." in name or name.endswith(".gz") else data)
    local_path(table.metadata_location).unlink()
    table.catalog.drop_table(("db", "t"))
    return table.catalog.register_table(("db", "t"), place)


@pytest.fixture
def catalog(tmp_path: Path) -> ClosingCatalog:
    return builders.catalog(tmp_path)


@pytest.fixture
def table(catalog: ClosingCatalog) -> Table:
    made = builders.table(catalog)
    paths = builders.small_files(made, 4)
    builders.overwrite(made, paths[0], range(100, 110))
    return made


@pytest.mark.parametrize("version", [1, 2])
def test_maint_summaries_without_totals(catalog: ClosingCatalog, version: int) -> None:
    made = builders.table(catalog, format_version=version)
    builders.small_files(made, 4)

    def change(body: dict[str, Any]) -> None:
        for number, snapshot in enumerate(body["snapshots"]):
            snapshot["summary"] = {"operation": snapshot["summary"]["operation"]}
            if version == 1 and number:
                del snapshot["summary"]

    _looked_after(_registered(made, change))


def test_maint_metadata_of_a_version_one_that_became_two(catalog: ClosingCatalog) -> None:
    made = builders.table(catalog, format_version=1)
    paths = builders.small_files(made, 3)
    made.transaction().upgrade_table_version(2).commit_transaction()
    made.refresh()
    builders.small_files(made, 1, first=30)
    builders.delete_positions(made, {paths[0]: [0, 1]})
    builders.delete_keys(made, [12])
    assert len(looks.rows(made)) == 37
    _looked_after(made)


def test_maint_metadata_that_is_compressed(table: Table) -> None:
    for name in ("00098-x.gz.metadata.json", "00099-x.gz.metadata.json"):
        table = _registered(table, lambda body: None, name)
    found = _looked_after(table)
    assert found.before["snapshots"] == 5


def test_maint_statistics_are_kept_as_long_as_their_snapshots(table: Table) -> None:
    snapshots = [item.snapshot_id for item in table.metadata.snapshots]
    files = {}

    def change(body: dict[str, Any]) -> None:
        for kind, end in (("statistics", "stats"), ("partition-statistics", "parquet")):
            body[kind] = []
            for snapshot in (snapshots[0], snapshots[-1]):
                path = f"{table.location()}/metadata/{kind}-{snapshot}.{end}"
                local_path(path).write_bytes(b"PFA1")
                files[kind, snapshot] = local_path(path)
                body[kind].append(
                    {"snapshot-id": snapshot, "statistics-path": path, "file-size-in-bytes": 4}
                    | ({"file-footer-size-in-bytes": 4, "blob-metadata": []} if kind == "statistics" else {})
                )

    table = _registered(table, change)
    orphans = Maintenance(Target(table.catalog, ("db", "t"), POLICY))
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=20)
    doing = Doing(clock=lambda: later)
    assert orphans.run(["remove-orphans"], commit=True, doing=doing).outcomes[0].status == "nothing"
    assert all(path.exists() for path in files.values())
    found = _maintained(table)
    assert not found.errors
    assert found.of("expire-snapshots").detail["files"]["statistics"] == 2
    assert not any(path.exists() for path in files.values())
    table.refresh()
    assert not table.metadata.statistics
    assert not looks.unreferenced_files(table)


def test_maint_snapshots_that_list_their_manifests_are_refused(catalog: ClosingCatalog) -> None:
    made = builders.table(catalog, format_version=1)
    builders.small_files(made, 2)
    body = _body(made)
    by_id = {item.snapshot_id: item for item in made.metadata.snapshots}
    for snapshot in body["snapshots"]:
        del snapshot["manifest-list"]
        held = by_id[snapshot["snapshot-id"]].manifests(made.io)
        snapshot["manifests"] = [item.manifest_path for item in held]
    local_path(made.metadata_location).write_text(json.dumps(body))
    files = looks.files_on_disk(made)
    for operation in OPERATIONS:
        with pytest.raises(LDPError, match=r"metadata of db\.t") as caught:
            Maintenance(Target(catalog, ("db", "t"), POLICY)).run([operation], commit=True)
        assert "\n" not in caught.value.message
    assert looks.files_on_disk(made) == files


MUST = [
    NestedField(500, "manifest_path", StringType(), required=True),
    NestedField(501, "manifest_length", LongType(), required=True),
    NestedField(502, "partition_spec_id", IntegerType(), required=True),
    NestedField(503, "added_snapshot_id", LongType(), required=True),
]
MAY = [
    NestedField(504, "added_files_count", IntegerType()),
    NestedField(505, "existing_files_count", IntegerType()),
    NestedField(506, "deleted_files_count", IntegerType()),
    NestedField(512, "added_rows_count", LongType()),
    NestedField(513, "existing_rows_count", LongType()),
    NestedField(514, "deleted_rows_count", LongType()),
]
"""What a manifest list of version 1 must have, and may: counts; it has no sequence numbers."""


def _with_old_lists(table: Table, schema: Schema) -> None:
    """Write the manifest lists of a table anew, without counts."""
    for snapshot in table.metadata.snapshots:
        rows = [
            Record(
                m.manifest_path,
                m.manifest_length,
                m.partition_spec_id,
                m.added_snapshot_id,
                *[None] * (len(schema.fields) - 4),
            )
            for m in snapshot.manifests(table.io)
        ]
        output = table.io.new_output(snapshot.manifest_list)
        with AvroOutputFile[Record](output, schema, "manifest_file") as out:
            out.write_block(rows)


@pytest.mark.parametrize("upgraded", [False, True], ids=["one", "two"])
def test_maint_manifest_lists_that_tell_no_counts(catalog: ClosingCatalog, upgraded: bool) -> None:
    made = builders.table(catalog, format_version=1)
    paths = builders.small_files(made, 3)
    builders.overwrite(made, paths[0], range(100, 110))
    _with_old_lists(made, Schema(*MUST, *MAY))
    if upgraded:
        made.transaction().upgrade_table_version(2).commit_transaction()
        made.refresh()
    assert len(looks.rows(made)) == 30
    _looked_after(made)


def test_maint_manifest_lists_that_pyiceberg_cannot_read_change_nothing(catalog: ClosingCatalog) -> None:
    made = builders.table(catalog, format_version=1)
    paths = builders.small_files(made, 3)
    builders.overwrite(made, paths[0], range(100, 110))
    stray = local_path(f"{made.location()}/data/stray.parquet")
    stray.write_bytes(b"x")
    _with_old_lists(made, Schema(*MUST))  # it takes counts to be columns, though they may be null
    files = looks.files_on_disk(made)
    found = _maintained(made)
    assert {found.of(name).status for name in (*DUE, "remove-orphans")} <= {"failed", "refused"}
    assert looks.files_on_disk(made) == files


PLACES = [
    ("file://", "a b%20c"),
    ("file://", "100%"),
    ("file:", "50%25 é漢"),
    ("file:", "a+b&c=d;e"),
    ("", "q'u\"o é"),
    ("", "x#y?z%"),
]


@pytest.mark.parametrize(("prefix", "name"), PLACES)
def test_maint_locations_of_any_spelling(tmp_path: Path, name: str, prefix: str) -> None:
    catalog = builders.catalog(tmp_path)
    place = f"{prefix}{tmp_path}/{name}/t"
    made = catalog.create_table("db.t", builders.SCHEMA, location=place)
    paths = builders.small_files(made, 3)
    builders.delete_positions(made, {paths[0]: [0, 1]})
    stray = local_path(f"{place}/data/s {name}.parquet")
    stray.write_bytes(b"x")
    _looked_after(made, strays=1)
    made.refresh()
    assert not stray.exists()
    assert not looks.unreferenced_files(made)


def test_maint_object_storage_paths(tmp_path: Path) -> None:
    catalog = builders.catalog(tmp_path)
    names = {"write.object-storage.enabled": "true", "write.data.path": f"file://{tmp_path}/far"}
    made = catalog.create_table("db.t", builders.SCHEMA, properties=names)
    for number in range(3):
        made.append(pa.Table.from_pylist([{"id": number}], schema=made.schema().as_arrow()))
    depth = {len(local_path(path).relative_to(tmp_path / "far").parts) for path in looks.live_files(made)}
    assert depth == {5}
    strays = [tmp_path / "far" / place / "s.parquet" for place in ("0001/0010/0011/10011", "0110")]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    _looked_after(made, strays=2)


def test_maint_two_folders_of_metadata_and_two_of_data(tmp_path: Path, catalog: ClosingCatalog) -> None:
    made = builders.table(catalog)
    builders.small_files(made, 2)
    first = made.metadata_location
    places = {
        "write.metadata.path": f"file://{tmp_path}/other meta",
        "write.data.path": f"{tmp_path}/other data",
    }
    made.transaction().set_properties(places).commit_transaction()
    made.refresh()
    builders.small_files(made, 2, first=20)
    assert made.metadata_location.rpartition("/")[0] != first.rpartition("/")[0]
    strays = [
        local_path(f"{folder}/{name}")
        for folder, name in (
            (made.location(), "data/s.parquet"),
            (made.location(), "metadata/s-m0.avro"),
            (places["write.metadata.path"], "s-m0.avro"),
            (places["write.data.path"], "s.parquet"),
        )
    ]
    for path in strays:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    _looked_after(made, strays=4)
    assert not any(path.exists() for path in strays)
