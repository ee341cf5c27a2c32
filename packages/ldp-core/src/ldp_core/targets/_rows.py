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


_TAKEN = {"filename", "file_row_number", "__file", "__pos"}
"""Columns of a table whose rows cannot be named by file and position."""


def parquet_sql(
    con: DuckDBPyConnection, paths: Sequence[str], schema: pa.Schema, properties: Mapping[str, str]
) -> str:
    """A SELECT of the columns of ``schema`` from Parquet files; without files, of no rows."""
    if not paths:
        return empty_sql(schema)
    return f"SELECT {_columns(schema)} FROM {_read(con, paths, properties)}"


def placed_sql(
    con: DuckDBPyConnection, paths: Sequence[str], schema: pa.Schema, properties: Mapping[str, str]
) -> str:
    """The same with the names of the rows, ``__file`` and ``__pos``; empty where columns are called so."""
    if {name.casefold() for name in schema.names} & _TAKEN:
        return ""
    if not paths:
        return empty_sql(schema, ("__file", "VARCHAR"), ("__pos", "BIGINT"))
    names = "filename AS __file, CAST(file_row_number AS BIGINT) AS __pos"
    return f"SELECT {_columns(schema)}, {names} FROM {_read(con, paths, properties, file_row_number=True)}"


def place(path: str) -> str:
    """A file as ``__file`` spells it."""
    return str(fs.local_path(path)) if fs.is_local(path) else path


def _read(
    con: DuckDBPyConnection,
    paths: Sequence[str],
    properties: Mapping[str, str],
    *,
    file_row_number: bool = False,
) -> str:
    for path in paths:
        if not fs.is_local(path):
            fs.register(con, fs.scheme_of(path), properties)
    listed = ", ".join(text(place(path)) for path in paths)
    more = ", filename=true, file_row_number=true" if file_row_number else ""
    return f"read_parquet([{listed}], hive_partitioning=false{more})"


def _columns(schema: pa.Schema) -> str:
    return ", ".join(ident(name) for name in schema.names)


def empty_sql(schema: pa.Schema, *more: tuple[str, str]) -> str:
    """A SELECT of no rows with the columns of ``schema``, and more as (name, DuckDB type)."""
    columns = [(f.name, duck_type(f.type)) for f in schema] + list(more)
    return (
        "SELECT "
        + ", ".join(f"CAST(NULL AS {kind}) AS {ident(name)}" for name, kind in columns)
        + " WHERE false"
    )
