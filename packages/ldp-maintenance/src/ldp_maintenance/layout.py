"""How a table lies in its files, in numbers, and what a scan of it is expected to cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from ldp_maintenance.inventory import Inventory, ManifestCache, head_of, take
from ldp_maintenance.model import Target
from ldp_maintenance.rewrite.candidates import concerns, target_size

if TYPE_CHECKING:
    from ldp_core.commit.change import Base

OPEN_BYTES = 4 * 1024 * 1024
"""What opening a file costs, in bytes that could be read meanwhile (``read.split.open-file-cost``)."""
BYTES_PER_SECOND = 200 * 1024 * 1024
"""What one reader reads from a store in a second."""
DELETES_PER_SECOND = 5_000_000
"""Deletes of delete files that one reader takes in and looks up in a second."""


@dataclass(frozen=True)
class Layout:
    """A snapshot in numbers.

    Attributes:
        table: ``namespace.table``.
        snapshot_id: None for an empty table.
        format_version: Of the table.
        data_files: Live data files.
        data_bytes: In them.
        rows: Records in them, deleted ones included.
        average_file_bytes: Bytes of a data file on average.
        median_file_bytes: Half of the data files are smaller.
        target_file_bytes: What a data file should have.
        small_files: Data files below the share of the target that makes them candidates.
        mergeable_files: Small files that have another one in their partition, less the one that stays.
        delete_files: Live delete files, those that apply to nothing too.
        delete_bytes: In them.
        deletes: Deletes in those that apply: positions, and keys of equality deletes.
        delete_reads: Delete files that a scan opens: each again for each data file that it applies to.
        manifests: Of the snapshot.
        manifest_bytes: In them.
        manifests_per_partition: Manifests of data files that name a partition, on average.
        metadata_bytes: Size of the metadata file; 0 where it cannot be told.
        snapshots: Snapshots in the metadata.
        partitions: Partitions that hold data.
        files_per_partition: Data files in a partition on average.
        most_files_in_a_partition: And in the fullest.
        skew: Bytes of the largest partition in those of the median one.
    """

    table: str
    snapshot_id: int | None = None
    format_version: int = 2
    data_files: int = 0
    data_bytes: int = 0
    rows: int = 0
    average_file_bytes: int = 0
    median_file_bytes: int = 0
    target_file_bytes: int = 0
    small_files: int = 0
    mergeable_files: int = 0
    delete_files: int = 0
    delete_bytes: int = 0
    deletes: int = 0
    delete_reads: int = 0
    manifests: int = 0
    manifest_bytes: int = 0
    manifests_per_partition: float = 0.0
    metadata_bytes: int = 0
    snapshots: int = 0
    partitions: int = 0
    files_per_partition: float = 0.0
    most_files_in_a_partition: int = 0
    skew: float = 1.0

    @property
    def scan_seconds(self) -> float:
        """What one reader is expected to need for a full scan.

        ``(opened * OPEN_BYTES + read) / BYTES_PER_SECOND + deletes / DELETES_PER_SECOND``, where ``opened``
        is data files, delete files once for each data file that they apply to, manifests, and the metadata
        file; ``read`` is the bytes of data files, delete files, manifests and the metadata file. It is a
        model for comparing two states of one table; it is not a promise of seconds.
        """
        opened = self.data_files + self.delete_reads + self.manifests + 1
        read = self.data_bytes + self.delete_bytes + self.manifest_bytes + self.metadata_bytes
        return (opened * OPEN_BYTES + read) / BYTES_PER_SECOND + self.deletes / DELETES_PER_SECOND

    @property
    def read_amplification(self) -> float:
        """How many times what it must a scan costs: beside the same live bytes in files of the target size.

        There the table has no deletes, one manifest, a metadata file of no size, and at least one file in
        each partition.
        """
        if not self.data_files:
            return 1.0
        share = 1 - min(self.deletes, self.rows) / self.rows if self.rows else 1.0
        live = self.data_bytes * share
        files = max(self.partitions, -(-int(live) // max(self.target_file_bytes, 1)), 1)
        least = (min(files, self.data_files) + 2) * OPEN_BYTES + live
        return max(1.0, self.scan_seconds * BYTES_PER_SECOND / least)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; the snapshot id is text."""
        found = asdict(self)
        found["snapshot_id"] = None if self.snapshot_id is None else str(self.snapshot_id)
        found["scan_seconds"] = round(self.scan_seconds, 4)
        found["read_amplification"] = round(self.read_amplification, 2)
        return found


def layout_of(target: Target, branch: str | None = None) -> dict[str, Any]:
    """The numbers of a table as JSON; see ``Layout``.

    Raises:
        TableNotFound: It does not exist.
        SnapshotNotFound: There is no such branch.
    """
    return measure(target, branch).to_dict()


def measure(target: Target, branch: str | None = None) -> Layout:
    """The numbers of a branch of a table; main by default.

    Raises:
        TableNotFound: It does not exist.
        SnapshotNotFound: There is no such branch.
    """
    base = target.base()
    cache = target.cache(base.io)
    return of(target, base, take(base.metadata, cache, head_of(base.metadata, branch)), cache)


def of(target: Target, base: Base, inventory: Inventory, cache: ManifestCache) -> Layout:
    """The numbers of an inventory that was taken.

    Args:
        target: The table; its policy says what a small file is.
        base: The table as it was when the inventory was taken.
        inventory: What a snapshot holds.
        cache: With which it was taken.
    """
    rewrite = target.policy.rewrite
    wanted = target_size(rewrite, base.metadata.properties)
    sizes = [file.size for file in inventory.files]
    by_partition: dict[Any, list[int]] = defaultdict(list)
    for entry, size in zip(inventory.data, sizes, strict=True):
        by_partition[_partition(entry)].append(size)
    small = rewrite.min_file_size_ratio * wanted
    held = [sum(group) for group in by_partition.values()]
    counts = [len(group) for group in by_partition.values()]
    small_counts = [sum(size < small for size in group) for group in by_partition.values()]
    reads, used = _reads(inventory)
    return Layout(
        table=target.name,
        snapshot_id=inventory.snapshot.snapshot_id if inventory.snapshot else None,
        format_version=base.metadata.format_version,
        data_files=len(sizes),
        data_bytes=sum(sizes),
        rows=sum(file.rows for file in inventory.files),
        average_file_bytes=int(mean(sizes)) if sizes else 0,
        median_file_bytes=int(median(sizes)) if sizes else 0,
        target_file_bytes=wanted,
        small_files=sum(small_counts),
        mergeable_files=sum(max(count - 1, 0) for count in small_counts),
        delete_files=len(inventory.deletes),
        delete_bytes=sum(entry.data_file.file_size_in_bytes for entry in inventory.deletes),
        deletes=used,
        delete_reads=reads,
        manifests=len(inventory.manifests),
        manifest_bytes=sum(manifest.manifest_length for manifest in inventory.manifests),
        manifests_per_partition=_manifests_per_partition(inventory, cache),
        metadata_bytes=_metadata_bytes(base),
        snapshots=len(base.metadata.snapshots),
        partitions=len(held),
        files_per_partition=round(mean(counts), 2) if counts else 0.0,
        most_files_in_a_partition=max(counts, default=0),
        skew=round(max(held) / max(median(held), 1), 2) if held else 1.0,
    )


def speed_up(before: Layout | Mapping[str, Any], after: Layout | Mapping[str, Any]) -> float:
    """How many times faster a full scan is expected to be, by ``Layout.scan_seconds``."""
    old, new = (
        item.scan_seconds if isinstance(item, Layout) else float(item["scan_seconds"])
        for item in (before, after)
    )
    return old / new if new else 1.0


def _reads(inventory: Inventory) -> tuple[int, int]:
    """Delete files opened in a scan, one count for each data file, and the deletes in those that apply."""
    applied: Sequence[Any] = inventory.applied
    reads, used = 0, set()
    for entry, file in zip(inventory.data, inventory.files, strict=True):
        own = [number for number in file.deletes if concerns(applied[number], entry)]
        reads += len(own)
        used.update(own)
    return reads, sum(applied[number].data_file.record_count for number in used)


def _manifests_per_partition(inventory: Inventory, cache: ManifestCache) -> float:
    from pyiceberg.manifest import ManifestContent, ManifestEntryStatus

    named: dict[Any, set[str]] = defaultdict(set)
    for manifest in inventory.manifests:
        live = manifest.has_added_files() or manifest.has_existing_files()
        if manifest.content != ManifestContent.DATA or not live:
            continue
        for entry in cache.entries(manifest):
            if entry.status != ManifestEntryStatus.DELETED:
                named[_partition(entry)].add(manifest.manifest_path)
    return round(mean(len(paths) for paths in named.values()), 2) if named else 0.0


def _partition(entry: Any) -> tuple[Any, ...]:
    from ldp_core.tables.scan_plan import partition_key

    return (entry.data_file.spec_id, *partition_key(entry.data_file.partition or ()))


def _metadata_bytes(base: Base) -> int:
    if not base.metadata_location:
        return 0
    try:
        return len(base.io.new_input(base.metadata_location))
    except OSError:
        return 0
