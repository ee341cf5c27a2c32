"""Tables of format version 3, as far as can be made here: pyiceberg reads their metadata, it writes none."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.fs import local_path
from ldp_core.testing import deletes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record

from ldp_maintenance.testing import builders
from ldp_maintenance.testing.looks import live_files

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table

_MAGIC = b"PFA1"
_VECTOR_MAGIC = struct.pack("<I", 1681511377)


def v3_table(catalog: SqlCatalog, name: str = "three", *, files: int = 3, vectors: bool = True) -> Table:
    """A version 3 table of ``files`` appends with row lineage; a deletion vector drops row 0 of the first.

    Args:
        catalog: From ``builders.catalog``.
        name: Its name.
        files: Appends of ten rows.
        vectors: Whether there is a deletion vector.
    """
    made = builders.table(catalog, name)
    paths = builders.small_files(made, files)
    if vectors:
        deletes.commit(made, _vector(made, paths[0], [0]))
    body = json.loads(local_path(made.metadata_location).read_text())
    body["format-version"] = 3
    body["next-row-id"] = 10 * files
    for number, snapshot in enumerate(sorted(body["snapshots"], key=lambda item: item["sequence-number"])):
        snapshot["first-row-id"] = 10 * min(number, files)
        snapshot["added-rows"] = 10 if number < files else 0
    folder = made.metadata_location.rpartition("/")[0]
    place = f"{folder}/00099-00000000-0000-0000-0000-000000000003.metadata.json"
    local_path(place).write_text(json.dumps(body))
    catalog.drop_table(("db", name))
    return catalog.register_table(("db", name), place)


def _vector(table: Table, path: str, positions: list[int]) -> DataFile:
    """A deletion vector (``deletion-vector-v1`` of the puffin specification) for a data file."""
    from pyroaring import BitMap

    body = _VECTOR_MAGIC + struct.pack("<Q", 1) + struct.pack("<I", 0) + BitMap(positions).serialize()
    blob = struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    fields: dict[str, Any] = {
        "type": "deletion-vector-v1",
        "fields": [2147483645],
        "snapshot-id": -1,
        "sequence-number": -1,
        "offset": 4,
        "length": len(blob),
        "properties": {"referenced-data-file": path, "cardinality": str(len(positions))},
    }
    footer = json.dumps({"blobs": [fields]}).encode()
    tail = _MAGIC + footer + struct.pack("<I", len(footer)) + bytes(4) + _MAGIC
    place = Path(local_path(f"{table.location()}/data/vectors-{len(path)}.puffin"))
    place.write_bytes(_MAGIC + blob + tail)
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=str(place),
        file_format=FileFormat.PUFFIN,
        partition=live_files(table)[path].partition or Record(),
        record_count=len(positions),
        file_size_in_bytes=place.stat().st_size,
    )
    file.spec_id = live_files(table)[path].spec_id
    return file
