"""SQL over tables: a sandboxed connection with a view for each table that the SQL names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core import _duck, _sql
from ldp_core._duck import ident
from ldp_core.errors import QueryError, UsageError
from ldp_core.query.open import open_scan
from ldp_core.query.refs import TableRef
from ldp_core.query.travel import NOW, Travel
from ldp_core.tables.scan import Scan, scan_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ALL = {"SHOW_REF"}
_CATALOGUES = {"information_schema", "pg_catalog"}
_TEXTS = dict.fromkeys(("TIMESTAMP_NS", "TIMESTAMPTZ_NS", "TIME_NS", "INTERVAL"), "VARCHAR")
_HERE = {"", "main", "memory"}  # what may stand before a bare name: nothing, DuckDB's schema, its database


@dataclass(frozen=True)
class Query:
    """One checked query, ready to run.

    Attributes:
        con: The locked connection.
        sql: The text to run.
    """

    con: DuckDBPyConnection
    sql: str

    def cast(self, forms: Mapping[str, str]) -> str:
        """The SQL with some types of columns in another form.

        Args:
            forms: By the name of a type, at any depth of a column's, an expression over ``{column}`` for a
                column of this type, or the name of a type to cast to.

        Raises:
            QueryError: It does not bind.
        """
        import duckdb

        try:
            relation = self.con.sql(self.sql)
            names, types = relation.columns, [str(type) for type in relation.types]
        except duckdb.Error as error:
            raise _sql.query_error(error) from error
        columns = [_cast(f"#{at + 1}", type, forms) for at, type in enumerate(types)]
        if all(made.startswith("#") for made in columns):
            return self.sql
        selected = ", ".join(f"{made} AS {ident(name)}" for made, name in zip(columns, names, strict=True))
        return f"SELECT {selected} FROM (\n{self.sql}\n)"

    def rows(self, size: int = 10_000) -> tuple[list[str], Iterator[list[tuple[Any, ...]]]]:
        """Run it.

        Args:
            size: Rows a chunk.

        Returns:
            The column names, and chunks of rows as Python values, computed as they are asked for. What
            Python has no type for (nanoseconds, intervals) is text.

        Raises:
            QueryError: It fails while it runs.
        """
        import duckdb

        try:
            cursor = self.con.execute(self.cast(_TEXTS))
        except duckdb.Error as error:
            raise _sql.query_error(error) from error
        return [column[0] for column in cursor.description or ()], _chunks(cursor, size)


def _cast(column: str, type: str, forms: Mapping[str, str]) -> str:
    form = forms.get(type)
    if form is not None and "{column}" in form:
        return form.format(column=column)
    flat = {name: form for name, form in forms.items() if "{column}" not in form}
    other = re.sub(rf"\b({'|'.join(flat)})\b", lambda match: flat[match[0]], type) if flat else type
    return column if other == type else f"CAST({column} AS {other})"


def _chunks(cursor: DuckDBPyConnection, size: int) -> Iterator[list[tuple[Any, ...]]]:
    import duckdb

    while True:
        try:
            rows = cursor.fetchmany(size)
        except duckdb.Error as error:
            raise _sql.query_error(error) from error
        if not rows:
            return
        yield rows


@contextmanager
def query(
    tables: Sequence[TableRef], sql: str, travel: Travel = NOW, *, memory_limit: str | None = None
) -> Iterator[Query]:
    """Check a query over tables and open what it reads.

    A table is known as ``namespace.table``, and as ``table`` where no other has that name. Only tables that
    the SQL names are opened.

    Args:
        tables: What may be named.
        sql: One SELECT.
        travel: For one table only.
        memory_limit: Of the engine, such as ``400MB``.

    Raises:
        QueryError: The SQL is refused or does not bind.
        UsageError: Time travel over several tables.
        TableNotFound: A table that the SQL names does not exist.
        SnapshotNotFound: It has no such snapshot.
    """
    if not travel.is_now and len(tables) > 1:
        raise UsageError(
            "--snapshot, --as-of and --branch read one table, and there are "
            f"{len(tables)}: {', '.join(ref.label for ref in tables)}",
            hint="name one config",
        )
    with _duck.private(memory_limit=memory_limit) as con:
        _, tree = _sql.read_only(con, sql)
        chosen = _named(tables, tree)
        scans = [open_scan(ref, travel) for ref in chosen]
        create_views(con, chosen, scans, tables)
        _duck.sandbox(con, (path for scan in scans for path in scan.paths))
        try:
            yield Query(con, _sql.guard(con, sql))
        except QueryError as error:
            raise _with_tables(error, tables) from error


def create_views(
    con: DuckDBPyConnection, refs: Sequence[TableRef], scans: Sequence[Scan], known: Sequence[TableRef]
) -> None:
    """A view ``namespace.table`` for each scan, and by the bare name where it is unique among ``known``."""
    for ref, scan in zip(refs, scans, strict=True):
        columns = ", ".join(ident(name) for name in unique_names(scan.columns))
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {ident(ref.namespace)}")
        full = f"{ident(ref.namespace)}.{ident(ref.name)}"
        con.execute(f"CREATE VIEW {full} ({columns}) AS {scan_sql(con, scan.apart())}")
        alone = sum(other.name.casefold() == ref.name.casefold() for other in known) == 1
        if alone and ref.namespace.casefold() != "main":
            con.execute(f"CREATE VIEW main.{ident(ref.name)} AS FROM {full}")


def unique_names(names: Iterable[str]) -> list[str]:
    """Names made different for SQL, which does not see case: ``id, ID`` become ``id, ID_1``."""
    taken: set[str] = set()
    made = []
    for name in names:
        candidate, number = name, 0
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.casefold())
        made.append(candidate)
    return made


def _named(tables: Sequence[TableRef], tree: Any) -> list[TableRef]:
    """The tables that a syntax tree may read.

    Raises:
        QueryError: A bare name stands for more than one table.
    """
    named = {("", *(part.casefold() for part in path))[-2:] for path in _sql.base_tables(tree)}
    if any(schema in _CATALOGUES for schema, _ in named) or _sql.node_types(tree) & _ALL:
        return list(tables)
    bare = {name for schema, name in named if schema in _HERE}
    for name in sorted(bare - {cte.casefold() for cte in _sql.cte_names(tree)}):
        same = [ref.label for ref in tables if ref.name.casefold() == name]
        if len(same) > 1:
            raise QueryError(
                f"{name} is the name of {len(same)} tables; say one of {', '.join(sorted(same))}"
            )
    full = {f"{schema}.{name}" for schema, name in named}
    return [ref for ref in tables if ref.name.casefold() in bare or ref.label.casefold() in full]


def _spelled(ref: TableRef) -> str:
    """A table as SQL names it: the dots of a namespace need quotes."""
    return f"{ident(ref.namespace)}.{ref.name}" if "." in ref.namespace else ref.label


def _with_tables(error: QueryError, tables: Sequence[TableRef]) -> QueryError:
    """The same error, and what tables there are, where it says that one does not exist."""
    if "Table with name" not in error.message or "does not exist" not in error.message:
        return error
    known = ", ".join(sorted(_spelled(ref) for ref in tables))
    return QueryError(error.message.split(" Did you mean")[0], hint=f"tables: {known}")
