"""What is true of a table: its rows, its files, its manifests. Read without the code that is under test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.fs import local_path
from pyiceberg.manifest import DataFile, DataFileContent, ManifestContent

if TYPE_CHECKING:
    from pyiceberg.table import Table
    from pyiceberg.table.snapshots import Snapshot


def rows(table: Table, ref: str | int | None = None) -> list[tuple[Any, ...]]:
    """The live rows, sorted; columns in the order of the schema.

    Read by pyiceberg; a table with equality deletes, which it does not know, by DuckDB over the plan of
    ldp-core.

    Args:
        table: The table; loaded anew.
        ref: A branch, a tag or a snapshot id; main else.
    """
    table.refresh()
    snapshot = _snapshot(table, ref)
    if snapshot is None:
        return []
    if any(file.content == DataFileContent.EQUALITY_DELETES for file in _entries(table, snapshot)):
        found = _by_duckdb(table, snapshot)
    else:
        read = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        found = [tuple(row.values()) for row in read.to_pylist()]
    return sorted(found, key=lambda row: tuple((value is not None, str(value)) for value in row))


def live_files(table: Table, ref: str | int | None = None) -> dict[str, DataFile]:
    """The live data files by path; delete files are left out."""
    snapshot = _snapshot(table, ref)
    found = [] if snapshot is None else _entries(table, snapshot)
    return {file.file_path: file for file in found if file.content == DataFileContent.DATA}


def entries_in_manifest_of_wrong_content(table: Table) -> int:
    """Entries, in all snapshots, of delete files in manifests of data, or the other way round."""
    wrong = 0
    for snapshot in table.metadata.snapshots:
        for manifest in snapshot.manifests(table.io):
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                is_data = entry.data_file.content == DataFileContent.DATA
                wrong += is_data != (manifest.content == ManifestContent.DATA)
    return wrong


def files_on_disk(table: Table) -> set[str]:
    """Every file below the table's location, as absolute paths."""
    return {str(path) for path in local_path(table.location()).rglob("*") if path.is_file()}


def referenced_files(table: Table) -> set[str]:
    """Every file that the metadata, its log, any snapshot or any statistics refer to, as absolute paths.

    Files that a snapshot only records as deleted are not among them.
    """
    metadata = table.metadata
    found = {table.metadata_location, *(entry.metadata_file for entry in metadata.metadata_log)}
    found |= {item.statistics_path for item in [*metadata.statistics, *metadata.partition_statistics]}
    for snapshot in metadata.snapshots:
        found.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            found.add(manifest.manifest_path)
        found |= {file.file_path for file in _entries(table, snapshot)}
    return {str(local_path(uri)) for uri in found}


def unreferenced_files(table: Table) -> set[str]:
    """Files on disk that nothing refers to, the catalog's own and hidden ones left out."""
    return {
        path for path in files_on_disk(table) - referenced_files(table) if not Path(path).name.startswith(".")
    }


def _snapshot(table: Table, ref: str | int | None) -> Snapshot | None:
    if isinstance(ref, int):
        found = table.snapshot_by_id(ref)
        assert found is not None, f"no snapshot {ref}"
        return found
    return table.current_snapshot() if ref in (None, "main") else table.snapshot_by_name(str(ref))


def _entries(table: Table, snapshot: Snapshot) -> list[DataFile]:
    return [
        entry.data_file
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
    ]


def _by_duckdb(table: Table, snapshot: Snapshot) -> list[tuple[Any, ...]]:
    import duckdb
    from ldp_core.tables.scan import plan_scan, scan_sql

    with duckdb.connect() as con:
        scan = plan_scan(table.metadata, table.io, snapshot_id=snapshot.snapshot_id)
        found: list[tuple[Any, ...]] = con.sql(scan_sql(con, scan)).fetchall()
        return found
