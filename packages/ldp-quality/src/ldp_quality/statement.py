"""A whole query of a user: one SELECT over the rows that are judged, which can read nothing else."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ldp_core.errors import ConfigError

from ldp_quality.predicate import FUNCTIONS, LEXEMES, function_name, told

if TYPE_CHECKING:
    from sqlglot import exp

_MORE = """
count count_star count_if countif sum avg mean min max median mode quantile quantile_cont quantile_disc
stddev stddev_samp stddev_pop variance var_samp var_pop any_value bool_and bool_or
approx_count_distinct corr covar_pop covar_samp kurtosis skewness product entropy exists
row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
"""
ALLOWED = FUNCTIONS | frozenset(_MORE.split())
"""Functions of a row's values, aggregates and windows: of the rows alone, of no clock and no chance."""


@functools.lru_cache(maxsize=256)
def guard(sql: str, table: str) -> None:
    """Refuse a query that is not one SELECT over one table.

    Args:
        sql: In DuckDB's dialect.
        table: The only table that it may read.

    Raises:
        ConfigError: It is none, reads something else, or calls what is not allowed.
    """
    from sqlglot import exp

    tree = _parsed(sql)
    named = {cte.alias.lower() for cte in tree.find_all(exp.CTE)} | {table.lower()}
    for node in tree.walk():
        _refuse(node, named, table)


def _parsed(sql: str) -> exp.Expr:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    for lexeme in LEXEMES.finditer(sql):
        if lexeme["refused"]:
            raise ConfigError(f"a query must be one SELECT, without {lexeme['refused']!r}")
    try:
        statements = sqlglot.parse(sql, read="duckdb")
    except SqlglotError as error:
        raise ConfigError(f"it is not SQL: {told(error)}") from None
    tree = statements[0] if len(statements) == 1 else None
    empty = isinstance(tree, exp.Select) and not tree.expressions
    if not isinstance(tree, exp.Select | exp.SetOperation) or empty:
        raise ConfigError("a query must be one SELECT")
    return tree


def _refuse(node: exp.Expr, named: set[str], table: str) -> None:
    from sqlglot import ErrorLevel, exp

    forbidden = (
        (exp.Placeholder, "a parameter"),
        (exp.Parameter, "a parameter"),
        (exp.SessionParameter, "a setting"),
        (exp.Lambda, "a lambda"),
        (exp.Into, "a statement that writes"),
        (exp.Command, "a command"),
        (exp.DDL, "a statement that writes"),
        (exp.DML, "a statement that writes"),
        (exp.Lock, "a lock"),
        (exp.TableSample, "a sample, which is never the same"),
        (exp.Lateral, "a lateral join"),
    )
    for kind, what in forbidden:
        if isinstance(node, kind) and not isinstance(node, exp.Query):
            text = node.sql("duckdb", unsupported_level=ErrorLevel.IGNORE)
            raise ConfigError(f"a query cannot hold {what}" + (f": {text}" if text else ""))
    if isinstance(node, exp.With) and node.args.get("recursive"):
        raise ConfigError("a query cannot hold a recursive part")
    if isinstance(node, exp.Table):
        used = {name for name, value in node.args.items() if value}
        plain = isinstance(node.this, exp.Identifier) and not used - {"this", "alias", "joins"}
        if not plain or node.name.lower() not in named:
            raise ConfigError(f"a query reads {table} alone, not {node.sql('duckdb')}")
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
        name = function_name(node)
        if name not in ALLOWED:
            raise ConfigError(f"a query cannot call {name}")
