"""Keys of a batch beside rows that stand in a table already, in DuckDB's words.

Nobody groups the whole table: its rows are only passed by, and those with a key of the batch are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ldp_quality import kinds
from ldp_quality._values import plain
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.expr import Holds
from ldp_quality.plan import SAMPLES, Answer, Hit, KeyCounts, Keys, Question


@dataclass(frozen=True)
class BesideExecutor(DuckDBExecutor):
    """Answers plans about the rows of a batch, its keys compared with those of other rows, too.

    Attributes:
        beside: The other rows, in the same columns.
        among: Where these are: ``table`` or ``window``.
    """

    beside: DuckDBExecutor
    among: str

    def narrowed(self, scope: Holds) -> BesideExecutor:
        """Only the rows for which a condition of the user is true, on both sides."""
        own = super().narrowed(scope)
        assert isinstance(own, BesideExecutor)
        return replace(own, beside=self.beside.narrowed(scope))

    def answer(self, question: Question) -> Answer:
        """Answer a question in a pass of its own."""
        return _keys(question, self) if isinstance(question, Keys) else super().answer(question)


def own_and_there(keys: Keys, rows: BesideExecutor, *, ordered: bool) -> str:
    """WITH text of two tables by key (``k0``, ``k1`` ...).

    ``own`` has each key of the batch with its rows ``n`` (when ``ordered``, its first row number ``f``, too),
    ``there`` those of these keys that the other rows hold, ``m`` times.
    """
    source, _ = rows.relation([], ordered=ordered)
    other, _ = rows.beside.relation([], ordered=False)
    places = [rows.places[name] for name in keys.columns]
    named = ", ".join(f"{place} AS k{at}" for at, place in enumerate(places))
    present = " AND ".join(f"{place} IS NOT NULL" for place in places)
    first = f", min({rows.row}) AS f" if ordered else ""
    groups = ", ".join(places)
    listed = ", ".join(f"o.k{at}" for at in range(len(places)))
    return (
        f"WITH own AS MATERIALIZED (SELECT {named}, count(*) AS n{first} FROM {source} "
        f"WHERE {present} GROUP BY {groups}), "
        f"there AS MATERIALIZED (SELECT {listed}, count(*) AS m "
        f"FROM (SELECT {named} FROM {other} WHERE {present}) AS o "
        f"SEMI JOIN own AS g ON {same_keys(keys, rows, 'o', 'g')} GROUP BY {listed})"
    )


def same_keys(keys: Keys, rows: DuckDBExecutor, one: str, other: str) -> str:
    """That two relations agree in ``k0``, ``k1`` ...; nulls inside a struct or a list are equal."""
    nested = [rows.columns[name].family in {kinds.NESTED, kinds.OTHER} for name in keys.columns]
    words = ["IS NOT DISTINCT FROM" if inner else "=" for inner in nested]
    return " AND ".join(f"{one}.k{at} {word} {other}.k{at}" for at, word in enumerate(words))


def _keys(keys: Keys, rows: BesideExecutor) -> KeyCounts:
    with_ = own_and_there(keys, rows, ordered=False)
    distinct, repeated, repeated_rows, taken, taken_rows = rows.fetch(
        f"{with_} SELECT count(*), count(*) FILTER (WHERE n > 1 OR m > 0), "
        "CAST(coalesce(sum(n) FILTER (WHERE n > 1 OR m > 0), 0) AS BIGINT), count(m), "
        "CAST(coalesce(sum(n) FILTER (WHERE m > 0), 0) AS BIGINT) "
        f"FROM own AS g LEFT JOIN there AS t ON {same_keys(keys, rows, 'g', 't')}"
    )[0]
    counts = KeyCounts(
        distinct, repeated, repeated_rows, among=rows.among, taken=taken, taken_rows=taken_rows
    )
    return _sampled(keys, rows, counts) if repeated else counts


def _sampled(keys: Keys, rows: BesideExecutor, counts: KeyCounts) -> KeyCounts:
    """With the repeated keys that come first in the batch, and how often each is in either."""
    width = len(keys.columns)
    source, _ = rows.relation([], ordered=True)
    named = ", ".join(f"{rows.places[name]} AS k{at}" for at, name in enumerate(keys.columns))
    listed = ", ".join(f"d.k{at}" for at in range(width))
    table = rows.arrow(
        f"{own_and_there(keys, rows, ordered=True)}, "
        "dup AS MATERIALIZED (SELECT g.*, coalesce(t.m, 0) AS m FROM own AS g "
        f"LEFT JOIN there AS t ON {same_keys(keys, rows, 'g', 't')} "
        f"WHERE g.n > 1 OR t.m > 0 ORDER BY f LIMIT {SAMPLES}), "
        f"seen AS (SELECT min(s.r, {SAMPLES}) AS found FROM (SELECT {named}, {rows.row} AS r FROM {source}) "
        f"AS s JOIN dup AS d ON {same_keys(keys, rows, 's', 'd')}) "
        f"SELECT {listed}, d.n + d.m, seen.found FROM dup AS d, seen ORDER BY d.f"
    )
    sample = tuple(
        (
            tuple(plain(table.column(place)[at]) for place in range(width)),
            int(table.column(width)[at].as_py()),
        )
        for at in range(table.num_rows)
    )
    hits = tuple(Hit(int(row)) for row in sorted(table.column(width + 1)[0].as_py()))
    return replace(counts, sample=sample, hits=hits)
