"""The live files of a snapshot, each manifest read once however many snapshots share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ldp_core._pyiceberg import manifest_entries
from ldp_core.errors import SnapshotNotFound
from ldp_core.tables.manifests import all_entries

if TYPE_CHECKING:
    from ldp_core.tables.scan import ScanFile
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestEntry, ManifestFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot


@dataclass
class ManifestCache:
    """Manifest lists and manifests that were read, by path; files of a table never change.

    Attributes:
        io: Opens the table's files.
    """

    io: FileIO
    _lists: dict[str, list[ManifestFile]] = field(default_factory=dict)
    _entries: dict[str, list[ManifestEntry]] = field(default_factory=dict)

    def manifests(self, snapshot: Snapshot) -> list[ManifestFile]:
        """The manifests of a snapshot."""
        found = self._lists.get(snapshot.manifest_list)
        if found is None:
            found = self._lists[snapshot.manifest_list] = list(snapshot.manifests(self.io))
        return found

    def entries(self, manifest: ManifestFile) -> list[ManifestEntry]:
        """Every entry of a manifest, those of deletions too, with the sequence numbers that hold."""
        found = self._entries.get(manifest.manifest_path)
        if found is None:
            found = self._entries[manifest.manifest_path] = manifest_entries(manifest, self.io, deleted=True)
        return found

    def read(self, manifests: Iterable[ManifestFile]) -> None:
        """Read manifests ahead, several at a time where they are far."""
        missing = [m for m in manifests if m.manifest_path not in self._entries]
        found = all_entries(missing, self.io, deleted=True)
        self._entries.update((m.manifest_path, held) for m, held in zip(missing, found, strict=True))


@dataclass(frozen=True)
class Inventory:
    """What a snapshot holds.

    Attributes:
        snapshot: The snapshot; None for an empty table.
        manifests: Its manifests, those that only record deletions too.
        data: Live entries of data files.
        deletes: Live entries of delete files.
        files: The data files in the same order as ``data``, each with the positions in ``applied`` of the
            delete files that apply to it.
        applied: The entries of delete files that apply to any data file.
    """

    snapshot: Snapshot | None
    manifests: tuple[ManifestFile, ...] = ()
    data: tuple[ManifestEntry, ...] = ()
    deletes: tuple[ManifestEntry, ...] = ()
    files: tuple[ScanFile, ...] = ()
    applied: tuple[ManifestEntry, ...] = ()

    @property
    def dangling(self) -> tuple[ManifestEntry, ...]:
        """Delete files that apply to no data file."""
        used = {entry.data_file.file_path for entry in self.applied}
        # A puffin file holds vectors of several data files: an entry is one vector, so compare the objects.
        ids = {id(entry) for entry in self.applied}
        return tuple(e for e in self.deletes if id(e) not in ids and e.data_file.file_path not in used)


def head_of(metadata: TableMetadata, branch: str | None = None) -> Snapshot | None:
    """The snapshot that a branch points at; main by default, None for an empty main.

    Raises:
        SnapshotNotFound: There is no such branch.
    """
    if branch is None or branch == "main":
        return metadata.current_snapshot()
    ref = metadata.refs.get(branch)
    if ref is None or ref.snapshot_ref_type.value != "branch":
        branches = sorted(n for n, r in metadata.refs.items() if r.snapshot_ref_type.value == "branch")
        raise SnapshotNotFound(f"no branch {branch!r}; branches: {', '.join(branches) or 'none'}")
    return metadata.snapshot_by_id(ref.snapshot_id)


def take(metadata: TableMetadata, cache: ManifestCache, snapshot: Snapshot | None) -> Inventory:
    """What a snapshot holds.

    Args:
        metadata: Of the table.
        cache: Keeps what is read.
        snapshot: The snapshot.
    """
    from ldp_core.tables.scan_plan import match
    from pyiceberg.manifest import DataFileContent, ManifestEntryStatus

    if snapshot is None:
        return Inventory(None)
    manifests = cache.manifests(snapshot)
    holding = [one for one in manifests if one.has_added_files() or one.has_existing_files()]
    cache.read(holding)
    live = [
        entry
        for manifest in holding
        for entry in cache.entries(manifest)
        if entry.status != ManifestEntryStatus.DELETED
    ]
    data = [entry for entry in live if entry.data_file.content == DataFileContent.DATA]
    deletes = [entry for entry in live if entry.data_file.content != DataFileContent.DATA]
    files, applied = match(metadata, data, deletes)
    return Inventory(snapshot, tuple(manifests), tuple(data), tuple(deletes), tuple(files), tuple(applied))
