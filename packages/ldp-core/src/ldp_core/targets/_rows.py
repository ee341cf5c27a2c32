"""SQL of staged rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core._duck import ident, text
from ldp_core.tables.types import duck_type

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


def parquet_sql(
    con: DuckDBPyConnection, paths: Sequence[str], schema: pa.Schema, properties: Mapping[str, str]
) -> str:
    """A SELECT of the columns of ``schema`` from Parquet files; without files, of no rows."""
    if not paths:
        return empty_sql(schema)
    places = []
    for path in paths:
        if fs.is_local(path):
            places.append(str(fs.local_path(path)))
        else:
            fs.register(con, fs.scheme_of(path), properties)
            places.append(path)
    listed = ", ".join(text(place) for place in places)
    columns = ", ".join(ident(name) for name in schema.names)
    return f"SELECT {columns} FROM read_parquet([{listed}], hive_partitioning=false)"


def empty_sql(schema: pa.Schema, *more: tuple[str, str]) -> str:
    """A SELECT of no rows with the columns of ``schema``, and more as (name, DuckDB type)."""
    columns = [(f.name, duck_type(f.type)) for f in schema] + list(more)
    return (
        "SELECT "
        + ", ".join(f"CAST(NULL AS {kind}) AS {ident(name)}" for name, kind in columns)
        + " WHERE false"
    )
