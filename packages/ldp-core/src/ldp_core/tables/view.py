"""What a reader of a table's history needs of its metadata, whoever read it: pyiceberg, or the peek."""

from __future__ import annotations

import gzip
import json
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ldp_core.fs import local_path

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

MAIN = "main"
Reader = Callable[[str], bytes]
"""Gives the bytes of a file of the table; raises FileNotFoundError where there is none."""
Names = Callable[[str], frozenset[int]]
"""The snapshots that added the manifests of a manifest list."""


@dataclass(frozen=True)
class Snap:
    """One snapshot.

    Attributes:
        id: Its id.
        parent: The snapshot it was made on; None for the first, and where an expiry cut the link.
        sequence: Its sequence number; 0 in tables of format version 1.
        summary: Its summary.
        manifest_list: Where its manifest list is.
        at: When it was committed, in milliseconds since 1970; 0 where nobody said.
    """

    id: int
    parent: int | None = None
    sequence: int = 0
    summary: Mapping[str, str] = field(default_factory=dict)
    manifest_list: str = ""
    at: int = 0


@dataclass(frozen=True)
class TableView:
    """The history that a table's metadata tells.

    Attributes:
        uuid: The table's uuid.
        head: The snapshot that main points at.
        snapshots: Every snapshot in the metadata, by id.
        refs: Branches and tags: the snapshot each points at.
        properties: Table properties.
        log: Older metadata files, oldest first.
        read: Opens older metadata files.
        names: Reads a manifest list.
    """

    uuid: str
    head: int | None
    snapshots: Mapping[int, Snap]
    refs: Mapping[str, int] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    read: Reader | None = None
    names: Names | None = None

    def ancestors(self) -> Iterator[Snap]:
        """From main's head back, as far as the metadata goes."""
        return iter(self._line)

    @cached_property
    def _line(self) -> tuple[Snap, ...]:
        at = self.head
        seen: dict[int, Snap] = {}
        while at is not None and at in self.snapshots and at not in seen:
            seen[at] = self.snapshots[at]
            at = seen[at].parent
        return tuple(seen.values())

    @cached_property
    def memory(self) -> dict[str, Any]:
        """What is worked out from the view once, by the name of what it is."""
        return {}

    def older(self) -> Iterator[TableView]:
        """What older metadata files told, newest first; those that are gone are left out."""
        for location in reversed(self.log):
            if self.read is None:
                return
            try:
                raw = self.read(location)
                data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
            except (OSError, ValueError, EOFError):
                continue
            yield of_json(data)


def of_json(data: Mapping[str, Any], read: Reader | None = None, names: Names | None = None) -> TableView:
    """The view of a metadata file.

    Args:
        data: Its JSON.
        read: Opens older metadata files.
        names: Reads a manifest list.
    """
    refs = {name: int(ref["snapshot-id"]) for name, ref in (data.get("refs") or {}).items()}
    current = data.get("current-snapshot-id")
    if MAIN not in refs and current not in (None, -1):
        refs[MAIN] = int(str(current))
    return TableView(
        uuid=str(data.get("table-uuid") or ""),
        head=refs.get(MAIN),
        snapshots={snap.id: snap for snap in map(_snap, data.get("snapshots") or ())},
        refs=refs,
        properties=dict(data.get("properties") or {}),
        log=tuple(str(entry["metadata-file"]) for entry in data.get("metadata-log") or ()),
        read=read,
        names=names,
    )


def of_local(data: Mapping[str, Any]) -> TableView:
    """The view of a metadata file of a table whose files are on this machine."""

    def names(manifest_list: str) -> frozenset[int]:
        from pyiceberg.io import load_file_io

        return _names(load_file_io({}, manifest_list), manifest_list)

    return of_json(data, lambda uri: local_path(uri).read_bytes(), names)


def of_metadata(metadata: TableMetadata, io: FileIO) -> TableView:
    """The view of a loaded table."""

    def read(location: str) -> bytes:
        with io.new_input(location).open() as stream:
            return stream.read()

    snaps = (
        Snap(
            snapshot.snapshot_id,
            snapshot.parent_snapshot_id,
            snapshot.sequence_number or 0,
            _summary(snapshot.summary),
            snapshot.manifest_list,
            snapshot.timestamp_ms,
        )
        for snapshot in metadata.snapshots
    )
    refs = {name: ref.snapshot_id for name, ref in metadata.refs.items()}
    return TableView(
        uuid=str(metadata.table_uuid),
        head=refs.get(MAIN),
        snapshots={snap.id: snap for snap in snaps},
        refs=refs,
        properties=metadata.properties,
        log=tuple(entry.metadata_file for entry in metadata.metadata_log),
        read=read,
        names=lambda manifest_list: _names(io, manifest_list),
    )


def _names(io: FileIO, manifest_list: str) -> frozenset[int]:
    """The snapshots that added the manifests of a list, by pyiceberg: asked only where links do not tell."""
    from pyiceberg.manifest import read_manifest_list

    listed = read_manifest_list(io.new_input(manifest_list))
    return frozenset(int(manifest.added_snapshot_id or 0) for manifest in listed)


def _summary(summary: Any) -> Mapping[str, str]:
    if summary is None:
        return {}
    return ChainMap(summary.additional_properties, {"operation": summary.operation.value})


def _snap(data: Mapping[str, Any]) -> Snap:
    parent = data.get("parent-snapshot-id")
    return Snap(
        id=int(data["snapshot-id"]),
        parent=None if parent is None else int(parent),
        sequence=int(data.get("sequence-number") or 0),
        summary=data.get("summary") or {},
        manifest_list=str(data.get("manifest-list") or ""),
        at=int(data.get("timestamp-ms") or 0),
    )
