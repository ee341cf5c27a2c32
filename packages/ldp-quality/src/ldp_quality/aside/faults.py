"""Which rows break a rule, asked of either side of a batch: by place in the files, or by number in the input.

Some rules blame a row for what is in it. Others (a repeated key, a value less than one before) blame it for
other rows, too: they look at the rows that no rule of the first kind blames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_quality._absent import orphans
from ldp_quality._outliers import beyond, outliers
from ldp_quality.aside.side import Side
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.expr import Column, Predicate
from ldp_quality.plan import NONE, Absent, CannotEvaluate, Keys, Outliers, Plan, Steps
from ldp_quality.rule import Rule

if TYPE_CHECKING:
    from ldp_quality.plan import Question


@dataclass(frozen=True)
class Fault:
    """A rule that failed, and what it asked.

    Attributes:
        number: Which rule it is.
        rule: The rule.
        bad: What a bad row is; None where a question finds them.
        question: What finds them.
        beside: The rows of the table that keys must not be among; None where only the batch counts.
    """

    number: int
    rule: Rule
    bad: Predicate | None
    question: Question | None
    beside: DuckDBExecutor | None = None

    @classmethod
    def of(
        cls,
        number: int,
        rule: Rule,
        plan: Plan,
        rows: DuckDBExecutor,
        beside: DuckDBExecutor | None = None,
    ) -> Fault | None:
        """What a failed rule blames rows for; None where it names no rows, such as for a missing column."""
        question = plan.question
        if isinstance(question, Outliers) and question.past is None:
            usual = outliers(question, narrowed(rows, rule))
            if usual.mean is None or usual.stddev is None:
                return None
            question = replace(question, past=(usual.mean, usual.stddev))
        if plan.bad is None and not isinstance(question, Keys | Steps | Absent | Outliers):
            return None
        beside = None if beside is None else narrowed(beside, rule)
        return cls(number, rule, plan.bad, question, beside)

    @property
    def of_others(self) -> bool:
        """Whether other rows of the batch are part of what a row is blamed for."""
        return isinstance(self.question, Keys | Steps)

    @property
    def by_order(self) -> bool:
        """Whether the order of the input decides which row it is."""
        return isinstance(self.question, Steps) or (isinstance(self.question, Keys) and not self.all_alike)

    @property
    def all_alike(self) -> bool:
        """Whether all rows of a key are at fault."""
        return isinstance(self.question, Keys) and self.question.keep == NONE


def narrowed(rows: DuckDBExecutor, rule: Rule) -> DuckDBExecutor:
    """The rows that a rule is about."""
    condition = rule.condition
    return rows if condition is None else rows.narrowed(condition)


def by_row(side: Side, faults: Sequence[Fault]) -> None:
    """Blame rows for what is in them: all conditions over the same rows in one pass."""
    for where in dict.fromkeys(fault.rule.where for fault in faults if fault.bad is not None):
        same = [fault for fault in faults if fault.bad is not None and fault.rule.where == where]
        _conditions(side, same)
    for fault in faults:
        rows = narrowed(side.rows, fault.rule) if fault.bad is None else side.rows
        match fault.question:
            case Absent():
                gone, _ = orphans(fault.question, rows, ordered=False)
                side.insert(f"SELECT {side.ids(rows, 's.')}, {fault.number} {gone}")
            case Outliers():
                source, _ = rows.relation([], ordered=False)
                far = beyond(fault.question, rows)
                side.insert(f"SELECT {side.ids(rows)}, {fault.number} FROM {source} WHERE {far}")


def _conditions(side: Side, faults: Sequence[Fault]) -> None:
    rows = narrowed(side.rows, faults[0].rule)
    bad = [fault.bad for fault in faults if fault.bad is not None]
    source, words = rows.relation(bad, ordered=False)
    tests = [words.predicate(predicate) for predicate in bad]
    numbered = ", ".join(
        f"CASE WHEN {test} THEN {fault.number} END" for test, fault in zip(tests, faults, strict=True)
    )
    side.insert(
        f"SELECT * FROM (SELECT {side.ids(rows)}, unnest([{numbered}]) AS rule FROM {source} "
        f"WHERE {' OR '.join(tests)}) WHERE rule IS NOT NULL"
    )


def by_key(side: Side, faults: Sequence[Fault], before: Sequence[int]) -> None:
    """Blame all rows of a repeated key, and those whose key the table has.

    Args:
        side: The rows.
        faults: The rules.
        before: The rules that blame rows for what is in them.
    """
    for fault in faults:
        if not isinstance(fault.question, Keys):
            continue
        if fault.beside is not None:
            rows = narrowed(side.without(before), fault.rule)
            _sharing(side, fault, rows, _keys(fault, fault.beside))
        if fault.all_alike:
            rows = narrowed(side.without([*before, fault.number]), fault.rule)
            _sharing(side, fault, rows, _keys(fault, rows, "HAVING count(*) > 1"))


def _sharing(side: Side, fault: Fault, rows: DuckDBExecutor, keys: str) -> None:
    """All rows with one of the keys."""
    source, _ = rows.relation([], ordered=False)
    side.insert(
        f"SELECT {side.ids(rows, 's.')}, {fault.number} FROM {source} AS s "
        f"SEMI JOIN {keys} AS d ON {_same(fault, rows)}"
    )


def by_order(side: Side, faults: Sequence[Fault], before: Sequence[int]) -> None:
    """Blame rows for rows before them. The side names rows by their number in the input."""
    for fault in faults:
        if not fault.by_order:
            continue
        rows = narrowed(side.without([*before, fault.number]), fault.rule)
        match fault.question:
            case Keys():
                _later(side, fault, rows)
            case Steps():
                _less(side, fault, fault.question, rows)


def _later(side: Side, fault: Fault, rows: DuckDBExecutor) -> None:
    """All rows of a key but the first."""
    row = rows.places[side.names[0]]
    source, _ = rows.relation([], ordered=False)
    repeated = _keys(fault, rows, "HAVING count(*) > 1")
    listed = ", ".join(f"s.{rows.places[name]}" for name in _columns(fault))
    side.insert(
        f"SELECT r, {fault.number} FROM (SELECT s.{row} AS r, "
        f"row_number() OVER (PARTITION BY {listed} ORDER BY s.{row}) AS n "
        f"FROM {source} AS s SEMI JOIN {repeated} AS d ON {_same(fault, rows)}) WHERE n > 1"
    )


def _less(side: Side, fault: Fault, steps: Steps, rows: DuckDBExecutor) -> None:
    """The rows less than any before them; what stays goes up all the way."""
    if steps.gap_over is not None:
        raise CannotEvaluate("a gap names no row")
    row = rows.places[side.names[0]]
    source, words = rows.relation([], ordered=False)
    place, kind = rows.places[steps.column], rows.columns[steps.column]
    present = f"{place} IS NOT NULL" + (f" AND NOT {words.is_nan(place)}" if kind.nan else "")
    groups = ", ".join(rows.places[name] for name in steps.group_by)
    order = ", ".join([*(f"{rows.places[name]} NULLS LAST" for name in steps.order_by), row])
    over = (
        f"({f'PARTITION BY {groups} ' if groups else ''}ORDER BY {order} "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    )
    value = words.value(Column(steps.column))
    side.insert(
        f"SELECT r, {fault.number} FROM (SELECT {row} AS r, {value} AS v, max({value}) OVER {over} AS p "
        f"FROM {source} WHERE {present}) WHERE v {'<=' if steps.strict else '<'} p"
    )


def _columns(fault: Fault) -> tuple[str, ...]:
    assert isinstance(fault.question, Keys)
    return fault.question.columns


def _keys(fault: Fault, rows: DuckDBExecutor, having: str = "") -> str:
    """FROM text of the keys of some rows, called ``k0``, ``k1`` ..."""
    places = [rows.places[name] for name in _columns(fault)]
    source, _ = rows.relation([], ordered=False)
    present = " AND ".join(f"{place} IS NOT NULL" for place in places)
    named = ", ".join(f"{place} AS k{at}" for at, place in enumerate(places))
    return f"(SELECT {named} FROM {source} WHERE {present} GROUP BY {', '.join(places)} {having})"


def _same(fault: Fault, rows: DuckDBExecutor) -> str:
    places = [rows.places[name] for name in _columns(fault)]
    return " AND ".join(f"s.{place} IS NOT DISTINCT FROM d.k{at}" for at, place in enumerate(places))
