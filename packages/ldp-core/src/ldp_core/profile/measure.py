"""Measure every column of some rows: one pass for all of it, and short ones for what needs exact answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident, text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FEW = 20
"""Distinct values up to which a text column is a set of words."""

PATTERNS = {
    "uuid": "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "email address": r"[^@\s]+@[^@\s]+\.[^@\s]+",
}
"""Patterns of texts that are looked for, besides digits of one length."""

_NESTED = ("STRUCT", "MAP", "UNION", "LIST")
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "UTINYINT")
_PAIRS = 10
_NEAR = 0.8


@dataclass(frozen=True)
class ColumnProfile:
    """What the rows show of one column.

    Attributes:
        name: The column.
        type: Its DuckDB type.
        nulls: Rows where it is NULL.
        distinct: Distinct values, about (HyperLogLog); exact where ``values`` or ``key`` is set.
        min: The smallest value; None for nested types and booleans.
        max: The largest value.
        values: All distinct values of a text column that has few, sorted.
        key: Every row has another value, none is NULL.
        pattern: What all its texts look like: (words, regular expression).
    """

    name: str
    type: str
    nulls: int
    distinct: int
    min: Any = None
    max: Any = None
    values: tuple[str, ...] | None = None
    key: bool = False
    pattern: tuple[str, str] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.type.startswith(_NUMBERS)

    @property
    def is_moment(self) -> bool:
        """Whether it holds dates or timestamps."""
        return self.type == "DATE" or self.type.startswith("TIMESTAMP")


@dataclass(frozen=True)
class Profile:
    """What the rows show.

    Attributes:
        rows: How many there are.
        columns: One a column, in their order.
        keys: Candidate keys: single columns, or where there is none, pairs of columns.
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    keys: tuple[tuple[str, ...], ...]


def measure(con: DuckDBPyConnection, sql: str) -> Profile:
    """Measure rows.

    Args:
        con: A connection.
        sql: A SELECT; read several times, so a stored one is best.
    """
    described = con.execute(f"DESCRIBE {sql}").fetchall()
    types = {str(name): str(kind) for name, kind, *_ in described}
    rows, columns = _numbers(con, sql, types)
    columns = [_patterned(con, sql, column) for column in columns]
    columns = [_listed(con, sql, column, rows) for column in columns]
    columns = [_unique(con, sql, column, rows) for column in columns]
    keys = [(column.name,) for column in columns if column.key]
    return Profile(rows, tuple(columns), tuple(keys or _pairs(con, sql, columns, rows)))


def _is_plain(kind: str) -> bool:
    return not kind.startswith(_NESTED) and not kind.endswith("]")


def _can_be_key(kind: str) -> bool:
    return _is_plain(kind) and kind not in ("FLOAT", "DOUBLE")


def _numbers(con: DuckDBPyConnection, sql: str, types: dict[str, str]) -> tuple[int, list[ColumnProfile]]:
    parts = ["count(*)"]
    for name, kind in types.items():
        quoted = ident(name)
        ordered = _is_plain(kind) and kind not in ("BOOLEAN", "BLOB")
        low, high = (f"min({quoted})", f"max({quoted})") if ordered else ("NULL", "NULL")
        parts += [f"count({quoted})", f"approx_count_distinct({quoted})", low, high]
    row = con.execute(f"SELECT {', '.join(parts)} FROM ({sql})").fetchall()[0]
    rows = int(row[0])
    found = []
    for at, (name, kind) in enumerate(types.items()):
        values, distinct, low, high = row[1 + 4 * at : 5 + 4 * at]
        found.append(ColumnProfile(name, kind, rows - values, min(distinct, values), low, high))
    return rows, found


def _patterned(con: DuckDBPyConnection, sql: str, column: ColumnProfile) -> ColumnProfile:
    """The column with the pattern that all of its texts match, if there is one."""
    if column.type != "VARCHAR" or column.min is None:
        return column
    quoted = ident(column.name)
    tests = ", ".join(f"bool_and(regexp_full_match({quoted}, {text(body)}))" for body in PATTERNS.values())
    digits, short, long, *matches = con.execute(
        f"SELECT bool_and(regexp_full_match({quoted}, '[0-9]+')), min(length({quoted})), "
        f"max(length({quoted})), {tests} FROM ({sql})"
    ).fetchall()[0]
    if digits and short == long:
        return replace(column, pattern=(f"{short} digits", f"^[0-9]{{{short}}}$"))
    for (words, body), match in zip(PATTERNS.items(), matches, strict=True):
        if match:
            return replace(column, pattern=(words, f"^{body}$"))
    return column


def _listed(con: DuckDBPyConnection, sql: str, column: ColumnProfile, rows: int) -> ColumnProfile:
    """A text column of few distinct values, with all of them."""
    if column.type != "VARCHAR" or not 0 < column.distinct <= FEW or column.distinct * 10 > rows:
        return column
    quoted = ident(column.name)
    found = con.execute(
        f"SELECT DISTINCT {quoted} FROM ({sql}) WHERE {quoted} IS NOT NULL ORDER BY 1 LIMIT {FEW + 1}"
    ).fetchall()
    if len(found) > FEW:
        return column
    return replace(column, values=tuple(value for (value,) in found), distinct=len(found))


def _unique(con: DuckDBPyConnection, sql: str, column: ColumnProfile, rows: int) -> ColumnProfile:
    """The column marked as a key, where every value occurs once; asked exactly only where it is likely."""
    likely = not column.nulls and rows and column.distinct >= rows * _NEAR
    if not likely or not _can_be_key(column.type):
        return column
    exact = con.execute(f"SELECT count(DISTINCT {ident(column.name)}) FROM ({sql})").fetchall()[0][0]
    return replace(column, distinct=exact, key=exact == rows)


def _pairs(
    con: DuckDBPyConnection, sql: str, columns: list[ColumnProfile], rows: int
) -> list[tuple[str, ...]]:
    """Pairs of columns that tell all rows apart; at most a few likely ones are tried."""
    usable = [
        column
        for column in columns
        if not column.nulls
        and column.distinct > 1
        and _is_plain(column.type)
        and column.type not in ("FLOAT", "DOUBLE")
    ]
    likely = [pair for pair in combinations(usable, 2) if pair[0].distinct * pair[1].distinct >= rows * _NEAR]
    for one, other in likely[:_PAIRS]:
        query = f"SELECT count(*) FROM (SELECT DISTINCT {ident(one.name)}, {ident(other.name)} FROM ({sql}))"
        if rows and con.execute(query).fetchall()[0][0] == rows:
            return [(one.name, other.name)]
    return []
