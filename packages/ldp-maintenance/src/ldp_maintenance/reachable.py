"""Every file that a table's metadata points at, and those that it points at no longer.

Manifests and manifest lists are read once each, however many snapshots share them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ldp_core._pyiceberg import manifest_entries
from ldp_core.errors import LDPError
from ldp_core.tables.manifests import side_by_side

from ldp_maintenance.lists import ManifestLists
from ldp_maintenance.places import Places

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

Kind = Literal[
    "data",
    "delete",
    "manifest",
    "manifest_list",
    "metadata",
    "statistics",
    "partition_statistics",
    "version_hint",
]
_THREADS = 8


class FileGone(LDPError):
    """A file that the table refers to is not there, or cannot be read."""

    code = "file_gone"


def _gone(what: str, error: Exception) -> FileGone:
    return FileGone(
        f"{what} cannot be read: {type(error).__name__}",
        hint="restore the file, or roll the table back to a snapshot that is whole",
    )


@dataclass(frozen=True)
class File:
    """A file of a table.

    Attributes:
        path: As the table spells it.
        kind: What it is.
        bytes: Its size, where the table tells.
    """

    path: str
    kind: Kind
    bytes: int | None = None


@dataclass
class Reader:
    """Reads what points at files, each file once.

    Attributes:
        io: Opens the table's files.
        places: Tells spellings of one place apart from other places.
    """

    io: FileIO
    places: Places = field(default_factory=Places)
    _lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _manifests: dict[str, ManifestFile] = field(default_factory=dict)
    _files: dict[str, tuple[File, ...]] = field(default_factory=dict)
    _reader: ManifestLists = field(init=False)

    def __post_init__(self) -> None:
        self._reader = ManifestLists(self.io)

    def paths(self, snapshot: Snapshot) -> tuple[str, ...]:
        """The paths of the manifests of a snapshot.

        Raises:
            FileGone: Its manifest list cannot be read.
        """
        location = snapshot.manifest_list
        found = self._lists.get(location)
        if found is None:
            try:
                found = self._lists[location] = self._reader.paths(location)
            except Exception as error:  # a broken file breaks its decoder in many ways
                raise _gone(
                    f"the manifest list {location} of snapshot {snapshot.snapshot_id}", error
                ) from error
        return found

    def manifests(self, snapshots: Iterable[Snapshot], wanted: Collection[str]) -> dict[str, ManifestFile]:
        """Manifests of some snapshots, by path: only lists that tell of a new one are read whole.

        Args:
            snapshots: The snapshots.
            wanted: The paths of the manifests.

        Raises:
            FileGone: A manifest list cannot be read.
        """
        from pyiceberg.manifest import read_manifest_list

        missing = {path for path in wanted if path not in self._manifests}
        # The newest lists tell of most manifests.
        for snapshot in sorted(snapshots, key=lambda item: -item.timestamp_ms):
            if not missing:
                break
            if missing.isdisjoint(self.paths(snapshot)):
                continue
            try:
                listed = list(read_manifest_list(self.io.new_input(snapshot.manifest_list)))
            except Exception as error:  # a broken file breaks its decoder in many ways
                raise _gone(
                    f"the manifest list {snapshot.manifest_list} of snapshot {snapshot.snapshot_id}", error
                ) from error
            for manifest in listed:
                self._manifests.setdefault(manifest.manifest_path, manifest)
                missing.discard(manifest.manifest_path)
        return {path: self._manifests[path] for path in wanted}

    def files(self, manifest: ManifestFile) -> tuple[File, ...]:
        """The live files of a manifest.

        Raises:
            FileGone: It cannot be read.
        """
        from pyiceberg.manifest import DataFileContent

        path = manifest.manifest_path
        found = self._files.get(path)
        if found is None:
            try:
                entries = manifest_entries(manifest, self.io)
            except Exception as error:  # a broken file breaks its decoder in many ways
                raise _gone(f"the manifest {path}", error) from error
            found = self._files[path] = tuple(
                File(
                    entry.data_file.file_path,
                    "data" if entry.data_file.content == DataFileContent.DATA else "delete",
                    entry.data_file.file_size_in_bytes,
                )
                for entry in entries
            )
        return found

    def ahead(self, manifests: Iterable[ManifestFile]) -> None:
        """Read manifests, several at a time where they are far."""
        missing = {item.manifest_path: item for item in manifests if item.manifest_path not in self._files}
        wanted = list(missing.values())
        side_by_side(list(missing), lambda number: self.files(wanted[number]), _THREADS)


def of_snapshots(snapshots: Iterable[Snapshot], reader: Reader) -> dict[str, File]:
    """The manifest lists, manifests and files of snapshots, by the keys of their places.

    Raises:
        FileGone: A manifest or a manifest list cannot be read.
    """
    found: dict[str, File] = {}
    snapshots = list(snapshots)
    paths: set[str] = set()
    for snapshot in reversed(snapshots):  # a list holds what the one before it held
        location = snapshot.manifest_list
        found.setdefault(reader.places.key(location), File(location, "manifest_list"))
        paths.update(reader.paths(snapshot))
    manifests = reader.manifests(snapshots, paths)
    reader.ahead(manifests.values())
    for path, manifest in manifests.items():
        found.setdefault(reader.places.key(path), File(path, "manifest", manifest.manifest_length))
        for file in reader.files(manifest):
            found.setdefault(reader.places.key(file.path), file)
    return found


def of_metadata(metadata: TableMetadata, location: str, places: Places) -> dict[str, File]:
    """What the metadata itself names: its own files, the older ones of its log, and statistics."""
    from ldp_maintenance.places import roots

    found: dict[str, File] = {}
    for file in _own(metadata, location):
        found.setdefault(places.key(file.path), file)
    folders = {location.rpartition("/")[0], *(f"{root}/metadata" for root in roots(metadata)[:1])}
    for folder in folders:
        if folder:
            path = f"{folder}/version-hint.text"
            found.setdefault(places.key(path), File(path, "version_hint"))
    return found


def _own(metadata: TableMetadata, location: str) -> Iterator[File]:
    if location:
        yield File(location, "metadata")
    for entry in metadata.metadata_log:
        yield File(entry.metadata_file, "metadata")
    for item in metadata.statistics:
        yield File(item.statistics_path, "statistics", item.file_size_in_bytes)
    for part in metadata.partition_statistics:
        yield File(part.statistics_path, "partition_statistics", part.file_size_in_bytes)


@dataclass(frozen=True)
class Unreached:
    """Files that metadata pointed at and points at no longer.

    Attributes:
        files: They.
        unread: Manifest lists and manifests of removed snapshots that cannot be read: what they alone pointed
            at is not among the files.
    """

    files: tuple[File, ...] = ()
    unread: tuple[str, ...] = ()


def no_longer(
    before: TableMetadata, after: Collection[TableMetadata], reader: Reader, *, own: bool = False
) -> Unreached:
    """The files that one state of a table reaches and none of some later ones does.

    Only manifests that no later state holds are read, and the others only where a file of those may still be
    live in one of them: manifests are rewritten, and their entries move.

    Args:
        before: The table as it was.
        after: As it is: all states that count.
        reader: Keeps what is read.
        own: Also metadata files that fell out of the log.

    Raises:
        FileGone: A manifest or a manifest list of a later state cannot be read.
    """
    key = reader.places.key
    kept = {item.snapshot_id: item for state in after for item in state.snapshots}
    kept_paths = {path for snapshot in kept.values() for path in reader.paths(snapshot)}
    kept_keys = {key(item.manifest_list) for item in kept.values()} | {key(path) for path in kept_paths}
    gone: dict[str, File] = {}
    removed: list[Snapshot] = []
    paths: set[str] = set()
    unread: list[str] = []
    for snapshot in reversed(before.snapshots):  # a list holds what the one before it held
        if snapshot.snapshot_id in kept:
            continue
        gone.setdefault(key(snapshot.manifest_list), File(snapshot.manifest_list, "manifest_list"))
        try:
            paths.update(reader.paths(snapshot))
        except FileGone:
            unread.append(snapshot.manifest_list)
        else:
            removed.append(snapshot)
    only = {path for path in paths - kept_paths if key(path) not in kept_keys}
    files: dict[str, File] = {}
    for path, manifest in reader.manifests(removed, only).items():
        gone[key(path)] = File(path, "manifest", manifest.manifest_length)
        try:
            files.update({key(file.path): file for file in reader.files(manifest)})
        except FileGone:
            unread.append(path)
    if files:
        held = reader.manifests(kept.values(), kept_paths)
        reader.ahead(held.values())
        for manifest in held.values():
            for file in reader.files(manifest):
                files.pop(key(file.path), None)
    gone.update(files)
    gone.update(_named_no_longer(before, after, reader, own))
    still = kept_keys | {k for state in after for k in _named(state, reader)}
    return Unreached(tuple(file for place, file in gone.items() if place not in still), tuple(unread))


def _named(metadata: TableMetadata, reader: Reader) -> dict[str, File]:
    return {reader.places.key(file.path): file for file in _own(metadata, "")}


def _named_no_longer(
    before: TableMetadata, after: Collection[TableMetadata], reader: Reader, own: bool
) -> dict[str, File]:
    found = {} if not own else dict(_named(before, reader))
    found |= {k: f for k, f in _named(before, reader).items() if f.kind != "metadata"}
    for state in after:
        for place in _named(state, reader):
            found.pop(place, None)
    return found
