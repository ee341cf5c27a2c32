"""Which SQL a user may run: one SELECT that reads, or one predicate. All else is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ldp_core.errors import QueryError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TABLE_FUNCTIONS = frozenset(
    {
        "duckdb_columns",
        "duckdb_functions",
        "duckdb_keywords",
        "duckdb_tables",
        "duckdb_types",
        "duckdb_views",
        "generate_series",
        "json_each",
        "json_tree",
        "pg_timezone_names",
        "range",
        "repeat",
        "summary",
        "test_all_types",
        "unnest",
    }
)
"""Table functions that neither open a file nor change anything; no other may be called."""

_SEARCHED = frozenset({"main", "pg_catalog"})  # schemas whose views go by their bare names
_SHOWS_ONE = frozenset({"SHOW", "DESCRIBE", "SUMMARY"})


def guard(con: DuckDBPyConnection, sql: str) -> str:
    """Check that a text is exactly one SELECT that only reads.

    The statement must bind as a subquery, where DuckDB refuses a write (a ``COPY`` inside a CTE parses as a
    SELECT); it must be run as it is then, on a connection that ``_duck.sandbox`` has locked.

    Args:
        con: The locked connection, with its views.
        sql: The user's text.

    Returns:
        The text to run: the same without a closing semicolon.

    Raises:
        QueryError: It is anything else, or does not bind; one line.
    """
    import duckdb

    sql, tree = read_only(con, sql)
    try:
        con.execute(f"EXPLAIN SELECT * FROM (\n{sql}\n)").fetchall()
        known = _views(con)
    except duckdb.Error as error:
        raise query_error(error) from error
    for path in foreign_tables(tree, known):
        raise QueryError(f"a query reads only the tables it is given: {'.'.join(path)} is none of them")
    return sql


def read_only(con: DuckDBPyConnection, sql: str) -> tuple[str, Mapping[str, Any]]:
    """The part of ``guard`` that needs no tables: one SELECT, no table function that opens files.

    Returns:
        The text without a closing semicolon, and DuckDB's syntax tree of it.

    Raises:
        QueryError: It is anything else.
    """
    import duckdb

    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        raise query_error(error) from error
    if not statements:
        raise QueryError("there is no SQL to run", hint="give one SELECT")
    kinds = [statement.type.name for statement in statements]
    if len(kinds) > 1:
        raise QueryError(f"a query is one SELECT; this is {len(kinds)} statements: {', '.join(kinds)}")
    if kinds != ["SELECT"]:
        raise QueryError(f"a query only reads: {kinds[0]} is refused", hint="give one SELECT")
    sql = _without_semicolon(sql)
    tree = _tree(con, sql)
    for name in table_functions(tree):
        if name.lower() not in TABLE_FUNCTIONS:
            raise QueryError(f"a query reads only the tables it is given: {name}(...) is refused")
    return sql, tree


def predicate(con: DuckDBPyConnection, text: str) -> str:
    """Check that a text is one SQL expression, so that it can stand in ``WHERE (...)`` and do nothing else.

    Args:
        con: Any connection.
        text: Such as ``fare > 6``.

    Returns:
        The expression in parentheses, closed against comments.

    Raises:
        QueryError: It is no expression, or calls a table function that opens files.
    """
    # A text that closes the parenthesis itself does not parse without it; one that needs none (a list, a
    # further clause) does not parse inside it.
    for wrapped in (f"SELECT 1 WHERE\n{text}\n", f"SELECT 1 WHERE (\n{text}\n)"):
        try:
            _, tree = read_only(con, wrapped)
        except QueryError as error:
            raise QueryError(f"{text!r} is not a predicate: {error.message}") from error
        for path in foreign_tables(tree, ()):
            raise QueryError(f"{text!r} is not a predicate: it reads {'.'.join(path)}")
    return f"(\n{text}\n)"


def base_tables(tree: Any) -> Iterator[tuple[str, ...]]:
    """The tables that a syntax tree names, each as it is written: ``(catalog,) (schema,) name``.

    The names of CTEs are among them.
    """
    for node in _nodes(tree):
        if node.get("type") == "BASE_TABLE" or node.get("show_type") in _SHOWS_ONE:
            path = tuple(str(part) for part in node["qualified_name"]["path"] if part)
            if path:
                yield path


def foreign_tables(tree: Any, known: Collection[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The tables that a syntax tree names and that neither are known nor made by ``WITH``.

    DuckDB takes a name that it does not know for a file: ``FROM 'rides.csv'``. As a CTE is not seen outside
    of its query, its name excuses only names that no file can have: those without a point.

    Args:
        tree: From ``read_only``.
        known: As ``base_tables`` gives them, case-folded.
    """
    ctes = {name.casefold() for name in cte_names(tree)}
    for path in base_tables(tree):
        folded = tuple(part.casefold() for part in path)
        if folded in known or (len(path) == 1 and folded[0] in ctes and "." not in folded[0]):
            continue
        yield path


def cte_names(tree: Any) -> Iterator[str]:
    """The names that ``WITH`` gives in a syntax tree."""
    for node in _nodes(tree):
        if isinstance(node.get("cte_map"), Mapping):
            for entry in node["cte_map"].get("map", ()):
                yield str(entry["key"])


def _views(con: DuckDBPyConnection) -> set[tuple[str, ...]]:
    """Every spelling of the views of a connection, case-folded; it has no tables."""
    known: set[tuple[str, ...]] = set()
    rows = con.execute("SELECT database_name, schema_name, view_name FROM duckdb_views()").fetchall()
    for catalog, schema, name in ([part.casefold() for part in row] for row in rows):
        known |= {(catalog, schema, name), (schema, name)}
        if schema in _SEARCHED:
            known |= {(catalog, name), (name,)}
    return known


def table_functions(tree: Any) -> Iterator[str]:
    """The table functions that a syntax tree calls."""
    for node in _nodes(tree):
        if node.get("type") == "TABLE_FUNCTION":
            yield str(node["function"].get("function_name", ""))


def node_types(tree: Any) -> set[str]:
    """The kinds of nodes in a syntax tree, such as ``SHOW_REF``."""
    return {str(node["type"]) for node in _nodes(tree) if isinstance(node.get("type"), str)}


def query_error(error: Exception) -> QueryError:
    """An error of DuckDB as one line, without the excerpt of the SQL."""
    from ldp_core._trouble import trouble

    if (found := trouble(error)) is not None:
        return QueryError(found.message, hint=found.hint, retriable=found.retriable)
    lines = str(error).split("\nLINE ")[0].split("\n")
    words = " ".join(line.strip() for line in lines if line.strip())
    if "file system operations are disabled" in words:
        return QueryError(f"a query reads only the tables it is given: {words}")
    return QueryError(words)


def _tree(con: DuckDBPyConnection, sql: str) -> Mapping[str, Any]:
    rows = con.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    tree: Mapping[str, Any] = json.loads(rows[0][0])
    if tree.get("error"):
        raise QueryError(f"the query cannot be checked: {tree.get('error_message', 'no syntax tree')}")
    return tree


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _without_semicolon(sql: str) -> str:
    """The text up to the semicolons that close it; comments after them go too."""
    import duckdb

    raw = sql.encode()
    end = len(raw)
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind == duckdb.token_type.comment:
            continue
        if raw[offset : offset + 1] != b";":
            break
        end = offset
    return raw[:end].decode()
