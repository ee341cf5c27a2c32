"""Rows that are put aside are taken out of what was staged; only files that hold one are written again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_core._duck import free_name, ident
from ldp_core.spi import RunContext, Staged
from ldp_core.tables.write import Written
from ldp_core.targets._reconcile import prove_rewrite
from ldp_core.targets._rows import parquet_sql, place, place_names, placed_sql, same_place
from ldp_core.targets._spill import over, spill

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile

    from ldp_core.targets._changes import Plan


_FIRST = 100_000
"""Rows that are looked at before the others are written."""


def rest(sql: str, schema: pa.Schema, table: str) -> str:
    """The rows of a ``placed_sql`` that a table does not name."""
    columns = ", ".join(f"p.{ident(name)}" for name in schema.names)
    return f"SELECT {columns} FROM ({sql}) AS p ANTI JOIN {table} AS a ON {same_place(schema.names)}"


def apart(con: DuckDBPyConnection, marked: str, schema: pa.Schema) -> tuple[str, str] | None:
    """The rows with a flag for those that a gate will put aside, and the name of the flag.

    None where the first rows hold none: to keep rows apart costs something, and taking few rows out later
    rewrites few files.

    Args:
        con: The run's connection.
        marked: See ``Resolved.marked``.
        schema: The columns of the rows.
    """
    import duckdb

    flag = free_name("__apart", schema.names)
    names = ", ".join(ident(name) for name in [*schema.names, flag])
    sql = f"SELECT * FROM (\n{marked}\n) AS m({names})"
    first = f"SELECT {ident(flag)} FROM ({sql}) AS f LIMIT {_FIRST}"
    try:
        some = con.execute(f"SELECT coalesce(bool_or({ident(flag)}), false) FROM ({first}) AS s").fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return None  # a value that does not fit is met, and told, when the rows are written
    return (sql, flag) if some[0][0] else None


def split_files(plan: Plan, staged: Staged, table: str, folder: str) -> Staged:
    """The staged files without some rows.

    Args:
        plan: The load.
        staged: Its files.
        table: Names the rows by ``__file`` and ``__pos``.
        folder: Where new files go. The files that are no longer needed stay until the publish removes them.

    Raises:
        Unreconciled: The files written again do not hold the rows that stay.
    """
    con, schema, io = plan.ctx.con, plan.fitted.schema, plan.layout.io_properties
    found = con.execute(f"SELECT __file, count(*) FROM {table} GROUP BY __file").fetchall()
    bad = {str(name): int(count) for name, count in found}
    written: Written = staged.state
    whole = [file for file in written.files if not bad.get(place(file.file_path))]
    mixed = [file for file in written.files if 0 < bad.get(place(file.file_path), 0) < file.record_count]
    files = list(whole)
    if mixed:
        rows = placed_sql(con, _paths(mixed), schema, io)
        again = plan.write(rest(rows, schema, table), folder)
        staying = sum(file.record_count - bad[place(file.file_path)] for file in mixed)
        prove_rewrite(again.files, staying, 0, ".".join(plan.base.identifier))
        files += again.files
    size = sum(file.file_size_in_bytes for file in files)
    kept = Written(tuple(files), sum(file.record_count for file in files), size)
    return replace(
        staged,
        rows=kept.rows,
        files=len(files),
        bytes=size,
        sql=parquet_sql(con, _paths(files), schema, io),
        state=kept,
        quarantined=sum(bad.values()),
    )


def split_spill(ctx: RunContext, schema: pa.Schema, staged: Staged, table: str) -> Staged:
    """The spilled batch of an upsert without some rows; the others keep their numbers."""
    columns = ", ".join(f"p.{ident(name)}" for name in schema.names)
    good = f"FROM ({staged.placed_sql}) AS p ANTI JOIN {table} AS a ON {same_place(schema.names)}"
    _, pos = place_names(schema.names)
    path, rows = spill(ctx, f"SELECT {columns}, p.{pos} AS {pos} {good} ORDER BY p.{pos}")
    return replace(over(staged, path, rows, schema, pos), quarantined=staged.rows - rows)


def _paths(files: Iterable[DataFile]) -> list[str]:
    return [file.file_path for file in files]
