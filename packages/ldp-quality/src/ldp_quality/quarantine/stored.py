"""The rows of a quarantine table as SQL."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core._duck import ident, text
from ldp_core.tables import quarantine as q
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.tables.types import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from ldp_core.commit.change import Base

UNREAD = f"({q.RAW} IS NOT NULL OR {q.FILE} IS NOT NULL)"
"""True for a row that could not be read: it has a text in place of values."""
NOTES = (q.RULES, q.REASON, q.PRIMARY_KEY, q.FILE, q.LINE, q.RAW)
"""What is said of a row, besides its number."""


@dataclass(frozen=True)
class Stored:
    """Rows of a quarantine table.

    Attributes:
        sql: A SELECT of them, in all columns.
        schema: The columns of the target, as they are in the quarantine table.
    """

    sql: str
    schema: pa.Schema


def stored(con: DuckDBPyConnection, base: Base, batches: Collection[str]) -> Stored:
    """The rows of batches.

    Args:
        con: Where the SQL will run.
        base: The quarantine table.
        batches: The names of the batches.
    """
    import pyarrow as pa

    scan = plan_scan(base.metadata, base.io)
    names = ", ".join(ident(name) for name in scan.columns)
    wanted = ", ".join(text(batch) for batch in sorted(batches)) or "NULL"
    sql = f"SELECT * FROM ({scan_sql(con, scan)}) AS r({names}) WHERE {q.BATCH} IN ({wanted})"
    own = [field for field in arrow_schema(base.metadata.schema()) if field.name not in q.DOCS]
    return Stored(sql, pa.schema([field.with_nullable(True) for field in own]))


def shown_sql(rows: Stored, rule: str | None = None) -> str:
    """A SELECT for people: the batch and the number of each row, its values, and what is wrong with it.

    Args:
        rows: The rows.
        rule: Only rows that break this rule.
    """
    names = [q.BATCH, q.ROW, *(ident(name) for name in rows.schema.names), *NOTES]
    which = f" WHERE list_contains({q.RULES}, {text(rule)})" if rule is not None else ""
    return f"SELECT {', '.join(names)} FROM ({rows.sql}){which} ORDER BY {q.AT}, {q.BATCH}, {q.ROW}"
