"""Spills: a batch as one Parquet file in the run's folder, in input order."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core._duck import free_name, ident, text
from ldp_core.spi import Loss, RunContext, Spec, Staged
from ldp_core.targets import upsert
from ldp_core.targets._rows import place_names
from ldp_core.targets.iceberg import columns_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.tables.fit import Fitted
    from ldp_core.targets._changes import Plan


def spill(ctx: RunContext, sql: str) -> tuple[Path, int]:
    """Write rows to a Parquet file in the run's scratch folder; returns it and the number of rows."""
    path = ctx.scratch / f"batch_{uuid.uuid4().hex}.parquet"
    ctx.con.execute(f"COPY ({sql}) TO {text(str(path))} (FORMAT parquet, COMPRESSION zstd)")
    return path, int(ctx.con.fetchall()[0][0])


def kept(ctx: RunContext, sql: str) -> str:
    """A SELECT of the rows of ``sql``, computed once and kept in their order in the run's folder."""
    return _rows(spill(ctx, sql)[0])


def _rows(path: Path) -> str:
    return f"SELECT * FROM read_parquet({text(str(path))}, hive_partitioning=false)"


def spill_upsert(
    ctx: RunContext,
    spec: Spec,
    plan: Plan,
    fitted: Fitted,
    losses: tuple[Loss, ...],
    keys: list[str],
) -> Staged:
    """Spill a batch with its row numbers; with ``dedupe`` one row a key."""
    row = free_name("__row", fitted.schema.names)
    path, rows_in = spill(ctx, f"SELECT *, row_number() OVER () - 1 AS {ident(row)} FROM ({fitted.sql}) AS s")
    source = _rows(path)
    rows = rows_in
    keep = spec.get("dedupe")
    if keep:
        order = [*columns_of(spec, "order_by"), row]
        kept = upsert.deduplicated(source, keys, str(keep).lower(), order)
        path, rows = spill(ctx, f"SELECT * FROM ({kept}) ORDER BY {ident(row)}")
    staged = Staged(rows, rows_in, files=1, bytes=0, sql="", ordered_sql="", losses=losses)
    return over(staged, path, rows, fitted.schema, row)


def over(staged: Staged, path: Path, rows: int, schema: pa.Schema, row: str) -> Staged:
    """A staged batch whose rows are in a spill, numbered in its column ``row``."""
    columns, source = ", ".join(ident(name) for name in schema.names), _rows(path)
    file, pos = place_names(schema.names)
    return replace(
        staged,
        rows=rows,
        bytes=path.stat().st_size,
        sql=f"SELECT {columns} FROM ({source}) AS b",
        ordered_sql=f"SELECT {columns}, {ident(row)} AS __row FROM ({source}) AS b",
        state=path,
        placed_sql=f"SELECT {columns}, 'batch' AS {file}, {ident(row)} AS {pos} FROM ({source}) AS b",
    )
