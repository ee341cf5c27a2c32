"""Proof that a rewrite kept the rows: their count, and a checksum that does not depend on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core.errors import LDPError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class RowsDiffer(LDPError):
    """What was written is not what was read; nothing of it is committed."""

    code = "rows_differ"


@dataclass(frozen=True)
class Sum:
    """Rows as one number.

    Attributes:
        rows: How many.
        checksum: The sum of the rows' hashes; the same for the same rows in any order.
    """

    rows: int
    checksum: int


def summed(con: DuckDBPyConnection, sql: str, columns: list[str]) -> Sum:
    """The sum over a SELECT.

    Args:
        con: Where it runs.
        sql: A SELECT.
        columns: All that it yields, quoted.
    """
    query = f"SELECT count(*), sum(hash({', '.join(columns)})) FROM ({sql}) AS b"
    rows, checksum = con.execute(query).fetchall()[0]
    return Sum(int(rows), int(checksum or 0))


def compare(read: Sum, written: Sum, name: str) -> None:
    """Make sure that two sums are one.

    Raises:
        RowsDiffer: They are not.
    """
    if read.rows != written.rows:
        raise RowsDiffer(
            f"{name}: {read.rows} rows were read and {written.rows} written; nothing is replaced"
        )
    if read.checksum != written.checksum:
        raise RowsDiffer(
            f"{name}: the rows that were written differ from those that were read; nothing is replaced"
        )
