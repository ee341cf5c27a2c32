"""``{sql: SELECT ... FROM source}``: one SELECT over the rows so far, and over nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, Problem
from ldp_core.shape import Key, Shape, Text

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from ldp_core.spi import RunContext, Spec

FUNCTIONS = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
"""Table functions that read nothing but their arguments."""


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

        from ldp_core.sources._typed import query_types

        statement = _statement(spec)
        if (why := _refused(ctx.con, statement)) is not None:
            raise _error(spec, why)
        body = statement.strip().rstrip(";")
        try:
            return query_types(ctx.con, f"WITH source AS (\n{sql}\n) SELECT * FROM (\n{body}\n)")
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
            raise _error(spec, str(error).strip().splitlines()[0]) from error


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


def _refused(con: DuckDBPyConnection, statement: str) -> str | None:
    """Why a statement may not run, or None."""
    from ldp_core.sources._typed import one_select

    if (why := one_select(con, statement)) is not None:
        return why
    row = con.execute("SELECT json_serialize_sql(?)", [statement]).fetchall()[0]
    tree = json.loads(row[0])
    if tree.get("error"):
        return str(tree.get("error_message"))
    nodes = list(_nodes(tree))
    known = {"source"} | {
        entry["key"].lower() for node in nodes if "cte_map" in node for entry in node["cte_map"]["map"]
    }
    for node in nodes:
        kind = node.get("type")
        if kind == "BASE_TABLE":
            parts = [node.get("catalog_name"), node.get("schema_name"), node.get("table_name")]
            name = ".".join(str(part) for part in parts if part)
            if name.lower() not in known:
                return f"may read only source, not {name}"
        elif kind == "TABLE_FUNCTION":
            name = str((node.get("function") or {}).get("function_name"))
            if name.lower() not in FUNCTIONS:
                return f"may read only source, not {name}(...)"
        elif kind == "SHOW_REF":
            return "must be one SELECT"
    return None


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of a serialized statement."""
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from _nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value)


TRANSFORM = _SqlTransform()
