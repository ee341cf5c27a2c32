"""A DuckDB database file: one relation, or one SELECT over it. Opened read-only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.errors import ConfigError, Problem, QueryError, SourceError, SourceNotFound
from ldp_core.shape import Key, Shape, Text
from ldp_core.sources import _files
from ldp_core.sources.csv import LOSSES

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

SHAPE = Shape(
    doc="A DuckDB database file, read-only.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), "The database file.", required=True),
        Key("relation", Text(), "A table or view, such as rides or main.rides."),
        Key("sql", Text(), "One SELECT over the database."),
        LOSSES,
    ),
    exactly_one=(("relation", "sql"),),
)


class _DuckDBSource:
    """The source named ``DUCKDB``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """An empty relation or query, and a database in an object store."""
        found = [
            Problem("must not be empty", key=key)
            for key in ("relation", "sql")
            if isinstance(spec.get(key), str) and not spec.get(key).strip()
        ]
        if not fs.is_local(str(spec.get("path", ""))):
            found.append(Problem("a DuckDB database must be a local file", key="path"))
        return found

    def describe(self, spec: Spec) -> str:
        """The path, and what is read from it."""
        return f"{spec.get('path')} ({spec.get('relation') or 'sql'})"

    def missing(self, spec: Spec) -> str | None:
        """Whether the file is not there."""
        path = fs.local_path(spec.path(str(spec.get("path", ""))))
        return None if path.is_file() else f"DuckDB database not found: {path}"

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Read the relation or query into a spill; see ``Source.open``.

        The rows are those of one moment, and the database is not held open while the run goes on. Of a run
        with a window only its rows leave the database.

        Raises:
            SourceNotFound: The file is not there.
            SourceError: It cannot be opened, or has no such relation.
            ConfigError: ``sql`` is not one SELECT, or does not run.
        """
        from ldp_core.sources._typed import spilled

        path = fs.local_path(spec.path(str(spec.get("path", ""))))
        if (why := self.missing(spec)) is not None:
            raise SourceNotFound(why)
        spill, schema, rows = _copy(path, spec, ctx)
        whole = spilled(spill, schema, (str(path),))
        return whole if rows is None else replace(whole, rows=rows)


def _copy(path: Path, spec: Spec, ctx: RunContext) -> tuple[Path, Any, int | None]:
    """The spilled rows, their types, and how many rows there are in all where a window keeps some alone."""
    import duckdb

    from ldp_core import _duck
    from ldp_core._sql import read_only
    from ldp_core._trouble import trouble, words
    from ldp_core.tables.spill import query_types, spill
    from ldp_core.tables.window_rows import condition, has_filter

    name = _files.shown(str(path), spec.base_dir)
    try:
        con = _duck.connect(database=str(path), read_only=True, temp_directory=ctx.scratch)
    except duckdb.Error as error:
        first = str(error).strip().splitlines()[0]
        busy = "lock" in first.lower()
        what = "is in use" if busy else "is no DuckDB database that this version reads"
        raise SourceError(f"{what}: {first}", file=name, retriable=busy) from error
    try:
        con.execute("SET arrow_lossless_conversion=true")  # a UUID as a UUID, not as text
        con.execute("SET enable_external_access=false")
        con.execute("SET lock_configuration=true")
        relation = spec.get("relation")
        if relation is None:
            try:
                sql, _ = read_only(con, str(spec.get("sql")))
            except QueryError as error:
                raise ConfigError(error.message, file=spec.file, key=f"{spec.key}.sql") from error
        else:
            sql = f"SELECT * FROM {_relation(con, str(relation), name)}"
        try:
            query, schema = query_types(con, sql)
            rows = None
            if ctx.keyed is not None and has_filter(ctx.keyed):
                rows = int(con.execute(f"SELECT count(*) FROM (\n{query}\n)").fetchall()[0][0])
                query = f"SELECT * FROM (\n{query}\n) AS w WHERE {condition(ctx.keyed, schema)}"
            with _duck.streamed(con, query, 65536) as reader:
                return spill(ctx.scratch, schema, reader), schema, rows
        except duckdb.Error as error:
            if (found := trouble(error, ctx.scratch)) is not None:
                raise found from error
            key = "sql" if relation is None else "relation"
            raise ConfigError(words(error), file=spec.file, key=f"{spec.key}.{key}") from error
    finally:
        con.close()


def _relation(con: Any, relation: str, file: str) -> str:
    """A relation's quoted name: the name itself first, then its dotted parts.

    Raises:
        SourceError: There is no such table or view; names those that are there.
    """
    from ldp_core._duck import ident

    rows = con.execute(
        "SELECT table_schema, table_name FROM information_schema.tables "
        "WHERE table_catalog = current_database()"
    ).fetchall()
    known = {(schema, table) for schema, table in rows}
    parts = relation.replace('"', "").split(".")
    wanted = [("main", relation), (parts[0], ".".join(parts[1:])), (".".join(parts[-2:-1]), parts[-1])]
    wanted += [(schema, relation) for schema, table in sorted(known) if table == relation]
    for schema, table in wanted:
        if (schema, table) in known:
            return f"{ident(schema)}.{ident(table)}"
    for schema, table in sorted(known):
        if relation.lower() in (table.lower(), f"{schema}.{table}".lower()):
            return f"{ident(schema)}.{ident(table)}"
    there = ", ".join(sorted(table if schema == "main" else f"{schema}.{table}" for schema, table in known))
    raise SourceError(f"has no table or view {relation!r}; it has {there or 'none'}", file=file)


SOURCE = _DuckDBSource()
