"""Extracts with types of their own, spills that make a stream re-readable, the types of a query."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core._duck import ident, text
from ldp_core.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from ldp_core.spi import Extract

_CASTS = {
    "HUGEINT": "DECIMAL(38,0)",
    "UHUGEINT": "DECIMAL(38,0)",
    "JSON": "VARCHAR",
    "BIGNUM": "VARCHAR",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
"""DuckDB types that Arrow or Parquet would change in silence, and what they become."""


@dataclass(frozen=True)
class TypedExtract:
    """An ``Extract`` whose source knows its types.

    Attributes:
        sql: A SELECT over the run's connection, re-readable.
        schema: The source's Arrow types.
        rows: Rows, where known without reading.
        files: The files behind it.
        explain: Turns an error met while reading into a clear one; None leaves it as it is.
        follows_values: False: the table's types follow the source's.
    """

    sql: str
    schema: pa.Schema
    rows: int | None = None
    files: tuple[str, ...] = ()
    explain: Callable[[Exception], Exception | None] | None = None
    follows_values: bool = False

    def after(self, error: Exception) -> Extract:
        """Nothing can be typed better: the error, explained where the source can."""
        raise (self.explain(error) if self.explain else None) or error from error


def named(schema: pa.Schema, source: str) -> None:
    """Check that SQL can tell the columns apart.

    Raises:
        SourceError: Two names are the same, or differ only in case.
    """
    seen: dict[str, str] = {}
    for name in schema.names:
        other = seen.setdefault(name.casefold(), name)
        if other is not name:
            what = (
                f"column {name!r} twice"
                if other == name
                else f"columns {other!r} and {name!r}, which differ only in case"
            )
            raise SourceError(f"has {what}", file=source)


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
        raise SourceError(f"a column has a type that cannot be loaded: {error}") from error
    with writer:
        for batch in batches:
            if batch.num_rows:
                writer.write_batch(batch)
    return path


def spilled(path: Path, schema: pa.Schema, files: tuple[str, ...] = ()) -> TypedExtract:
    """An extract over a spill."""
    import pyarrow.parquet as pq

    sql = f"SELECT * FROM read_parquet({text(str(path))}, hive_partitioning=false)"
    return TypedExtract(sql, schema, pq.read_metadata(path).num_rows, files)


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


def one_select(con: DuckDBPyConnection, sql: str) -> str | None:
    """Why a text is not exactly one SELECT that can be wrapped, or None."""
    import duckdb

    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        return str(error).strip().splitlines()[0]
    if len(statements) != 1:
        return f"must be one SELECT, not {len(statements)} statements"
    if statements[0].type != duckdb.StatementType.SELECT:
        return f"must be one SELECT, not {statements[0].type.name}"
    return None
