"""The rows of a window: kept right after the extract, before transforms and gates see any."""

from __future__ import annotations

from ldp_core.spi import Extract, Keyed, RunContext
from ldp_core.tables.window_rows import condition, has_filter

__all__ = ["condition", "has_filter", "kept_sql", "rows_kept"]


def kept_sql(keyed: Keyed | None, extract: Extract) -> str:
    """The SQL of the rows that a run keeps.

    Raises:
        ConfigError: The window column is not there, has another type, or a date column meets other bounds.
    """
    if keyed is None or not has_filter(keyed):
        return extract.sql
    return f"SELECT * FROM (\n{extract.sql}\n) AS w WHERE {condition(keyed, extract.schema)}"


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
