"""How many bytes entries take in a manifest, without writing one to the table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyiceberg.io import InputFile, OutputFile, OutputStream

if TYPE_CHECKING:
    from pyiceberg.manifest import ManifestContent, ManifestEntry
    from pyiceberg.table.metadata import TableMetadata

SAMPLE = 32
"""Entries that are encoded to know the size of all: pyiceberg writes each as a block of its own."""


class Memory(OutputFile):
    """A file that is kept in memory and goes with this object."""

    def __init__(self, location: str = "memory:manifest") -> None:
        super().__init__(location)
        self._body = io.BytesIO()

    def __len__(self) -> int:
        """Bytes written."""
        return self._body.tell()

    def exists(self) -> bool:
        """It is not there before it is written."""
        return False

    def to_input_file(self) -> InputFile:
        """Nobody reads it."""
        raise FileNotFoundError(self.location)

    def create(self, overwrite: bool = False) -> OutputStream:
        """Where it is written to."""
        return self._body


def measured(
    metadata: TableMetadata, content: ManifestContent, spec_id: int, entries: Sequence[ManifestEntry]
) -> tuple[int, float]:
    """Bytes of a manifest before its first entry, and of each entry on average.

    Args:
        metadata: Of the table.
        content: Data files or delete files.
        spec_id: Their partition spec.
        entries: At least one; a few of them, evenly spread, are looked at.
    """
    from ldp_core._pyiceberg import write_delete_manifest
    from ldp_core.commit._manifests import _schema_for, existing
    from pyiceberg.manifest import ManifestContent, write_manifest

    step = max(1, len(entries) // SAMPLE)
    sample = entries[::step][:SAMPLE]
    spec = metadata.specs()[spec_id]
    make = write_manifest if content == ManifestContent.DATA else write_delete_manifest
    codec = metadata.properties.get("write.avro.compression-codec", "gzip")
    with make(
        format_version=metadata.format_version,
        spec=spec,
        schema=_schema_for(spec, metadata.schema(), metadata),
        output_file=Memory(),
        snapshot_id=1,
        avro_compression=codec,  # type: ignore[arg-type]
    ) as writer:
        header = writer.tell()
        for entry in sample:
            writer.add_entry(existing(entry))
        return header, max(1.0, (writer.tell() - header) / len(sample))
