"""The rows of a window: kept right after the extract, before transforms and gates see any."""

from __future__ import annotations

from ldp_core._duck import ident
from ldp_core.run.nothing import untyped
from ldp_core.spi import Extract, Keyed
from ldp_core.tables.window_rows import condition, has_filter

__all__ = ["has_filter", "in_window", "kept_sql"]


def kept_sql(keyed: Keyed | None, extract: Extract) -> str:
    """The SQL of the rows that a run keeps.

    Raises:
        ConfigError: The window column is not there, has another type, or a date column meets other bounds.
    """
    if keyed is None or not has_filter(keyed):
        return extract.sql
    where = in_window(keyed, extract)
    within = getattr(extract, "within", None)
    return f"SELECT * FROM (\n{within(keyed) if within else extract.sql}\n) AS w WHERE {where}"


def in_window(keyed: Keyed, extract: Extract) -> str:
    """The predicate that is true for the rows of a window.

    A column without any value has no type, and its rows are in no window. It is read all the same: a value
    that a sample did not show is met, and gives it a type.

    Raises:
        ConfigError: As for ``condition``.
    """
    if keyed.column in untyped(extract):
        return f"{ident(str(keyed.column))} IS NOT NULL"
    return condition(keyed, extract.schema)
