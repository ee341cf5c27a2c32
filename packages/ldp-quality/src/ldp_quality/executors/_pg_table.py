"""A table of a PostgreSQL database: its columns, and what puts its rows in an order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident
from ldp_core.errors import ConfigError, TableNotFound

from ldp_quality import kinds
from ldp_quality.executors._typed import text
from ldp_quality.kinds import Kind

if TYPE_CHECKING:
    from psycopg import Connection

_NAME = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^\s".]+))\s*')
_INTEGERS = {"int2": 16, "int4": 32, "int8": 64}
_FLOATS = {"float4": ("float", 32), "float8": ("double", 64)}
_TEXTS = frozenset({"text", "varchar", "bpchar", "name"})
_OPEN = (1_400, 400)
"""Precision and scale that stand for a decimal without any: more digits than bounds have."""
_PLAIN = {
    "bool": Kind(kinds.BOOLEAN, "bool"),
    "date": Kind(kinds.DATE, "date32[day]", unit="day"),
    "timestamp": Kind(kinds.TIMESTAMP, "timestamp[us]", unit="us"),
    "timestamptz": Kind(kinds.TIMESTAMP, "timestamp[us, tz=UTC]", unit="us", zone=True),
    "time": Kind(kinds.TIME, "time64[us]", unit="us"),
    "bytea": Kind(kinds.BINARY, "binary"),
}

# A domain is what it is made of, through all its layers; its own modifier counts where it has one.
_COLUMNS = """
WITH RECURSIVE base AS (
    SELECT a.attnum, a.attname, a.atttypid AS id, a.atttypmod AS mod
    FROM pg_attribute AS a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, b.attname, t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.mod END
    FROM base AS b JOIN pg_type AS t ON t.oid = b.id WHERE t.typtype = 'd'
)
SELECT b.attname, t.typname, t.typtype::text, t.typcategory::text, b.mod, format_type(b.id, b.mod),
    t.typnamespace = 'pg_catalog'::regnamespace
FROM base AS b JOIN pg_type AS t ON t.oid = b.id WHERE t.typtype <> 'd' ORDER BY b.attnum
"""
_RELATION = """
SELECT c.oid::int8, c.relkind::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = {schema} AND c.relname = {table} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_NEAR = """
SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1 LIMIT 1000
"""
_PRIMARY_KEY = """
SELECT a.attname FROM pg_index AS i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, at)
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = {oid} AND i.indisprimary ORDER BY k.at
"""


@dataclass(frozen=True)
class Table:
    """A table, a view or the like.

    Attributes:
        name: Quoted, with its schema.
        columns: Names and kinds.
        sources: SQL of each column, by its name.
        order: SQL of what puts the rows in order: the primary key, the place in the table, or the whole row.
    """

    name: str
    columns: Mapping[str, Kind]
    sources: Mapping[str, str]
    order: tuple[str, ...]


def parsed(table: str) -> tuple[str, str]:
    """``schema.table``, as PostgreSQL reads it: without quotes in small letters.

    Raises:
        ConfigError: It is not one schema and one table.
    """
    parts = []
    at = 0
    while found := _NAME.match(table, at):
        parts.append(found[1].replace('""', '"') if found[1] else found[2].lower())
        at = found.end()
        if at == len(table) or table[at] != ".":
            break
        at += 1
    if at != len(table) or len(parts) != 2 or "\0" in table:
        raise ConfigError(
            f"a table of PostgreSQL is schema.table, such as public.orders, not {table!r}", key="table"
        )
    return parts[0], parts[1]


def found(con: Connection[Any], table: str) -> Table:
    """Look a table up.

    Raises:
        ConfigError: It is not written as ``schema.table``.
        TableNotFound: There is none of that name.
    """
    schema, name = parsed(table)
    relation = _rows(con, _RELATION.format(schema=text(schema), table=text(name)))
    if not relation:
        raise TableNotFound(f"PostgreSQL has no table {table!r}", hint=_hint(con, schema, name))
    oid, relkind = relation[0]
    columns: dict[str, Kind] = {}
    sources: dict[str, str] = {}
    for column, *type_ in _rows(con, _COLUMNS.format(oid=oid)):
        columns[column] = _kind(*type_)
        place = ident(column)
        is_text = columns[column].family == kinds.TEXT
        sources[column] = f'(({place})::text COLLATE "C")' if is_text else place
    key = [ident(column) for (column,) in _rows(con, _PRIMARY_KEY.format(oid=oid))]
    return Table(f"{ident(schema)}.{ident(name)}", columns, sources, tuple(key) or _place(relkind))


def _place(relkind: str) -> tuple[str, ...]:
    """What tells rows apart without a key; a view has nothing but its rows."""
    return ("tableoid", "ctid") if relkind in "rpm" else ('((rows_.*)::text COLLATE "C")',)


def _hint(con: Connection[Any], schema: str, name: str) -> str:
    from difflib import get_close_matches

    names = [str(row[0]) for row in _rows(con, _NEAR.format(schema=text(schema)))]
    near = get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {schema}.{near[0]}?"
    return f"the schema {schema} has {', '.join(names[:10]) or 'no tables that this user can see'}"


def _rows(con: Connection[Any], sql: str) -> list[Any]:
    return con.execute(sql.encode()).fetchall()


def _kind(name: str, typtype: str, category: str, modifier: int, formatted: str, own: bool) -> Kind:
    """The kind of a type; names are those that Arrow has for the same values."""
    if typtype == "e":
        return Kind(kinds.TEXT, "string")
    if not own:
        return Kind(kinds.OTHER, formatted)
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _TEXTS:
        return Kind(kinds.TEXT, "string")
    if name in _INTEGERS:
        half = 2 ** (_INTEGERS[name] - 1)
        return Kind(kinds.INTEGER, f"int{_INTEGERS[name]}", low=-half, high=half - 1)
    if name in _FLOATS:
        arrow, bits = _FLOATS[name]
        return Kind(kinds.FLOAT, arrow, bits=bits, nan=True)
    if name == "numeric":
        return _decimal(modifier)
    if category != "A":
        return Kind(kinds.OTHER, formatted)
    item = _kind(name.removeprefix("_"), "b", "", modifier, formatted.removesuffix("[]"), own)
    return Kind(kinds.NESTED, formatted, parts=(("items", item),))


def _decimal(modifier: int) -> Kind:
    """``numeric(p, s)``: the modifier is ``(p << 16 | s) + 4``, the scale of eleven bits with a sign."""
    if modifier >= 4:
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, ((modifier - 4 & 0x7FF) ^ 1024) - 1024
        if precision <= 38 and 0 <= scale <= precision:
            name = f"decimal128({precision}, {scale})"
            return Kind(kinds.DECIMAL, name, precision=precision, scale=scale, nan=True)
    return Kind(kinds.DECIMAL, "numeric", precision=_OPEN[0], scale=_OPEN[1], nan=True)
