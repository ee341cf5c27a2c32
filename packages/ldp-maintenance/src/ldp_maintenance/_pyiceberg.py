"""The only place of this package that relies on inner workings of pyiceberg; each function says why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata


def records_of(content: bytes) -> tuple[str, bytes]:
    """The schema of an Avro file, as it stands in it, and its records as bytes.

    By the decoders that are behind ``read_manifest_list``, because that one makes an object of 15 fields of
    each line, and the lists of a thousand appends have half a million lines, nearly all of them repeated.
    """
    from pyiceberg.avro.decoder import new_decoder
    from pyiceberg.avro.file import META_SCHEMA, SYNC_SIZE, AvroFileHeader
    from pyiceberg.avro.resolver import construct_reader

    decoder = new_decoder(content)
    header = construct_reader(META_SCHEMA, {-1: AvroFileHeader}).read(decoder)
    codec = header.compression_codec()
    blocks = []
    while decoder.tell() < len(content):
        decoder.read_int()
        block = decoder.read_bytes()
        blocks.append(codec.decompress(block) if codec else block)
        if decoder.read(SYNC_SIZE) != header.sync:
            raise ValueError("the Avro file is broken")
    return header.meta["avro.schema"], b"".join(blocks)


def path_reader(schema: str) -> Any:
    """Reads the path of a manifest from records of a manifest list; see ``records_of``.

    Args:
        schema: From ``records_of``.
    """
    from pyiceberg.avro.resolver import resolve_reader
    from pyiceberg.manifest import DEFAULT_READ_VERSION, MANIFEST_LIST_FILE_SCHEMAS
    from pyiceberg.schema import Schema
    from pyiceberg.utils.schema_conversion import AvroSchemaConversion

    path, partitions = 500, 507  # the reader cannot skip a list, so the summaries of partitions come along
    fields = MANIFEST_LIST_FILE_SCHEMAS[DEFAULT_READ_VERSION].fields
    wanted = Schema(*(field for field in fields if field.field_id in (path, partitions)))
    found = AvroSchemaConversion().avro_to_iceberg(json.loads(schema))
    return resolve_reader(found, wanted)


def decoder_of(content: bytes) -> Any:
    """A decoder of records, for ``path_reader``."""
    from pyiceberg.avro.decoder import new_decoder

    return new_decoder(content)


def same_refs(metadata: TableMetadata) -> Any:
    """A requirement that the branches and tags are those of some metadata: no more, no fewer, none moved.

    Of our own because the specification's requirements ask about refs by name only, and pyiceberg drops a tag
    that somebody put meanwhile on a snapshot that goes. Only catalogs whose client checks requirements may
    get it.
    """
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.table.update import ValidatableTableRequirement

    expected = {name: ref.snapshot_id for name, ref in metadata.refs.items()}

    class SameRefs(ValidatableTableRequirement):
        type: str = "assert-same-refs"

        def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override]
            found = {} if base_metadata is None else base_metadata.refs
            if {name: ref.snapshot_id for name, ref in found.items()} != expected:
                raise CommitFailedException("Requirement failed: branches or tags have changed")

    return SameRefs()
