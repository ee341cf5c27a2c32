"""A user's own query over the rows, in DuckDB."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident

from ldp_quality.plan import CannotEvaluate, Scalar, ScalarValue
from ldp_quality.statement import guard

if TYPE_CHECKING:
    from ldp_quality.executor import DuckDBExecutor


def scalar(query: Scalar, rows: DuckDBExecutor) -> ScalarValue:
    """The one value that a query gives.

    The query sees the rows under its own name for them, and DuckDB must agree that it names nothing else
    and is one SELECT: two readers, for they could take a text differently.

    Raises:
        CannotEvaluate: It does not bind, or gives anything but one number, true or false.
    """
    guard(query.sql, query.table)
    _agreed(query, rows)
    names = ", ".join(ident(name) for name in rows.columns)
    source = f"SELECT * FROM (\n{rows.sql}\n) AS rows_({names})"
    found = rows.own(f"WITH {ident(query.table)} AS ({source}) SELECT * FROM (\n{query.sql}\n) LIMIT 2")
    if len(found) != 1 or len(found[0]) != 1:
        width = len(found[0]) if found else 0
        what = "no row" if not found else "more than one row" if len(found) > 1 else f"{width} columns"
        raise CannotEvaluate(f"the query gives {what}, and one value is wanted")
    return ScalarValue(_number(found[0][0]))


def _agreed(query: Scalar, rows: DuckDBExecutor) -> None:
    import duckdb

    try:
        statements = rows.con.extract_statements(query.sql)
        tables = rows.con.get_table_names(query.sql)
    except duckdb.Error as error:
        raise CannotEvaluate(f"the query is not SQL: {str(error).splitlines()[0]}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise CannotEvaluate("the query is not one SELECT")
    others = {name for name in tables if name.lower() != query.table.lower()}
    if others:
        raise CannotEvaluate(f"the query reads {', '.join(sorted(others))} besides {query.table}")


def _number(value: Any) -> Any:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal) and math.isfinite(value):
        return value
    shown = "NULL" if value is None else repr(value)
    raise CannotEvaluate(f"the query gives {shown}, which is neither a number nor true or false")
