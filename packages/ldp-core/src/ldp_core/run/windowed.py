"""The rows of a window: kept right after the extract, before transforms and gates see any."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.errors import ConfigError
from ldp_core.spi import Extract, Keyed, RunContext
from ldp_core.window.calendar import is_midnight, local_day
from ldp_core.window.wall import wall_bound

if TYPE_CHECKING:
    import pyarrow as pa


def has_filter(keyed: Keyed | None) -> bool:
    """Whether a run keeps the rows of a window alone."""
    return keyed is not None and keyed.column is not None and keyed.start is not None


def kept_sql(keyed: Keyed | None, extract: Extract) -> str:
    """The SQL of the rows that a run keeps.

    Raises:
        ConfigError: The window column is not there, has another type, or a date column meets other bounds.
    """
    if keyed is None or not has_filter(keyed):
        return extract.sql
    return f"SELECT * FROM (\n{extract.sql}\n) AS w WHERE {condition(keyed, extract.schema)}"


def condition(keyed: Keyed, schema: pa.Schema) -> str:
    """The predicate that is true for the rows of a window; a row without a value is in none.

    Args:
        keyed: The window and its column.
        schema: The Arrow types of the rows.

    Raises:
        ConfigError: As for ``kept_sql``.
    """
    column = str(keyed.column)
    low, high = bounds(keyed, schema)
    return f"{ident(column)} >= {low} AND {ident(column)} < {high}"


def bounds(keyed: Keyed, schema: pa.Schema) -> tuple[str, str]:
    """The bounds of a window as SQL literals of its column's type."""
    import pyarrow as pa

    column, start, end = str(keyed.column), keyed.start, keyed.end
    assert start is not None
    assert end is not None
    if column not in schema.names:
        raise ConfigError(
            f"metadata.window.column {column!r} is not a column of the source "
            f"(columns: {', '.join(schema.names)})"
        )
    type_ = schema.field(column).type
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_date(type_):
        for bound in (start, end):
            if not is_midnight(bound, keyed.zone):
                raise ConfigError(
                    f"metadata.window.column {column!r} is a date column, so a window must start and end at "
                    f"midnight in {keyed.zone}, got {start.isoformat()}/{end.isoformat()}"
                )
        return _day(local_day(start, keyed.zone)), _day(local_day(end, keyed.zone))
    if pa.types.is_timestamp(type_):
        if type_.tz is not None:
            return f"TIMESTAMPTZ '{start.isoformat()}'", f"TIMESTAMPTZ '{end.isoformat()}'"
        return _naive(wall_bound(start, keyed.zone)), _naive(wall_bound(end, keyed.zone))
    raise ConfigError(
        f"metadata.window.column {column!r} is a {type_} column; a window selects by a date or a timestamp",
        hint="give it a type in metadata.source.columns, or name another column",
    )


def rows_kept(
    ctx: RunContext, keyed: Keyed | None, extract: Extract, rows_read: int, rows_in: int | None
) -> int:
    """Rows of the source inside the window.

    Args:
        ctx: The run.
        keyed: The window.
        extract: The source.
        rows_read: All its rows.
        rows_in: The rows after the transforms, where there are no transforms.
    """
    if not has_filter(keyed):
        return rows_read
    if rows_in is not None:
        return rows_in
    return int(ctx.con.execute(f"SELECT count(*) FROM (\n{kept_sql(keyed, extract)}\n)").fetchall()[0][0])


def _day(value: date) -> str:
    return f"DATE '{value.isoformat()}'"


def _naive(value: datetime) -> str:
    return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
