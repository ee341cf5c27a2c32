"""Plan a scan from a snapshot's manifests."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus
from pyiceberg.typedef import Record

from ldp_core.errors import SnapshotNotFound
from ldp_core.tables.manifests import all_entries
from ldp_core.tables.scan import DeleteFile, Scan, ScanFile
from ldp_core.tables.scan_compared import columns_of, compared
from ldp_core.tables.scan_footers import Fit, both, fit, footer
from ldp_core.tables.scan_types import duck_type, has_lists, nested_conflict, nested_fields

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

_THREADS = 8
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that every writer writes as they are; ``a b`` may stand in a file as ``a_x20b``."""
_PATH_ID = 2147483546
"""Reserved id of ``file_path`` in position delete files (table specification, reserved field ids)."""


def plan(
    metadata: TableMetadata,
    io: FileIO,
    snapshot_id: int | None,
    keep: Callable[[DataFile], bool] | None = None,
    added: bool = False,
) -> Scan:
    """See ``ldp_core.tables.scan.plan_scan``."""
    snapshot = metadata.current_snapshot() if snapshot_id is None else metadata.snapshot_by_id(snapshot_id)
    if snapshot_id is not None and snapshot is None:
        known = ", ".join(str(item.snapshot_id) for item in metadata.snapshots) or "none"
        raise SnapshotNotFound(f"no snapshot {snapshot_id}; known snapshots: {known}")
    schema = _schema(metadata, None if snapshot_id is None or snapshot is None else snapshot.schema_id)
    by = snapshot.snapshot_id if added and snapshot is not None else None
    entries = [] if snapshot is None else _entries(snapshot.manifests(io), io, by)
    data = [entry for entry in entries if entry.data_file.content == DataFileContent.DATA]
    data = [entry for entry in data if keep is None or keep(entry.data_file)]
    deletes = [entry for entry in entries if entry.data_file.content != DataFileContent.DATA]
    return of_entries(metadata, io, None if snapshot is None else snapshot.snapshot_id, schema, data, deletes)


def of_entries(
    metadata: TableMetadata,
    io: FileIO,
    snapshot_id: int | None,
    schema: Mapping[str, Any],
    data: list[ManifestEntry],
    deletes: list[ManifestEntry],
) -> Scan:
    """Plan a read of files whose manifest entries are at hand already.

    Args:
        metadata: Of the table.
        io: Opens its files.
        snapshot_id: The snapshot that the entries are of.
        schema: The Iceberg schema that rows are read in, in its JSON form.
        data: Live entries of the data files to read, in the order wanted.
        deletes: Live entries of the snapshot's delete files.
    """
    files, used = match(metadata, data, deletes)
    besides = _besides(metadata, schema, used)
    unreadable = _unreadable(schema) or _unreadable({"fields": besides})
    fits = _fits(metadata, io, [schema, {"fields": besides}] if besides else [schema], data)
    planned = [_with_fit(file, how, unreadable, used) for file, how in zip(files, fits, strict=True)]
    applied = _delete_files(metadata, io, schema, besides, used)
    through = [entry for file, entry in zip(planned, data, strict=True) if file.reason]
    through += [e for file, e in zip(applied, used, strict=True) if file.reason or file.kind == "vector"]
    return Scan(
        table_uuid=str(metadata.table_uuid),
        snapshot_id=snapshot_id,
        schema=schema,
        files=tuple(planned),
        deletes=applied,
        compared=besides,
        table=(metadata, io),
        entries={entry.data_file.file_path: entry.data_file for entry in through},
        properties=dict(io.properties),
    )


def _schema(metadata: TableMetadata, schema_id: int | None) -> dict[str, Any]:
    by_id = {schema.schema_id: schema for schema in metadata.schemas}
    chosen = metadata.schema() if schema_id is None else by_id.get(schema_id, metadata.schema())
    body: dict[str, Any] = json.loads(chosen.model_dump_json())
    return body


def _entries(manifests: Iterable[Any], io: FileIO, added_by: int | None = None) -> list[ManifestEntry]:
    """The live entries, or those among them that one snapshot added."""
    if added_by is not None:
        new = [item for item in manifests if item.added_snapshot_id == added_by and item.has_added_files()]
        listed = (entry for held in all_entries(new, io) for entry in held)
        return [entry for entry in listed if entry.status == ManifestEntryStatus.ADDED]
    live = [item for item in manifests if item.has_added_files() or item.has_existing_files()]
    return [entry for held in all_entries(live, io) for entry in held]


def match(
    metadata: TableMetadata, data: list[ManifestEntry], deletes: list[ManifestEntry]
) -> tuple[list[ScanFile], list[ManifestEntry]]:
    """The data files with the delete files that apply to them, by the rules of scan planning.

    A position delete applies to files of its partition that are not younger than it, an equality delete to
    older ones only, and everywhere when its spec is unpartitioned.
    """
    specs = metadata.specs()
    scoped: dict[Any, list[int]] = {}
    for number, entry in enumerate(deletes):
        scoped.setdefault(_scope(entry, specs), []).append(number)
    applies: list[list[int]] = []
    for entry in data:
        file = entry.data_file
        candidates = [
            number
            for scope in {("path", file.file_path), _partition_scope(file), ("global",)}
            for number in scoped.get(scope, ())
        ]
        applies.append(sorted(n for n in candidates if _young_enough(deletes[n], entry)))
    order = sorted({number for numbers in applies for number in numbers})
    place = {number: position for position, number in enumerate(order)}
    files = [
        ScanFile(
            path=entry.data_file.file_path,
            size=entry.data_file.file_size_in_bytes,
            rows=entry.data_file.record_count,
            spec_id=entry.data_file.spec_id,
            partition=_partition(entry.data_file, specs),
            sequence=entry.sequence_number or 0,
            deletes=tuple(place[number] for number in numbers),
        )
        for entry, numbers in zip(data, applies, strict=True)
    ]
    return files, [deletes[number] for number in order]


def _young_enough(delete: ManifestEntry, data: ManifestEntry) -> bool:
    theirs, ours = delete.sequence_number or 0, data.sequence_number or 0
    return theirs > ours if kind_of(delete.data_file) == "equality" else theirs >= ours


def _scope(entry: ManifestEntry, specs: Mapping[int, Any]) -> tuple[Any, ...]:
    file = entry.data_file
    if file.content == DataFileContent.EQUALITY_DELETES and specs[file.spec_id].is_unpartitioned():
        return ("global",)
    lower, upper = file.lower_bounds or {}, file.upper_bounds or {}
    path = lower.get(_PATH_ID)
    if file.content == DataFileContent.POSITION_DELETES and path and path == upper.get(_PATH_ID):
        return ("path", path.decode())
    return _partition_scope(file)


def _partition_scope(file: DataFile) -> tuple[Any, ...]:
    return ("partition", file.spec_id, partition_key(file.partition or Record()))


def partition_key(values: Record | Sequence[Any]) -> tuple[Any, ...]:
    """Partition values to compare and to hash by: NaN is one partition, -0.0 and 0.0 are two."""
    return tuple(
        ("float", repr(value)) if isinstance(value, float) else value
        for value in (values[place] for place in range(len(values)))
    )


def kind_of(file: DataFile) -> str:
    """What a delete file is: ``position``, ``equality`` or ``vector``."""
    if file.file_format == FileFormat.PUFFIN:
        return "vector"
    return "equality" if file.content == DataFileContent.EQUALITY_DELETES else "position"


def _besides(
    metadata: TableMetadata, schema: Mapping[str, Any], deletes: list[ManifestEntry]
) -> tuple[Mapping[str, Any], ...]:
    """See ``Scan.compared``."""
    ids = {number for entry in deletes for number in entry.data_file.equality_ids or ()}
    if ids <= {column["id"] for column in schema["fields"]}:
        return ()
    newest_first = sorted(metadata.schemas, key=lambda item: item.schema_id, reverse=True)
    return columns_of(schema, (json.loads(item.model_dump_json()) for item in newest_first), ids)


def _delete_files(
    metadata: TableMetadata,
    io: FileIO,
    schema: Mapping[str, Any],
    besides: Sequence[Mapping[str, Any]],
    deletes: list[ManifestEntry],
) -> tuple[DeleteFile, ...]:
    """How delete files are read; those that compare fields of structs are found by them as data files are."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, entry in enumerate(deletes):
        if kind_of(entry.data_file) == "equality":
            alike.setdefault(tuple(entry.data_file.equality_ids or ()), []).append(number)
    fits = {
        number: Fit(reason=f"the file's format is {entry.data_file.file_format.name}")
        for number, entry in enumerate(deletes)
        if kind_of(entry.data_file) == "position" and entry.data_file.file_format != FileFormat.PARQUET
    }
    for ids, numbers in alike.items():
        how = compared(schema, besides, ids)
        columns = {"fields": () if how is None else how.columns}
        unreadable = _unreadable(columns)
        found = _fits(metadata, io, [columns], [deletes[number] for number in numbers])
        for number, one in zip(numbers, found, strict=True):
            fits[number] = replace(one, reason=one.reason or unreadable)
    return tuple(_delete_file(entry, fits.get(number, Fit())) for number, entry in enumerate(deletes))


def _delete_file(entry: ManifestEntry, how: Fit) -> DeleteFile:
    file = entry.data_file
    return DeleteFile(
        path=file.file_path,
        size=file.file_size_in_bytes,
        rows=file.record_count,
        kind=kind_of(file),
        sequence=entry.sequence_number or 0,
        equality_ids=tuple(file.equality_ids or ()),
        names=how.names,
        reason=how.reason,
    )


def _partition(file: DataFile, specs: Mapping[int, Any]) -> dict[str, Any]:
    names = [item.name for item in specs[file.spec_id].fields]
    return {name: _plain(file.partition[position]) for position, name in enumerate(names)}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _fits(
    metadata: TableMetadata, io: FileIO, wanted: Sequence[Mapping[str, Any]], files: list[ManifestEntry]
) -> list[Fit]:
    """How each file is read in all of these schemas; opens only the footers that have to be seen."""
    mapping = metadata.name_mapping()
    doubtful = mapping is not None or any(
        has_lists(schema) or _nested_doubt(metadata, schema) for schema in wanted
    )
    ids = {column["id"] for schema in wanted for column in schema["fields"]}
    identities = {number: sources & ids for number, sources in _identities(metadata).items()}

    def one(entry: ManifestEntry) -> Fit:
        file = entry.data_file
        if file.file_format != FileFormat.PARQUET:
            return Fit(reason=f"the file's format is {file.file_format.name}")
        if not doubtful and file.record_count and _has_counts(file, identities.get(file.spec_id, set())):
            return Fit()
        found, misread = footer(io, file.file_path)
        how = both([Fit(reason=misread), *(fit(found, schema, mapping) for schema in wanted)])
        if how.reason is None and how.missing & identities.get(file.spec_id, set()):
            return replace(how, reason="a partition column stands only in the partition, not in the file")
        return how

    if len(files) < 2:
        return [one(entry) for entry in files]
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(one, files))


def _has_counts(file: DataFile, identities: set[int]) -> bool:
    """Whether the manifest's counts by field id show that the writer knew ids and every identity column."""
    counted = set(file.value_counts or {})
    return bool(counted) and identities <= counted


def _identities(metadata: TableMetadata) -> dict[int, set[int]]:
    """Source columns of identity partitions, by spec."""
    return {
        number: {item.source_id for item in spec.fields if str(item.transform) == "identity"}
        for number, spec in metadata.specs().items()
    }


def _nested_doubt(metadata: TableMetadata, schema: Mapping[str, Any]) -> bool:
    """Whether some file may have been written with other nested names than the read schema's."""
    names = [name for _, _, name, _ in nested_fields(schema)]
    if not names:
        return False
    if not all(_AVRO_NAME.fullmatch(name) for name in names):
        return True
    known = {item.schema_id for item in metadata.schemas}
    if known != set(range(max(known) + 1)):
        return True
    return any(
        nested_conflict(schema, json.loads(item.model_dump_json())) is not None for item in metadata.schemas
    )


def _unreadable(schema: Mapping[str, Any]) -> str | None:
    for column in schema["fields"]:
        if duck_type(column["type"]) is None:
            return f"column {column['name']!r} has a type that DuckDB's Parquet reader does not map"
    for _, _, name, child in nested_fields(schema):
        if child.get("initial-default") is not None:
            return f"nested field {name!r} has a default"
    return None


def _with_fit(file: ScanFile, how: Fit, unreadable: str | None, used: list[ManifestEntry]) -> ScanFile:
    vector = any(kind_of(used[number].data_file) == "vector" for number in file.deletes)
    reason = how.reason or unreadable or ("a deletion vector" if vector else None)
    return replace(file, names=how.names, reason=reason)
