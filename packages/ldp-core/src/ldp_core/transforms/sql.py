"""``{sql: SELECT ... FROM source}``: one SELECT over the rows so far, and over nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core._sql import foreign_tables, query_error, read_only
from ldp_core.errors import ConfigError, Problem, QueryError
from ldp_core.shape import Key, Shape, Text

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from ldp_core.spi import RunContext, Spec


class _SqlTransform:
    """The transform named ``sql``."""

    shape = Shape(
        doc="One SELECT over the rows so far, which are called source.",
        keys=(
            Key("sql", Text(), "The SELECT, such as SELECT *, fare * 2 AS twice FROM source."),
            Key("sql_file", Text(), "A file that holds the SELECT."),
        ),
        exactly_one=(("sql", "sql_file"),),
    )

    def problems(self, spec: Spec) -> list[Problem]:
        """An empty statement, or a file that is not there."""
        if spec.get("sql_file") and not Path(spec.path(str(spec.get("sql_file")))).is_file():
            return [Problem(f"file not found: {spec.get('sql_file')}", key="sql_file")]
        if isinstance(spec.get("sql"), str) and not spec.get("sql").strip():
            return [Problem("must not be empty", key="sql")]
        return []

    def apply(self, spec: Spec, sql: str, schema: pa.Schema, ctx: RunContext) -> tuple[str, pa.Schema]:
        """Wrap the rows; see ``Transform.apply``.

        Raises:
            ConfigError: The text is not one SELECT, reads something besides ``source``, or does not bind.
        """
        import duckdb

        from ldp_core.tables.spill import query_types

        try:
            body = _checked(ctx.con, _statement(spec))
        except QueryError as error:
            raise _error(spec, error.message) from error
        try:
            return query_types(ctx.con, f"WITH source AS (\n{sql}\n) SELECT * FROM (\n{body}\n)")
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
            raise _error(spec, query_error(error).message) from error


def _statement(spec: Spec) -> str:
    if spec.get("sql") is not None:
        return str(spec.get("sql"))
    path = Path(spec.path(str(spec.get("sql_file"))))
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", file=spec.file, key=f"{spec.key}.sql_file") from error


def _error(spec: Spec, why: str) -> ConfigError:
    if spec.get("sql") is not None:
        return ConfigError(why, file=spec.file, key=f"{spec.key}.sql" if spec.key else "sql")
    return ConfigError(why, file=str(spec.get("sql_file")))


def _checked(con: DuckDBPyConnection, statement: str) -> str:
    """The statement without a closing semicolon.

    Raises:
        QueryError: It is not one SELECT, or reads something besides ``source``.
    """
    sql, tree = read_only(con, statement)
    for path in foreign_tables(tree, {("source",)}):
        raise QueryError(f"may read only source, not {'.'.join(path)}")
    return sql


TRANSFORM = _SqlTransform()
