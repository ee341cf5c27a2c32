"""Data in memory as rows that DuckDB can read more than once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ldp_core._duck import ident, text
from ldp_core.errors import ConfigError, NoData
from ldp_core.tables.types import is_list, struct_fields

if TYPE_CHECKING:
    from ldp_core.spi import RunContext


def rows_of(ctx: RunContext, data: Any) -> tuple[str, pa.Schema]:
    """SQL over ``ctx.con`` and the Arrow schema of a table, record batch, reader, data frame or list of rows.

    A reader is streamed into a file of the run's folder; nothing else is copied.

    Raises:
        NoData: ``data`` is None.
        ConfigError: It is nothing that Arrow can read.
    """
    if data is None:
        raise NoData("No data to write: there is no table (None)")
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    elif isinstance(data, list):
        data = pa.Table.from_pylist(data)
    elif not isinstance(data, pa.Table | pa.RecordBatchReader):
        if not hasattr(data, "__arrow_c_stream__"):
            raise ConfigError(
                f"cannot write a {type(data).__name__}",
                hint="give a pyarrow Table or RecordBatchReader, or a data frame that exports Arrow",
            )
        data = pa.RecordBatchReader.from_stream(data)
    schema = data.schema
    readable = pa.schema([field.with_type(_readable(field.type)) for field in schema])
    if isinstance(data, pa.RecordBatchReader):
        return _spilled(ctx, data, readable), schema
    name = f"ldp_data_{uuid.uuid4().hex}"
    ctx.con.register(name, data if readable.equals(schema) else data.cast(readable))
    return f"SELECT * FROM {ident(name)}", schema


def _spilled(ctx: RunContext, reader: pa.RecordBatchReader, schema: pa.Schema) -> str:
    import pyarrow.parquet as pq

    path = ctx.scratch / f"data_{uuid.uuid4().hex}.parquet"
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_table(pa.Table.from_batches([batch]).cast(schema))
    return f"SELECT * FROM read_parquet({text(str(path))}, hive_partitioning=false)"


def _readable(kind: pa.DataType) -> pa.DataType:
    """The type in which DuckDB reads a column from Arrow; only types that it does not know are changed."""
    if kind == pa.float16():
        return pa.float32()
    if pa.types.is_decimal256(kind) and kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_readable(field.type)) for field in struct_fields(kind)])
    if pa.types.is_map(kind):
        return pa.map_(_readable(kind.key_type), kind.item_field.with_type(_readable(kind.item_type)))
    if is_list(kind) and _readable(kind.value_type) != kind.value_type:
        return pa.list_(kind.value_field.with_type(_readable(kind.value_type)))
    return kind
