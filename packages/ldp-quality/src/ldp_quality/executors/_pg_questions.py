"""Questions that need a pass of their own, in PostgreSQL's words: keys, steps, rates of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldp_quality.executors._pg_words import ticks
from ldp_quality.plan import (
    SAMPLES,
    Answer,
    CannotEvaluate,
    Hit,
    KeyCounts,
    Keys,
    Question,
    RateCounts,
    Rates,
    StepCounts,
    Steps,
)

if TYPE_CHECKING:
    from ldp_quality.executors.postgres import PostgresExecutor


def answer(question: Question, rows: PostgresExecutor) -> Answer:
    """Answer it.

    Raises:
        CannotEvaluate: It is one that this engine does not know.
    """
    match question:
        case Keys():
            return _keys(question, rows)
        case Steps():
            return _steps(question, rows)
        case Rates():
            return _rates(question, rows)
    raise CannotEvaluate(f"PostgreSQL does not answer {type(question).__name__}")


def _keys(keys: Keys, rows: PostgresExecutor) -> KeyCounts:
    places = [rows.places[name] for name in keys.columns]
    listed = ", ".join(places)
    present = " AND ".join(f"({place} IS NOT NULL)" for place in places)
    groups = f"SELECT count(*) AS n FROM {rows.relation()} WHERE {present} GROUP BY {listed}"
    distinct, repeated, repeated_rows = rows.fetch(
        "SELECT count(*), count(*) FILTER (WHERE n > 1), "
        f"coalesce(sum(n) FILTER (WHERE n > 1), 0)::bigint FROM ({groups}) AS g"
    )[0]
    if not repeated:
        return KeyCounts(distinct, 0, 0)
    shown = [rows.shown(name, f"d.{place}") for name, place in zip(keys.columns, places, strict=True)]
    # Of each key that is among the first: its rows come with it, by equality, which a join can hash.
    same = " AND ".join(f"s.{place} = d.{place}" for place in places)
    dup = (
        f"SELECT {listed}, count(*) AS n, min({rows.row}) AS f FROM {rows.relation(ordered=True)} "
        f"WHERE {present} GROUP BY {listed} HAVING count(*) > 1 ORDER BY f LIMIT {SAMPLES}"
    )
    sample = rows.fetch(f"SELECT d.n, {', '.join(shown)} FROM ({dup}) AS d ORDER BY d.f")
    seen = rows.fetch(
        f"SELECT s.{rows.row} FROM {rows.relation(ordered=True, alias='s')} JOIN ({dup}) AS d ON {same} "
        f"ORDER BY 1 LIMIT {SAMPLES}"
    )
    return KeyCounts(
        distinct,
        repeated,
        repeated_rows,
        tuple((rows.read(keys.columns, key), count) for count, *key in sample),
        tuple(Hit(row) for (row,) in seen),
    )


def _steps(steps: Steps, rows: PostgresExecutor) -> StepCounts:
    place, kind = rows.places[steps.column], rows.columns[steps.column]
    if steps.gap_over is None:
        broken, largest = f"v {'<=' if steps.strict else '<'} p", "NULL"
        order = [*(f"{rows.places[name]} NULLS LAST" for name in steps.order_by), rows.row]
        return _walk(steps, rows, order, broken, largest, numbered=True)
    gap = f"({ticks('v', kind)} - {ticks('p', kind)})"
    broken, largest = f"{gap} > {steps.gap_over}", f"max({gap})"
    counted = _walk(steps, rows, [place], broken, largest, numbered=False)
    if not counted.broken:
        return counted
    return _walk(steps, rows, [place, rows.row], broken, largest, numbered=True)


def _walk(
    steps: Steps, rows: PostgresExecutor, order: list[str], broken: str, largest: str, *, numbered: bool
) -> StepCounts:
    """Each value ``v`` beside the one before it, ``p``; rows are numbered only when they must be."""
    place = rows.places[steps.column]
    kind = rows.columns[steps.column]
    present = f"{place} IS NOT NULL" + (f" AND NOT {rows.words.is_nan(place)}" if kind.nan else "")
    groups = ", ".join(rows.places[name] for name in steps.group_by)
    partition = f"PARTITION BY {groups} " if groups else ""
    number = rows.row if numbered else "0"
    order_by = ", ".join(order)
    walked = (
        f"SELECT {place} AS v, {number} AS r, lag({place}) OVER w AS p "
        f"FROM {rows.relation(ordered=numbered)} WHERE {present} WINDOW w AS ({partition}ORDER BY {order_by})"
    )
    checked, starts, wrong, most = rows.fetch(
        f"SELECT count(*), count(*) FILTER (WHERE p IS NULL), count(*) FILTER (WHERE {broken}), {largest} "
        f"FROM ({walked}) AS t"
    )[0]
    most = None if most is None else int(most)
    if not wrong or not numbered:
        return StepCounts(checked, starts, wrong, most)
    asked = [rows.said(steps.column, name) for name in ("v", "p")]
    first = rows.fetch(
        f"SELECT r, {', '.join(asked)} FROM ({walked}) AS t WHERE {broken} ORDER BY r LIMIT {SAMPLES}"
    )
    hits = tuple(Hit(row, (value, before)) for row, value, before in first)
    return StepCounts(checked, starts, wrong, most, hits)


def _rates(rates: Rates, rows: PostgresExecutor) -> RateCounts:
    flag = rows.places[rates.column]
    places = [rows.places[name] for name in rates.group_by]
    listed = ", ".join(places)
    over = f"t::numeric * {rates.denominator} > n::numeric * {rates.numerator}"
    groups = (
        f"SELECT {listed}, count({flag}) AS n, count(*) FILTER (WHERE {flag}) AS t FROM {rows.relation()} "
        f"GROUP BY {listed} HAVING count({flag}) > 0"
    )
    count, over_count, true_over, highest = rows.fetch(
        f"SELECT count(*), count(*) FILTER (WHERE {over}), "
        f"coalesce(sum(t) FILTER (WHERE {over}), 0)::bigint, max(t::float8 / n) FROM ({groups}) AS g"
    )[0]
    if not over_count:
        return RateCounts(count, 0, 0, highest)
    shown = [rows.shown(name, place) for name, place in zip(rates.group_by, places, strict=True)]
    worst = rows.fetch(
        f"SELECT t, n, {', '.join(shown)} FROM ({groups}) AS g WHERE {over} "
        f"ORDER BY t::float8 / n DESC, n DESC, {listed} LIMIT {SAMPLES}"
    )
    counted = (
        f"SELECT {rows.row} AS r, {flag} AS flag, count({flag}) OVER w AS n, "
        f"count(*) FILTER (WHERE {flag}) OVER w AS t "
        f"FROM {rows.relation(ordered=True)} WINDOW w AS (PARTITION BY {listed})"
    )
    seen = rows.fetch(f"SELECT r FROM ({counted}) AS c WHERE flag AND {over} ORDER BY r LIMIT {SAMPLES}")
    sample: tuple[tuple[tuple[Any, ...], int, int], ...] = tuple(
        (rows.read(rates.group_by, key), true, known) for true, known, *key in worst
    )
    return RateCounts(count, over_count, true_over, highest, sample, tuple(Hit(row) for (row,) in seen))
