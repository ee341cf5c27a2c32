"""The summary of a snapshot: what it changed, and what the table holds after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ldp_core.commit._manifests import spec_id_of

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile, ManifestFile
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Summary

_TOTALS = {
    "total-data-files": ("added-data-files", "deleted-data-files"),
    "total-delete-files": ("added-delete-files", "removed-delete-files"),
    "total-records": ("added-records", "deleted-records"),
    "total-files-size": ("added-files-size", "removed-files-size"),
    "total-position-deletes": ("added-position-deletes", "removed-position-deletes"),
    "total-equality-deletes": ("added-equality-deletes", "removed-equality-deletes"),
}


def build_summary(
    metadata: TableMetadata,
    schema: Schema,
    operation: str,
    *,
    added: Iterable[DataFile],
    removed: Iterable[DataFile],
    manifests: Iterable[ManifestFile],
    extra: Mapping[str, str],
) -> Summary:
    """Counts of the change, totals of the table, then the caller's own keys.

    Totals of files and records are counted from the manifests, which are at hand, so a wrong or missing total
    of an older snapshot is not carried on. The size is carried on, and left out where it was never known.
    """
    from pyiceberg.table.snapshots import Operation, SnapshotSummaryCollector, Summary

    limit = int(metadata.properties.get("write.summary.partition-limit", "0"))
    collector = SnapshotSummaryCollector(partition_summary_limit=limit)
    specs = metadata.specs()
    for file in added:
        collector.add_file(file, schema, specs[spec_id_of(file, metadata)])
    for file in removed:
        collector.remove_file(file, schema, specs[spec_id_of(file, metadata)])
    counts = collector.build()
    totals = {**_carried(metadata, counts), **_counted(manifests)}
    return Summary(operation=Operation(operation), **{**counts, **totals, **extra})


def _carried(metadata: TableMetadata, counts: Mapping[str, str]) -> dict[str, str]:
    parent = metadata.current_snapshot()
    before: Mapping[str, str] = dict.fromkeys(_TOTALS, "0")
    if parent is not None:
        before = parent.summary.additional_properties if parent.summary else {}
    totals = {}
    for total, (plus, minus) in _TOTALS.items():
        known = before.get(total, "")
        if known.isdigit():
            value = int(known) + int(counts.get(plus, "0")) - int(counts.get(minus, "0"))
            if value >= 0:
                totals[total] = str(value)
    return totals


def _counted(manifests: Iterable[ManifestFile]) -> dict[str, str]:
    """Totals that the manifests tell; nothing where one of them (of a version 1 table) does not count."""
    from pyiceberg.manifest import ManifestContent

    files = records = deletes = 0
    for manifest in manifests:
        numbers = (manifest.added_files_count, manifest.existing_files_count)
        rows = (manifest.added_rows_count, manifest.existing_rows_count)
        if None in numbers or None in rows:
            return {}
        if manifest.content == ManifestContent.DATA:
            files += sum(number or 0 for number in numbers)
            records += sum(row or 0 for row in rows)
        else:
            deletes += sum(number or 0 for number in numbers)
    return {
        "total-data-files": str(files),
        "total-records": str(records),
        "total-delete-files": str(deletes),
    }
