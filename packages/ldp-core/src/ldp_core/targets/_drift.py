"""From a guard's error to one line that names column, row and value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ldp_core._duck import ident, text
from ldp_core.errors import DriftError
from ldp_core.tables.convert import Violation, violation_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ldp_core.tables.fit import Fitted


@contextmanager
def explained(con: DuckDBPyConnection, fitted: Fitted) -> Iterator[None]:
    """Turn what guards raise inside into a ``DriftError``; every other error passes."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        violation = violation_of(str(error))
        if violation is None:
            raise
        raise _drift(con, fitted, violation) from error


def _drift(con: DuckDBPyConnection, fitted: Fitted, violation: Violation) -> DriftError:
    row = _row(con, fitted, violation)
    place = f"column {violation.column!r}" + (f", row {row}" if row else "")
    if violation.value is None:
        return DriftError(f"{place}: there is no value, and the table requires one")
    return DriftError(
        f"{place}: {violation.value!r} cannot be stored as {violation.kind} without loss",
        hint="correct it, cast it in a SQL transform, or allow it in the source: "
        f"columns: {{{violation.column.split('.')[0]}: {{loss: allow}}}}",
    )


def _row(con: DuckDBPyConnection, fitted: Fitted, violation: Violation) -> int | None:
    """The first row (from 1) with that value; None for a value inside a nested column."""
    import duckdb

    column = ident(violation.column)
    if violation.value is None:
        holds = f"{column} IS NULL"
    else:
        holds = f"left(CAST({column} AS VARCHAR), 200) = {text(violation.value)}"
    query = (
        f"SELECT min(n) FROM (SELECT row_number() OVER () AS n, {holds} AS hit "
        f"FROM ({fitted.source_sql}) AS s) WHERE hit"
    )
    try:
        found = con.execute(query).fetchall()[0][0]
    except duckdb.Error:
        return None
    return None if found is None else int(found)
