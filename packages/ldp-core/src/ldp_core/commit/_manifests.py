"""Manifests of a snapshot: the added files, those that lose files, small ones merged, the rest reused.

Format: the manifest and manifest list of the Iceberg table specification, versions 1 and 2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriter,
    write_manifest,
)

from ldp_core._pyiceberg import manifest_entries, write_delete_manifest

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata

MIN_COUNT_TO_MERGE = 100
TARGET_SIZE_BYTES = 8 * 1024 * 1024


@dataclass
class Manifests:
    """Writes the manifests of one snapshot id.

    Attributes:
        io: Opens the table's files.
        snapshot_id: The snapshot they belong to.
        new_path: Gives the location of a new metadata file with a suffix such as ``m0.avro``.
        written: Every file written so far, used in the end or not.
    """

    io: FileIO
    snapshot_id: int
    new_path: Callable[[str], str]
    written: list[str] = field(default_factory=list)
    _added: dict[tuple[object, ...], ManifestWriter] = field(default_factory=dict)
    _count: int = 0

    def added(
        self,
        metadata: TableMetadata,
        schema: Schema,
        files: Sequence[DataFile],
        sequence: int | None = None,
    ) -> list[ManifestFile]:
        """A manifest that holds the added files, one for each partition spec, and for delete files another.

        The file of an earlier attempt is used again; the entry for it is made anew, since the list writer
        puts the loser's sequence number into it.

        Args:
            metadata: Of the table.
            schema: The schema that the snapshot is written with.
            files: Data files and delete files.
            sequence: The data sequence number of the data files; the snapshot's by default.
        """
        groups: dict[tuple[ManifestContent, int], list[DataFile]] = defaultdict(list)
        for file in files:
            groups[content_of(file), spec_id_of(file, metadata)].append(file)
        manifests = []
        for (content, spec_id), group in sorted(groups.items(), key=lambda item: item[0]):
            number = sequence if content == ManifestContent.DATA and metadata.format_version > 1 else None
            paths = (file.file_path for file in group)
            key = (metadata.table_uuid, schema.schema_id, content, spec_id, number, *paths)
            writer = self._added.get(key)
            if writer is None:
                entries = [
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.ADDED,
                        snapshot_id=self.snapshot_id,
                        sequence_number=number,
                        data_file=file,
                    )
                    for file in group
                ]
                spec = metadata.specs()[spec_id]
                fitting = _schema_for(spec, schema, metadata)
                writer = self._write(metadata, fitting, spec, entries, content)
                self._added[key] = writer
            manifests.append(writer.to_manifest_file())
        return manifests

    def without(
        self,
        metadata: TableMetadata,
        schema: Schema,
        manifests: Iterable[ManifestFile],
        removed: Mapping[str, DataFile],
    ) -> tuple[list[ManifestFile], list[DataFile]]:
        """Manifests of the base after some files are gone.

        Returns:
            The manifests, rewritten where they held a removed file, and the removed files that were found.
        """
        kept: list[ManifestFile] = []
        found: list[DataFile] = []
        for manifest in manifests:
            if not self._concerned(manifest, removed):
                kept.append(manifest)
                continue
            entries = manifest_entries(manifest, self.io)
            gone = [entry for entry in entries if entry.data_file.file_path in removed]
            if not gone:
                kept.append(manifest)
                continue
            found += [entry.data_file for entry in gone]
            rewritten = [
                _deleted(entry, self.snapshot_id) if entry.data_file.file_path in removed else existing(entry)
                for entry in entries
            ]
            spec_id = manifest.partition_spec_id
            kept.append(self.rewrite(metadata, schema, spec_id, rewritten, manifest.content))
        return kept, found

    @staticmethod
    def _concerned(manifest: ManifestFile, removed: Mapping[str, DataFile]) -> bool:
        """Whether a manifest may hold one of the files: by what it holds, and by partition spec."""
        return any(
            content_of(file) == manifest.content
            and getattr(file, "_spec_id", None) in (None, manifest.partition_spec_id)
            for file in removed.values()
        )

    def merged(
        self, metadata: TableMetadata, schema: Schema, manifests: Sequence[ManifestFile]
    ) -> list[ManifestFile]:
        """Small data manifests of older snapshots put together once there are many of them.

        The table's ``commit.manifest-merge.enabled``, ``commit.manifest.min-count-to-merge`` and
        ``commit.manifest.target-size-bytes`` hold.
        """
        properties = metadata.properties
        if properties.get("commit.manifest-merge.enabled", "true").lower() == "false":
            return list(manifests)
        least = max(2, int(properties.get("commit.manifest.min-count-to-merge", MIN_COUNT_TO_MERGE)))
        target = int(properties.get("commit.manifest.target-size-bytes", TARGET_SIZE_BYTES))
        small: dict[int, list[ManifestFile]] = defaultdict(list)
        for manifest in manifests:
            mergeable = (
                manifest.content == ManifestContent.DATA
                and manifest.added_snapshot_id != self.snapshot_id
                and manifest.manifest_length < target
            )
            if mergeable:
                small[manifest.partition_spec_id].append(manifest)
        replaced: dict[str, ManifestFile | None] = {}
        for spec_id, group in small.items():
            if len(group) < least:
                continue
            for bin_ in _bins(group, target):
                if len(bin_) > 1:
                    entries = [existing(entry) for item in bin_ for entry in manifest_entries(item, self.io)]
                    whole = self.rewrite(metadata, schema, spec_id, entries) if entries else None
                    replaced |= {item.manifest_path: None for item in bin_}
                    replaced[bin_[0].manifest_path] = whole
        chosen = (replaced.get(item.manifest_path, item) for item in manifests)
        return [item for item in chosen if item is not None]

    def rewrite(
        self,
        metadata: TableMetadata,
        schema: Schema,
        spec_id: int,
        entries: Sequence[ManifestEntry],
        content: ManifestContent = ManifestContent.DATA,
    ) -> ManifestFile:
        """A manifest of entries of one partition spec: of data files, or of delete files."""
        spec = metadata.specs()[spec_id]
        fitting = _schema_for(spec, schema, metadata)
        return self._write(metadata, fitting, spec, entries, content).to_manifest_file()

    def _write(
        self,
        metadata: TableMetadata,
        schema: Schema,
        spec: PartitionSpec,
        entries: Sequence[ManifestEntry],
        content: ManifestContent = ManifestContent.DATA,
    ) -> ManifestWriter:
        path = self.new_path(f"m{self._count}.avro")
        self._count += 1
        self.written.append(path)
        codec = metadata.properties.get("write.avro.compression-codec", "gzip")
        make = write_manifest if content == ManifestContent.DATA else write_delete_manifest
        with make(
            format_version=metadata.format_version,
            spec=spec,
            schema=schema,
            output_file=self.io.new_output(path),
            snapshot_id=self.snapshot_id,
            avro_compression=codec,  # type: ignore[arg-type]
        ) as writer:
            for entry in entries:
                writer.add_entry(entry)
        return writer


def live(manifests: Iterable[ManifestFile]) -> list[ManifestFile]:
    """Manifests that hold a live file; one that only records older deletions is not carried on."""
    return [manifest for manifest in manifests if manifest.has_added_files() or manifest.has_existing_files()]


def content_of(file: DataFile) -> ManifestContent:
    """The content of manifests that may hold a file."""
    return ManifestContent.DATA if file.content == DataFileContent.DATA else ManifestContent.DELETES


def spec_id_of(file: DataFile, metadata: TableMetadata) -> int:
    """The partition spec a data file was written under; the table's default where it does not say."""
    spec_id = getattr(file, "_spec_id", None)
    return metadata.default_spec_id if spec_id is None else int(spec_id)


def existing(entry: ManifestEntry) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.EXISTING,
        snapshot_id=entry.snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=_plain(entry.data_file),
    )


def _deleted(entry: ManifestEntry, snapshot_id: int) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.DELETED,
        snapshot_id=snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=_plain(entry.data_file),
    )


def _plain(file: DataFile) -> DataFile:
    """A data file with its content: manifests of version 1 have none, and what is read then is a number."""
    if not isinstance(file.content, DataFileContent):
        file[0] = DataFileContent(int(file.content))
    return file


def _schema_for(spec: PartitionSpec, schema: Schema, metadata: TableMetadata) -> Schema:
    """A schema that still has the columns an older partition spec is drawn from."""
    wanted = {partition.source_id for partition in spec.fields}
    for candidate in (schema, *reversed(metadata.schemas)):
        if wanted <= set(candidate.field_ids):
            return candidate
    return schema


def _bins(manifests: Sequence[ManifestFile], target: int) -> list[list[ManifestFile]]:
    """Consecutive manifests whose sizes add up to at most the target."""
    bins: list[list[ManifestFile]] = []
    size = target + 1
    for manifest in manifests:
        if size + manifest.manifest_length > target:
            bins.append([])
            size = 0
        bins[-1].append(manifest)
        size += manifest.manifest_length
    return bins
