"""The only place of ldp-core that uses private API of pyiceberg.

Each function says why no public way serves; a test of its own fails when upstream changes what it uses.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ldp_core.fs import is_local, local_path

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestEntry, ManifestFile
    from pyiceberg.table import CreateTableTransaction, Table
    from pyiceberg.table.update import TableUpdate
    from pyiceberg.table.update.schema import UpdateSchema

    from ldp_core.commit.change import Base

_recording = threading.local()
_install = threading.Lock()


def staged_table(transaction: CreateTableTransaction) -> tuple[Table, tuple[TableUpdate, ...]]:
    """The table that a create transaction stages, and the updates that make it.

    Private because a transaction commits only its own updates, and ours (the first snapshot) must go into the
    same commit.
    """
    return transaction._table, tuple(transaction._updates)


@contextmanager
def metadata_files(catalog: Catalog, half: str = "") -> Iterator[list[str]]:
    """The metadata files that commits of this thread write while the context is open.

    Private because ``commit_table`` of a lost race leaves its metadata file behind and tells nobody its name.
    Catalogs whose server writes the file (REST) record nothing.

    Args:
        catalog: Where the commits go.
        half: Put before the name of a local file until it is whole, so that a killed writer leaves no file
            under the name of a metadata file; as it is written under its own name without it.
    """
    writer = getattr(catalog, "_write_metadata", None)
    written: list[str] = []
    if writer is None:
        yield written
        return
    with _install:
        if not getattr(writer, "records", False):

            def write(metadata: Any, io: Any, metadata_path: str) -> None:
                target = getattr(_recording, "paths", None)
                if target is not None:
                    target.append(metadata_path)
                before = getattr(_recording, "half", "") if target is not None else ""
                if before and is_local(metadata_path):
                    folder, _, name = metadata_path.rpartition("/")
                    partial = f"{folder}/{before}{name}"
                    try:
                        writer(metadata, io, partial)
                        local_path(partial).replace(local_path(metadata_path))
                    finally:
                        local_path(partial).unlink(missing_ok=True)
                    _remember(metadata_path, metadata)
                else:
                    writer(metadata, io, metadata_path)

            write.records = True  # type: ignore[attr-defined]
            catalog._write_metadata = write  # type: ignore[attr-defined]
    outer = getattr(_recording, "paths", None), getattr(_recording, "half", "")
    _recording.paths, _recording.half = written, half
    try:
        yield written
    finally:
        _recording.paths, _recording.half = outer


_TABLES, _SNAPSHOTS = 4, 5000
"""How many tables' metadata is kept, and how long it may be: some 10 MB each."""
_recent: dict[Any, tuple[str, tuple[int, ...], Any]] = {}


def _remember(location: str, metadata: Any) -> None:
    """Keep what the newest file of a table says that a commit of ours has written, or that was read."""
    stamp = _stamp(location)
    with _install:
        _recent.pop(metadata.table_uuid, None)
        if stamp is not None and len(metadata.snapshots) <= _SNAPSHOTS:
            _recent[metadata.table_uuid] = (location, stamp, metadata)
        for old in list(_recent)[:-_TABLES]:
            del _recent[old]


def _remembered(location: str) -> Any:
    """What a file says, where it is kept and the file is the one that it was; else None."""
    with _install:
        known = next((one for one in _recent.values() if one[0] == location), None)
    return known[2] if known is not None and known[1] == _stamp(location) else None


def _stamp(location: str) -> tuple[int, ...] | None:
    """What tells a file of this machine from another one of its name; None where there is none."""
    if not is_local(location):
        return None
    try:
        found = local_path(location).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@contextmanager
def remembered(catalog: Catalog) -> Iterator[None]:
    """Let loads take the metadata that this process wrote or read last, while its file is the one it was.

    Private because a SQL catalog has no other place between the file's name and its parsing, which is most of
    a small load into a table of a few hundred snapshots. Files that are not on this machine are always read.
    """
    from pyiceberg.table import Table

    convert = getattr(type(catalog), "_convert_orm_to_iceberg", None)
    if convert is None:
        yield
        return

    def loaded(row: Any) -> Any:
        location = row.metadata_location
        metadata = _remembered(location)
        if metadata is None:
            table = convert(catalog, row)
            _remember(location, table.metadata)
            return table
        identifier = (*row.table_namespace.split("."), row.table_name)
        io = catalog._load_file_io(metadata.properties, location)
        return Table(identifier, metadata, location, io, catalog)

    catalog.__dict__["_convert_orm_to_iceberg"] = loaded
    try:
        yield
    finally:
        catalog.__dict__.pop("_convert_orm_to_iceberg", None)


class _Kept(list[Any]):
    """A list of frozen things, which a deep copy shares; so is one that is made of it by adding some."""

    def __add__(self, more: list[Any]) -> _Kept:
        return _Kept([*self, *more])

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return list(self)


@contextmanager
def parsed(catalog: Catalog, base: Base) -> Iterator[None]:
    """Let loads take the metadata of a base, where the catalog still names the file that it was read from.

    Private because ``commit_table`` of a SQL catalog reads and parses the whole metadata file once more, and
    copies every snapshot, which costs more than all the rest of a commit from a few hundred snapshots on. A
    file never changes, and neither does a snapshot.
    """
    from pyiceberg.table import Table

    convert = getattr(type(catalog), "_convert_orm_to_iceberg", None)
    if convert is None or not base.metadata_location:
        yield
        return

    def reused(row: Any) -> Any:
        if row.metadata_location != base.metadata_location:
            return convert(catalog, row)
        identifier = (*row.table_namespace.split("."), row.table_name)
        history = {name: _Kept(getattr(base.metadata, name)) for name in ("snapshots", "snapshot_log")}
        metadata = base.metadata.model_copy(update=history)
        return Table(identifier, metadata, base.metadata_location, base.io, catalog)

    catalog.__dict__["_convert_orm_to_iceberg"] = reused
    try:
        yield
    finally:
        catalog.__dict__.pop("_convert_orm_to_iceberg", None)


def schema_updates(base: Base, apply: Callable[[UpdateSchema], None]) -> tuple[TableUpdate, ...]:
    """The metadata updates that a schema change is made of, for a commit of our own.

    Private because ``UpdateSchema`` commits itself, and a load evolves the schema and adds its snapshot in
    one commit.
    """
    from pyiceberg.table import Table, Transaction

    full = (*base.identifier[0].split("."), base.identifier[1])
    table = Table(full, base.metadata, base.metadata_location, base.io, base.catalog)
    update = Transaction(table).update_schema()
    apply(update)
    updates, _ = update._commit()
    return updates


def write_delete_manifest(format_version: int, **given: Any) -> Any:
    """A writer of a manifest of delete files; takes what ``pyiceberg.manifest.write_manifest`` takes.

    Private because the writer of pyiceberg says ``content: data`` whatever the entries are, and engines that
    look at the content of a manifest first would not apply the deletes in it.

    Raises:
        ValueError: A format version that has no deletes, or that pyiceberg does not write.
    """
    from pyiceberg.manifest import ManifestContent, ManifestWriterV2

    class DeleteManifestWriter(ManifestWriterV2):
        def content(self) -> ManifestContent:
            return ManifestContent.DELETES

        @property
        def _meta(self) -> dict[str, str]:
            return {**super()._meta, "content": "deletes"}

    if format_version != 2:
        raise ValueError(f"no delete manifest can be written for format version {format_version}")
    return DeleteManifestWriter(**given)


def manifest_entries(manifest: ManifestFile, io: FileIO, *, deleted: bool = False) -> list[ManifestEntry]:
    """The entries of a manifest, with the sequence numbers and the spec that they inherit from it.

    Private because ``ManifestFile.fetch_manifest_entry`` works out anew for each manifest how its Avro schema
    is read, which takes ten times as long as reading a small one; those of a table share a few schemas.

    Args:
        manifest: The manifest.
        io: Opens it.
        deleted: Also the entries of files that it records as deleted.

    Raises:
        OSError: It is not there.
        ValueError: It is broken.
    """
    from pyiceberg.avro.decoder import new_decoder
    from pyiceberg.avro.file import SYNC_SIZE
    from pyiceberg.manifest import ManifestEntryStatus, _inherit_from_manifest

    with io.new_input(manifest.manifest_path).open() as stream:
        content = stream.read()
    decoder = new_decoder(content)
    header = _header_reader().read(decoder)
    if "avro.schema" not in header.meta:
        raise ValueError(f"{manifest.manifest_path} has no schema")
    reader, codec = _entry_reader(header.meta["avro.schema"]), header.compression_codec()
    found: list[ManifestEntry] = []
    while decoder.tell() < len(content):
        count, block = decoder.read_int(), decoder.read_bytes()
        records = new_decoder(codec.decompress(block) if codec else block)
        found += (_inherit_from_manifest(reader.read(records), manifest) for _ in range(count))
        if decoder.read(SYNC_SIZE) != header.sync:
            raise ValueError(f"{manifest.manifest_path} is broken")
    return found if deleted else [entry for entry in found if entry.status != ManifestEntryStatus.DELETED]


@lru_cache(maxsize=1)
def _header_reader() -> Any:
    from pyiceberg.avro.file import META_SCHEMA, AvroFileHeader
    from pyiceberg.avro.resolver import construct_reader

    return construct_reader(META_SCHEMA, {-1: AvroFileHeader})


@lru_cache(maxsize=32)
def _entry_reader(schema: str) -> Any:
    """How entries of manifests of an Avro schema are read, as ``fetch_manifest_entry`` does."""
    from pyiceberg.avro.resolver import resolve_reader
    from pyiceberg.manifest import (
        DEFAULT_READ_VERSION,
        MANIFEST_ENTRY_SCHEMAS,
        DataFile,
        DataFileContent,
        FileFormat,
        ManifestEntry,
        ManifestEntryStatus,
    )
    from pyiceberg.utils.schema_conversion import AvroSchemaConversion

    return resolve_reader(
        AvroSchemaConversion().avro_to_iceberg(json.loads(schema)),
        MANIFEST_ENTRY_SCHEMAS[DEFAULT_READ_VERSION],
        {-1: ManifestEntry, 2: DataFile},
        {0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
    )
