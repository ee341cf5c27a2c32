"""The rows of a window: kept right after the extract, before transforms and gates see any."""

from __future__ import annotations

from ldp_core.spi import Extract, Keyed
from ldp_core.tables.window_rows import condition, has_filter

__all__ = ["condition", "has_filter", "kept_sql"]


def kept_sql(keyed: Keyed | None, extract: Extract) -> str:
    """The SQL of the rows that a run keeps.

    Raises:
        ConfigError: The window column is not there, has another type, or a date column meets other bounds.
    """
    if keyed is None or not has_filter(keyed):
        return extract.sql
    return f"SELECT * FROM (\n{extract.sql}\n) AS w WHERE {condition(keyed, extract.schema)}"
