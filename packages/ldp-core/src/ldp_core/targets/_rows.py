"""SQL of staged rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core._duck import free_name, ident, text
from ldp_core.tables.types import duck_type

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


_OWN = {"filename", "file_row_number"}
"""What DuckDB adds to the columns of a file under these names; a column that is called so hides it."""


def place_names(columns: Iterable[str]) -> tuple[str, str]:
    """The last two columns of ``placed_sql``: ``__file`` and ``__pos``, unless a column is called so."""
    known = list(columns)
    return free_name("__file", known), free_name("__pos", known)


def same_place(columns: Iterable[str]) -> str:
    """Joins ``p``, a ``placed_sql``, with ``a``, a table of ``__file`` and ``__pos``."""
    file, pos = place_names(columns)
    return f"p.{file} = a.__file AND p.{pos} = a.__pos"


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
    """The same with what names the rows, see ``place_names``."""
    file, pos = place_names(schema.names)
    if not paths:
        return empty_sql(schema, (file, "VARCHAR"), (pos, "BIGINT"))
    names = f"filename AS {file}, CAST(file_row_number AS BIGINT) AS {pos}"
    columns, source = _columns(schema), _read(con, paths, properties)
    if not {name.casefold() for name in schema.names} & _OWN:
        return f"SELECT {columns}, {names} FROM {source}"
    inside = [str(row[0]) for row in con.execute(f"DESCRIBE FROM {source}").fetchall()]
    at = {name.casefold(): number for number, name in enumerate(inside)}
    columns = ", ".join(f"c{at[name.casefold()]} AS {ident(name)}" for name in schema.names)
    hidden = ", ".join(f"c{number}" for number in range(len(inside)))
    return f"SELECT {columns}, {names} FROM {source} AS f({hidden})"


def place(path: str) -> str:
    """A file as ``__file`` spells it."""
    return str(fs.local_path(path)) if fs.is_local(path) else path


def _read(con: DuckDBPyConnection, paths: Sequence[str], properties: Mapping[str, str]) -> str:
    for path in paths:
        if not fs.is_local(path):
            fs.register(con, fs.scheme_of(path), properties)
    listed = ", ".join(text(place(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning=false)"


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
