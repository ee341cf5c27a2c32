"""Rows of a batch that were corrected by hand: a file, or a table, that names them by ``_ldp_row``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core._duck import ident
from ldp_core.errors import UsageError
from ldp_core.spi import RunContext, Spec
from ldp_core.tables import quarantine as q
from ldp_core.tables.fit import fit
from ldp_core.targets._drift import explained

from ldp_quality.quarantine.stored import UNREAD, Stored

if TYPE_CHECKING:
    from ldp_core.spi import Extract

TABLE = "ldp_fixed"
_KINDS = {".csv": "CSV", ".parquet": "PARQUET", ".pq": "PARQUET", ".jsonl": "JSONL", ".json": "JSONL"}


@dataclass(frozen=True)
class Fixed:
    """Corrected rows, in the temporary table ``TABLE``.

    Attributes:
        columns: The columns of the target that they give; the others stay as they are stored.
        label: For messages.
    """

    columns: tuple[str, ...]
    label: str


def load_fixed(ctx: RunContext, given: Any, rows: Stored) -> Fixed:
    """Read corrected rows, in the types of the quarantine table.

    Args:
        ctx: The run.
        given: A file (CSV, Parquet, JSON lines) or an Arrow table.
        rows: The rows of the batch.

    Raises:
        UsageError: A row is not of the batch, or stands there twice, or a column is unknown.
        LDPError: It cannot be read, or a value does not fit its column.
    """
    import duckdb

    label, extract = _opened(ctx, given, rows)
    while True:
        names = _columns(extract.schema.names, rows, label)
        try:
            _materialize(ctx, extract, names, rows)
            break
        except duckdb.Error as error:
            extract = extract.after(error)
    _check(ctx, rows, label)
    _settle_unread(ctx, rows, names, label)
    return Fixed(tuple(names), label)


def _opened(ctx: RunContext, given: Any, rows: Stored) -> tuple[str, Extract]:
    import pyarrow as pa
    from ldp_core.run.objects import TableExtract, as_table, register

    if not isinstance(given, str | Path):
        table = as_table(given, "rows")
        return "the given rows", TableExtract(register(ctx, table), table)
    kind = _KINDS.get(Path(given).suffix.lower())
    if kind is None:
        raise UsageError(f"--rows {given}: the name of the file must end in .csv, .parquet or .jsonl")
    spec = Spec({"name": "rows", "path": str(given)}, Path.cwd(), "--rows")
    wanted = pa.schema([*rows.schema, pa.field(q.ROW, pa.int64())])
    return str(given), registry.load("ldp.sources", kind).open(spec, ctx, wanted)


def _columns(found: list[str], rows: Stored, label: str) -> list[str]:
    """The columns of the target among those of the file."""
    if q.ROW not in found:
        raise UsageError(
            f"{label} has no column {q.ROW}, so nobody can tell which rows it corrects",
            hint="correct a file that ldp quarantine show CONFIG --batch ID --output FILE wrote",
        )
    unknown = [name for name in found if name not in rows.schema.names and not name.startswith(q.PREFIX)]
    if unknown:
        raise UsageError(
            f"{label} has the column {unknown[0]!r}, which the table does not have",
            hint=f"its columns: {', '.join(rows.schema.names)}",
        )
    return [name for name in rows.schema.names if name in found]


def _materialize(ctx: RunContext, extract: Extract, names: list[str], rows: Stored) -> None:
    import pyarrow as pa

    number = pa.field(q.ROW, pa.int64())
    have = pa.schema([extract.schema.field(name) for name in (*names, q.ROW)])
    want = pa.schema([*(rows.schema.field(name) for name in names), number])
    listed = ", ".join(ident(name) for name in have.names)
    fitted = fit(
        f"SELECT {listed} FROM (\n{extract.sql}\n) AS f",
        have,
        want,
        follows_values=extract.follows_values,
        schema_evolution=False,
    )
    with explained(ctx.con, fitted):
        ctx.con.execute(f"CREATE OR REPLACE TEMP TABLE {TABLE} AS {fitted.sql}")


def _check(ctx: RunContext, rows: Stored, label: str) -> None:
    twice = ctx.con.execute(
        f"SELECT {q.ROW}, count(*) FROM {TABLE} GROUP BY 1 HAVING {q.ROW} IS NULL OR count(*) > 1 ORDER BY 1"
    ).fetchone()
    if twice is not None:
        what = "a row without one" if twice[0] is None else f"row {twice[0]} {twice[1]} times"
        raise UsageError(f"{label}: {q.ROW} names each row once; there is {what}")
    unknown = ctx.con.execute(
        f"SELECT min({q.ROW}) FROM {TABLE} WHERE {q.ROW} NOT IN (SELECT {q.ROW} FROM ({rows.sql}))"
    ).fetchall()[0][0]
    if unknown is not None:
        raise UsageError(f"{label}: the batch has no row {unknown}")


def _settle_unread(ctx: RunContext, rows: Stored, names: list[str], label: str) -> None:
    """A row that could not be read has no values: it gets one in each column, or stays as it is."""
    empty = " AND ".join(f"{ident(name)} IS NULL" for name in names) or "true"
    unread = f"{q.ROW} IN (SELECT {q.ROW} FROM ({rows.sql}) AS s WHERE {UNREAD})"
    ctx.con.execute(f"DELETE FROM {TABLE} WHERE {empty} AND {unread}")
    missing = [name for name in rows.schema.names if name not in names]
    row = ctx.con.execute(f"SELECT min({q.ROW}) FROM {TABLE} WHERE {unread}").fetchall()[0][0]
    if missing and row is not None:
        raise UsageError(
            f"{label}: row {row} could not be read, so nothing gives its {missing[0]!r}",
            hint="give every column, or correct it in the source: --source FILE",
        )
