"""Marks rows that rules will put aside for what is in them, before anything is written or judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_quality.executor import DuckDBExecutor
from ldp_quality.expr import And, Or, Predicate
from ldp_quality.kinds import Kind
from ldp_quality.plan import CannotEvaluate, Context
from ldp_quality.rule import Rule

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def marking(
    rules: Sequence[Rule], con: DuckDBPyConnection, columns: Mapping[str, Kind], context: Context
) -> Callable[[str], str] | None:
    """See ``ldp_core.spi.Resolved.marked``.

    Only a help: what it marks and what the rules blame in the end may differ, and the rules decide.

    Args:
        rules: Those that put rows aside.
        con: The connection that will read the rows.
        columns: Names and kinds.
        context: What checks may know besides.
    """
    bad = [found for rule in rules if (found := _bad(rule, columns, context)) is not None]
    if not bad:
        return None

    def marked(sql: str) -> str:
        rows = DuckDBExecutor(con, sql, sql, columns)
        try:
            source, words = rows.relation(bad, ordered=False)
        except CannotEvaluate:
            return f"SELECT *, false FROM (\n{sql}\n)"
        listed = ", ".join(rows.places.values())
        return f"SELECT {listed}, coalesce({words.predicate(Or(tuple(bad)))}, false) FROM {source}"

    return marked


def _bad(rule: Rule, columns: Mapping[str, Kind], context: Context) -> Predicate | None:
    """What is in a row that a rule blames; None where other rows, or other tables, are part of it."""
    bad = rule.check.compile(columns, replace(context, where=rule.where)).bad
    condition = rule.condition
    if bad is None or condition is None:
        return bad
    return And((condition, bad)) if all(name in columns for name in condition.columns) else None
