"""The error of a run that has no row to write."""

from __future__ import annotations

from ldp_core.errors import NoData
from ldp_core.plan.stages import Plan
from ldp_core.spi import Extract
from ldp_core.window.model import Window

_EMPTY = "where windows without rows are normal, metadata.window.empty: publish"
_NO_TYPES = (
    "nothing tells the types of its columns, so no table is made: load a window with rows first, "
    "or give them types in metadata.source.columns"
)
_NO_COLUMNS = "the transforms read columns that nothing tells: give them types in metadata.source.columns"


def nothing(plan: Plan, rows_read: int, rows_kept: int, *, untyped: bool = False) -> NoData:
    """The error, with the window and what to do.

    Args:
        plan: The stages.
        rows_read: Rows of the source.
        rows_kept: Those inside the window.
        untyped: There is no table yet, and no value that would show the types of its columns.
    """
    keyed = plan.keyed
    window = Window(keyed.start, keyed.end) if keyed and keyed.start and keyed.end else None
    if rows_kept:
        why = "the transforms left no row of"
    elif rows_read:
        why = f"none of {rows_read} rows is in the window {window}:"
    else:
        why = f"there is no row for the window {window} in" if window else "there is no row in"
    hint = (_NO_TYPES if untyped else _EMPTY) if window and plan.write.kind == "ICEBERG" else None
    return NoData(f"No data to write: {why} {plan.read.text}", hint=hint)


def no_columns(plan: Plan, *, table: bool) -> NoData:
    """The error for a source without a row that tells no columns either.

    Args:
        plan: The stages.
        table: There is a table already, but transforms stand between.
    """
    error = nothing(plan, 0, 0, untyped=True)
    if table:
        error.hint = _NO_COLUMNS
    return error


def untyped(extract: Extract) -> tuple[str, ...]:
    """Columns of a text source in which no value was seen."""
    found: tuple[str, ...] = getattr(extract, "untyped", ())
    return found
