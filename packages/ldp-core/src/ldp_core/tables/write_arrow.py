"""Data files through Arrow: to object stores, and for what a DuckDB copy cannot write (``fixed[n]``)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ldp_core import fs
from ldp_core._duck import ident, streamed
from ldp_core.tables import partition_sql
from ldp_core.tables.metrics import data_file
from ldp_core.tables.types import from_iceberg
from ldp_core.tables.write import Layout, Written, key_columns, unused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Record
    from pyiceberg.types import IcebergType

_BATCH = 100_000
_LEVELS = {"zstd": 3}
"""The level of compression where Arrow's own is not that of a DuckDB copy."""


def write_batches(
    con: DuckDBPyConnection, sql: str, layout: Layout, place: str, flag: str | None = None
) -> Written:
    """Write a batch, one file at a time; the rows of a partitioned table are sorted by partition first.

    Args:
        con: The run's connection.
        sql: A SELECT of the columns of ``layout.schema``.
        layout: How files look.
        place: The folder or key prefix of the new files.
        flag: See ``write_files``. Without partitions the two kinds of rows are written side by side.
    """
    schema = file_schema(layout.schema)
    columns = ", ".join(ident(name) for name in schema.names)
    keys = key_columns(layout)
    code = " || '|' || ".join(f"coalesce(CAST({key} AS VARCHAR), 'null')" for _, key in keys) or "''"
    if flag is not None:
        code = f"{code} || '|' || {ident(flag)}" if keys else f"CAST({ident(flag)} AS INTEGER)"
    name = unused(layout, "__p")
    query = f"SELECT {columns}, {code} AS {ident(name)} FROM ({sql}) AS b"
    if keys:
        query += f" ORDER BY {ident(name)}"
    pieces = _runs if keys or flag is None else _sides
    files: list[DataFile] = []
    writers: dict[Any, _Writer] = {}
    con.execute("SET arrow_lossless_conversion=true")  # a uuid is else read as text
    try:
        for batch in streamed(con, query, _BATCH):
            for value, part in pieces(batch, name):
                if keys:
                    files += [writers.pop(other).finish() for other in [*writers] if other != value]
                if value in writers and writers[value].size >= layout.target_size:
                    files.append(writers.pop(value).finish())
                rows = pa.Table.from_batches([part]).select(schema.names).cast(schema)
                if value not in writers:
                    partition = partition_sql.record(layout.spec, layout.schema, rows)
                    writers[value] = _Writer(layout, place, schema, partition)
                writers[value].write(rows)
        files += [writers.pop(value).finish() for value in [*writers]]
    finally:
        for writer in writers.values():
            writer.close()
        con.execute("RESET arrow_lossless_conversion")
    return Written(tuple(files), sum(f.record_count for f in files), sum(f.file_size_in_bytes for f in files))


def file_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of a data file: Iceberg's types with a Parquet field id at every field."""
    return pa.schema(
        [_with_id(f.name, _numbered(f.field_type), f.optional, f.field_id) for f in schema.fields]
    )


class _Writer:
    """One file that is being written."""

    def __init__(self, layout: Layout, place: str, schema: pa.Schema, partition: Record) -> None:
        self.layout = layout
        self.path = f"{place}/{uuid.uuid4()}.parquet"
        self.partition = partition
        self.collected: list[Any] = []
        filesystem, inner = fs.arrow_fs(self.path, layout.io_properties)
        if fs.is_local(self.path):
            fs.local_path(self.path).parent.mkdir(parents=True, exist_ok=True)
        self.sink = filesystem.open_output_stream(inner)
        codec = layout.codec
        self.writer = pq.ParquetWriter(
            self.sink,
            schema,
            compression="none" if codec == "uncompressed" else codec,
            compression_level=_LEVELS.get(codec),
            metadata_collector=self.collected,
            store_schema=False,
            store_decimal_as_integer=True,
        )
        self.waiting: list[pa.Table] = []

    @property
    def size(self) -> int:
        """Bytes so far."""
        return int(self.sink.tell())

    def write(self, rows: pa.Table) -> None:
        """Add rows; a row group is written when enough of them wait."""
        self.waiting.append(rows)
        if sum(waiting.num_rows for waiting in self.waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self.waiting:
            self.writer.write_table(pa.concat_tables(self.waiting))
            self.waiting.clear()

    def close(self) -> None:
        """End the file."""
        self.writer.close()
        self.sink.close()

    def finish(self) -> DataFile:
        """End the file and describe it."""
        try:
            self._flush()
        finally:
            self.writer.close()
        size = self.size
        self.sink.close()
        layout = self.layout
        return data_file(
            self.path,
            size,
            self.collected[0],
            layout.schema,
            layout.spec.spec_id,
            self.partition,
            layout.properties,
        )


def _runs(batch: pa.RecordBatch, name: str) -> Iterator[tuple[Any, pa.RecordBatch]]:
    """The batch in pieces of equal partition code."""
    import pyarrow.compute as pc

    encoded = pc.run_end_encode(batch.column(name))
    start = 0
    for end, value in zip(encoded.run_ends.to_pylist(), encoded.values.to_pylist(), strict=True):
        yield value, batch.slice(start, end - start)
        start = end


def _sides(batch: pa.RecordBatch, name: str) -> Iterator[tuple[Any, pa.RecordBatch]]:
    """The rows of a batch that a flag is not true of, and the others."""
    import pyarrow.compute as pc

    flag = pc.fill_null(pc.equal(batch.column(name), 1), False)
    for value, part in ((False, batch.filter(pc.invert(flag))), (True, batch.filter(flag))):
        if part.num_rows:
            yield value, part


def _with_id(name: str, kind: pa.DataType, nullable: bool, field_id: int) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={b"PARQUET:field_id": str(field_id).encode()})


def _numbered(kind: IcebergType) -> pa.DataType:
    from pyiceberg import types as ice

    if isinstance(kind, ice.StructType):
        # Below a NULL struct a required field has no value, and Arrow would refuse it.
        return pa.struct([_with_id(f.name, _numbered(f.field_type), True, f.field_id) for f in kind.fields])
    if isinstance(kind, ice.ListType):
        element = _numbered(kind.element_type)
        return pa.list_(_with_id("element", element, not kind.element_required, kind.element_id))
    if isinstance(kind, ice.MapType):
        key = _with_id("key", _numbered(kind.key_type), False, kind.key_id)
        return pa.map_(
            key, _with_id("value", _numbered(kind.value_type), not kind.value_required, kind.value_id)
        )
    return from_iceberg(kind)
