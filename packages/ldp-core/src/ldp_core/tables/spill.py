"""Rows kept in the run's folder so that they can be read again, and the types of a query's rows."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_CASTS = {
    "HUGEINT": "DECIMAL(38,0)",
    "UHUGEINT": "DECIMAL(38,0)",
    "JSON": "VARCHAR",
    "BIGNUM": "VARCHAR",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
    "TIME WITH TIME ZONE": "VARCHAR",
    "BIT": "VARCHAR",
}
"""DuckDB types that Arrow or Parquet would change in silence, and what they become."""


def spill(scratch: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Path:
    """Write record batches to a Parquet file, one at a time, so that they can be read again.

    Args:
        scratch: The run's folder.
        schema: Of the batches.
        batches: May be a stream; read once.

    Raises:
        SourceError: A column has a type that no Parquet file can hold.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = scratch / f"spill-{uuid.uuid4().hex}.parquet"
    try:
        writer = pq.ParquetWriter(path, schema, compression="zstd")
    except pa.ArrowNotImplementedError as error:
        names = [column.name for column in schema if str(column.type) in str(error)]
        raise SourceError(
            f"column {', '.join(names) or 'of an unknown name'} has a type that cannot be loaded: {error}",
            hint="cast it in the source's query",
        ) from error
    with writer:
        for batch in batches:
            if batch.num_rows:
                writer.write_batch(batch)
    return path


def query_types(con: DuckDBPyConnection, sql: str) -> tuple[str, pa.Schema]:
    """A query with the types that Arrow cannot carry cast away, and its Arrow schema. Reads no rows."""
    columns = con.execute(f"DESCRIBE {sql}").fetchall()
    fields = ", ".join(
        f"CAST({ident(name)} AS {_CASTS[kind]}) AS {ident(name)}" if kind in _CASTS else ident(name)
        for name, kind, *_ in columns
    )
    if any(kind in _CASTS for _, kind, *_ in columns):
        sql = f"SELECT {fields} FROM (\n{sql}\n)"
    empty: pa.Table = con.sql(f"SELECT * FROM (\n{sql}\n) LIMIT 0").to_arrow_table()
    return sql, empty.schema
