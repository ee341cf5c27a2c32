"""The rows of a batch under names of their own, and a table of those that are at fault."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ldp_quality.executor import DuckDBExecutor
from ldp_quality.kinds import INTEGER, TEXT, Kind

FILE, POS, ROW = "__file", "__pos", "__row"
_KINDS = {FILE: Kind(TEXT, "string"), POS: Kind(INTEGER, "int64"), ROW: Kind(INTEGER, "int64")}
_TYPES = {TEXT: "VARCHAR", INTEGER: "BIGINT"}


def temporary(what: str) -> str:
    """A name for a temporary table that nobody else has."""
    return f"ldp_{what}_{uuid.uuid4().hex}"


@dataclass(frozen=True)
class Side:
    """The rows of a batch, each with its name: its place in a file, or its number in the input.

    Attributes:
        rows: All rows; the columns that name a row are the last ones.
        names: These columns.
        table: A temporary table of rows at fault: ``i0`` (and ``i1``), and ``rule``, the rule's number.
    """

    rows: DuckDBExecutor
    names: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, rows: DuckDBExecutor, sql: str, words: Sequence[str]) -> Side:
        """The rows of a SELECT whose last columns name them.

        Args:
            rows: The rows without names.
            sql: The same with names.
            words: What the names are: ``FILE`` and ``POS``, or ``ROW``.
        """
        names = tuple(_free(word, rows.columns) for word in words)
        kinds = dict(zip(names, (_KINDS[word] for word in words), strict=True))
        # The number of a row that nobody asks for: a name is all that is wanted of it.
        unordered = f"SELECT *, 0 FROM (\n{sql}\n)"
        named = DuckDBExecutor(rows.con, sql, unordered, {**rows.columns, **kinds})
        table = temporary("fault")
        columns = ", ".join(f"i{at} {_TYPES[kind.family]}" for at, kind in enumerate(kinds.values()))
        rows.con.execute(f"CREATE TEMP TABLE {table} ({columns}, rule INTEGER)")
        return cls(named, names, table)

    def ids(self, rows: DuckDBExecutor, prefix: str = "") -> str:
        """The columns that name a row, as they are written in a relation of such rows."""
        return ", ".join(f"{prefix}{rows.places[name]}" for name in self.names)

    @cached_property
    def listed(self) -> str:
        """The columns of the batch."""
        return ", ".join(place for name, place in self.rows.places.items() if name not in self.names)

    def insert(self, select: str) -> None:
        """Rows at fault: their names, and the rule."""
        self.rows.run(f"INSERT INTO {self.table} {select}")

    def without(self, rules: Sequence[int]) -> DuckDBExecutor:
        """The rows that none of these rules blames."""
        if not rules:
            return self.rows
        source, _ = self.rows.relation([], ordered=False)
        same = " AND ".join(f"s.{self.rows.places[name]} = f.i{at}" for at, name in enumerate(self.names))
        blamed = f"SELECT * FROM {self.table} WHERE rule IN ({', '.join(map(str, rules))})"
        sql = f"SELECT s.* FROM {source} AS s ANTI JOIN ({blamed}) AS f ON {same}"
        return replace(self.rows, sql=sql, ordered_sql=f"SELECT *, 0 FROM ({sql})")

    def drop(self) -> None:
        """Forget who is at fault."""
        self.rows.con.execute(f"DROP TABLE IF EXISTS {self.table}")


def _free(word: str, columns: Mapping[str, Kind]) -> str:
    taken = {name.lower() for name in columns}
    while word.lower() in taken:
        word = f"_{word}"
    return word
