"""Delete files as other engines write them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    write_manifest_list,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, AssertTableUUID, SetSnapshotRefUpdate
from pyiceberg.typedef import Record
from pyiceberg.types import StringType

from ldp_core._pyiceberg import write_delete_manifest
from ldp_core.fs import local_path

_IDS = itertools.count(10_000)


def delete_file(
    table: Table,
    body: pa.Table,
    *,
    equality: Sequence[int] = (),
    partition: Record | None = None,
    bounds: str | None = None,
) -> DataFile:
    """Write a delete file for a table.

    Args:
        table: The table.
        body: From ``positions`` or ``keys``.
        equality: Field ids that an equality delete compares; none for position deletes.
        partition: The partition it holds for.
        bounds: The one data file that position deletes are about, where the metrics say so.
    """
    path = str(local_path(f"{table.location()}/data/delete-{next(_IDS)}.parquet"))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(body, path)
    limits = {} if bounds is None else {2147483546: to_bytes(StringType(), bounds)}
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES if equality else DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=partition or Record(),
        record_count=body.num_rows,
        file_size_in_bytes=Path(path).stat().st_size,
        lower_bounds=limits,
        upper_bounds=limits,
        equality_ids=list(equality) or None,
    )
    file.spec_id = table.spec().spec_id
    return file


def positions(*pairs: tuple[str, int]) -> pa.Table:
    """The rows of a position delete file: (path of a data file, position in it)."""
    fields = [
        pa.field("file_path", pa.string(), metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), metadata={"PARQUET:field_id": "2147483545"}),
    ]
    ordered = sorted(pairs)
    return pa.table([[a for a, _ in ordered], [b for _, b in ordered]], schema=pa.schema(fields))


def keys(field_id: int, name: str, kind: pa.DataType, values: list[Any]) -> pa.Table:
    """The rows of an equality delete file."""
    field = pa.field(name, kind, metadata={"PARQUET:field_id": str(field_id)})
    return pa.table([pa.array(values, kind)], schema=pa.schema([field]))


def commit(table: Table, *files: DataFile) -> None:
    """Publish delete files as a snapshot of their own; pyiceberg writes no manifests of deletes."""
    metadata, io = table.metadata, table.io
    base = metadata.current_snapshot()
    assert base is not None
    number = next(_IDS)
    place = f"{table.location()}/metadata"
    manifests = base.manifests(io)
    for spec_id in sorted({file.spec_id for file in files}):
        output = io.new_output(f"{place}/deletes-{number}-{spec_id}.avro")
        with write_delete_manifest(
            2,
            spec=table.specs()[spec_id],
            schema=table.schema(),
            output_file=output,
            snapshot_id=number,
            avro_compression="null",
        ) as writer:
            for file in files:
                if file.spec_id == spec_id:
                    writer.add_entry(_added(file, number))
        manifests = [writer.to_manifest_file(), *manifests]
    sequence = metadata.next_sequence_number()
    path = f"{place}/snap-{number}.avro"
    with write_manifest_list(2, io.new_output(path), number, base.snapshot_id, sequence, "null") as lists:
        lists.add_manifests(manifests)
    snapshot = Snapshot.model_validate(
        {
            "snapshot-id": number,
            "parent-snapshot-id": base.snapshot_id,
            "sequence-number": sequence,
            "timestamp-ms": max(metadata.last_updated_ms, base.timestamp_ms) + 1,
            "manifest-list": path,
            "schema-id": metadata.current_schema_id,
        }
    ).model_copy(update={"summary": Summary(Operation.DELETE)})
    moved = {"ref-name": "main", "type": "branch", "snapshot-id": number}
    table.catalog.commit_table(
        table,
        (AssertTableUUID(uuid=metadata.table_uuid),),
        (
            AddSnapshotUpdate(snapshot=snapshot),
            SetSnapshotRefUpdate.model_validate(moved),
        ),
    )
    table.refresh()


def _added(file: DataFile, snapshot_id: int) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, sequence_number=None, data_file=file
    )
