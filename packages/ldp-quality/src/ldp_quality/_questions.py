"""Questions that need a pass of their own, in DuckDB's words: keys, steps, rates of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ldp_quality._absent import absent
from ldp_quality._outliers import outliers, scan
from ldp_quality._scalar import scalar
from ldp_quality._values import plain
from ldp_quality.expr import Column
from ldp_quality.plan import (
    SAMPLES,
    Absent,
    Answer,
    Hit,
    KeyCounts,
    Keys,
    Outliers,
    Question,
    RateCounts,
    Rates,
    Scalar,
    Scan,
    StepCounts,
    Steps,
)

if TYPE_CHECKING:
    from ldp_quality.executor import DuckDBExecutor


def answer(question: Question, rows: DuckDBExecutor) -> Answer:
    """Answer it."""
    match question:
        case Keys():
            return _keys(question, rows)
        case Steps():
            return _steps(question, rows)
        case Rates():
            return _rates(question, rows)
        case Absent():
            return absent(question, rows)
        case Outliers():
            return outliers(question, rows)
        case Scan():
            return scan(question, rows)
        case Scalar():
            return scalar(question, rows)


def hits(found: Sequence[Mapping[str, Any]] | None) -> tuple[Hit, ...]:
    """Structs ``{r, v0, v1, ...}`` as hits."""
    return tuple(Hit(int(item["r"]), tuple(list(item.values())[1:])) for item in found or ())


def _keys(keys: Keys, rows: DuckDBExecutor) -> KeyCounts:
    source, _ = rows.relation([], ordered=False)
    places = [rows.places[name] for name in keys.columns]
    present = " AND ".join(f"{place} IS NOT NULL" for place in places)
    groups = f"SELECT count(*) AS n FROM {source} WHERE {present} GROUP BY {', '.join(places)}"
    distinct, repeated, repeated_rows = rows.fetch(
        "SELECT count(*), count(*) FILTER (WHERE n > 1), "
        f"CAST(coalesce(sum(n) FILTER (WHERE n > 1), 0) AS BIGINT) FROM ({groups})"
    )[0]
    if not repeated:
        return KeyCounts(distinct, 0, 0)
    return _repeated(rows, places, present, KeyCounts(distinct, repeated, repeated_rows))


def _repeated(rows: DuckDBExecutor, places: list[str], present: str, counts: KeyCounts) -> KeyCounts:
    """The repeated keys that come first.

    The first repeated rows hold only keys that are among these: a key whose first row comes later than
    that of ``SAMPLES`` others cannot own one of the first ``SAMPLES`` repeated rows.
    """
    source, _ = rows.relation([], ordered=True)
    names = [f"k{at}" for at in range(len(places))]
    keys = ", ".join(f"{place} AS {name}" for place, name in zip(places, names, strict=True))
    same = " AND ".join(
        f"s.{place} IS NOT DISTINCT FROM d.{name}" for place, name in zip(places, names, strict=True)
    )
    table = rows.arrow(
        f"WITH dup AS MATERIALIZED (SELECT {keys}, count(*) AS n, min({rows.row}) AS f FROM {source} "
        f"WHERE {present} GROUP BY {', '.join(places)} HAVING n > 1 ORDER BY f LIMIT {SAMPLES}), "
        f"seen AS (SELECT min(s.{rows.row}, {SAMPLES}) AS found FROM {source} AS s JOIN dup AS d ON {same}) "
        f"SELECT {', '.join(f'd.{name}' for name in names)}, d.n, seen.found FROM dup AS d, seen ORDER BY d.f"
    )
    width = len(places)
    sample = tuple(
        (
            tuple(plain(table.column(place)[at]) for place in range(width)),
            int(table.column(width)[at].as_py()),
        )
        for at in range(table.num_rows)
    )
    first = table.column(width + 1)[0].as_py()
    return KeyCounts(
        counts.distinct,
        counts.repeated,
        counts.repeated_rows,
        sample,
        tuple(Hit(int(row)) for row in sorted(first)),
    )


def _steps(steps: Steps, rows: DuckDBExecutor) -> StepCounts:
    if steps.gap_over is None:
        broken = f"v {'<=' if steps.strict else '<'} p"
        order = [*(f"{rows.places[name]} NULLS LAST" for name in steps.order_by), rows.row]
        return StepCounts(*_walk(steps, rows, order, broken, "NULL", numbered=True))
    gap = "CAST(v AS HUGEINT) - CAST(p AS HUGEINT)"
    broken = f"{gap} > {steps.gap_over}"
    found = _walk(steps, rows, ["v"], broken, f"max({gap})", numbered=False)
    if found[2]:
        found = _walk(steps, rows, ["v", rows.row], broken, f"max({gap})", numbered=True)
    return StepCounts(*found)


def _walk(
    steps: Steps, rows: DuckDBExecutor, order: list[str], broken: str, largest: str, *, numbered: bool
) -> tuple[int, int, int, int | None, tuple[Hit, ...]]:
    """Each value ``v`` beside the one before it, ``p``; without row numbers the sort is much cheaper."""
    source, words = rows.relation([], ordered=numbered)
    place, kind = rows.places[steps.column], rows.columns[steps.column]
    value = words.value(Column(steps.column))
    present = f"{place} IS NOT NULL" + (f" AND NOT {words.is_nan(place)}" if kind.nan else "")
    groups = ", ".join(rows.places[name] for name in steps.group_by)
    partition = f"PARTITION BY {groups} " if groups else ""
    first = "NULL"
    if numbered:
        first = f"arg_min({{'r': {rows.row}, 'v': v, 'p': p}}, {rows.row}, {SAMPLES}) FILTER (WHERE {broken})"
    count, starts, wrong, most, found = rows.fetch(
        f"SELECT count(*), count(*) FILTER (WHERE p IS NULL), count(*) FILTER (WHERE {broken}), {largest}, "
        f"{first} FROM (SELECT *, lag(v) OVER ({partition}ORDER BY {', '.join(order)}) AS p "
        f"FROM (SELECT *, {value} AS v FROM {source} WHERE {present}))"
    )[0]
    return count, starts, wrong, most, hits(found)


def _rates(rates: Rates, rows: DuckDBExecutor) -> RateCounts:
    source, _ = rows.relation([], ordered=True)
    flag = rows.places[rates.column]
    places = [rows.places[name] for name in rates.group_by]
    names = [f"k{at}" for at in range(len(places))]
    keys = ", ".join(f"{place} AS {name}" for place, name in zip(places, names, strict=True))
    over = f"CAST(t AS HUGEINT) * {rates.denominator} > CAST(n AS HUGEINT) * {rates.numerator}"
    groups = (
        f"SELECT {keys}, count({flag}) AS n, count(*) FILTER (WHERE {flag}) AS t FROM {source} "
        f"GROUP BY {', '.join(places)} HAVING count({flag}) > 0"
    )
    count, over_count, true_over, highest = rows.fetch(
        f"SELECT count(*), count(*) FILTER (WHERE {over}), "
        f"CAST(coalesce(sum(t) FILTER (WHERE {over}), 0) AS BIGINT), max(t / n) FROM ({groups})"
    )[0]
    if not over_count:
        return RateCounts(count, 0, 0, highest)
    order = ", ".join(names)
    same = " AND ".join(
        f"s.{place} IS NOT DISTINCT FROM d.{name}" for place, name in zip(places, names, strict=True)
    )
    worst = rows.arrow(
        f"SELECT * FROM ({groups}) WHERE {over} ORDER BY t / n DESC, n DESC, {order} LIMIT {SAMPLES}"
    )
    seen = rows.fetch(
        f"SELECT min(s.{rows.row}, {SAMPLES}) FROM {source} AS s "
        f"JOIN (SELECT * FROM ({groups}) WHERE {over}) AS d ON {same} WHERE s.{flag}"
    )[0][0]
    width = len(places)
    sample = tuple(
        (
            tuple(plain(worst.column(place)[at]) for place in range(width)),
            int(worst.column(width + 1)[at].as_py()),
            int(worst.column(width)[at].as_py()),
        )
        for at in range(worst.num_rows)
    )
    return RateCounts(
        count, over_count, true_over, highest, sample, tuple(Hit(int(row)) for row in sorted(seen))
    )
