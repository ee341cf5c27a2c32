"""A batch parted into the rows that stay and the rows that are put aside."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ldp_core._duck import text
from ldp_core.spi import Batch

from ldp_quality.aside.faults import Fault, by_key, by_order, by_row
from ldp_quality.aside.side import FILE, POS, ROW, Side, temporary
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.plan import CannotEvaluate


@dataclass(frozen=True)
class Parted:
    """Which rows of a batch stay.

    Attributes:
        table: The table of ``ldp_core.spi.Apart``.
        rows: How many are put aside.
        by_rule: How many rows each rule blames, by its number.
        good: The rows that stay.
    """

    table: str
    rows: int
    by_rule: dict[int, int]
    good: DuckDBExecutor


@contextmanager
def parted(batch: Batch, rows: DuckDBExecutor, faults: Sequence[Fault]) -> Iterator[Parted]:
    """Part a batch; the rows that stay can be judged in the block, the table is there after it, too.

    Args:
        batch: The batch.
        rows: Its rows.
        faults: The rules that failed.

    Raises:
        CannotEvaluate: A row that is at fault cannot be found in the files.
    """
    own = [fault for fault in faults if not fault.of_others]
    others = [fault for fault in faults if fault.of_others]
    before = [fault.number for fault in own]
    placed = Side.of(rows, batch.placed_sql, (FILE, POS))
    numbered: list[Side] = []

    @functools.cache
    def by_number() -> Side:
        """The rows by number; the order of the input is read only where it matters."""
        side = Side.of(rows, batch.ordered_sql, (ROW,))
        numbered.append(side)
        by_row(side, own)
        by_key(side, others, before)
        by_order(side, others, before)
        return side

    try:
        by_row(placed, own)
        by_key(placed, [fault for fault in others if not fault.by_order], before)
        if any(fault.by_order for fault in others):
            _find(placed, by_number(), others, before)
        table = _written(placed, faults)
        yield _parted(placed, table, lambda: _stay(by_number()))
    finally:
        for side in [placed, *numbered]:
            side.drop()


def _find(placed: Side, numbered: Side, others: Sequence[Fault], before: Sequence[int]) -> None:
    """Find rows that are known by number in the files, by all that is in them.

    Rows that are equal in every column are one as good as another: the first of them by number is the first
    by place, and so on.
    """
    con, rows = placed.rows.con, numbered.rows
    late = temporary("late")
    ordered = [fault.number for fault in others if fault.by_order]
    blamed = f"SELECT * FROM {numbered.table} WHERE rule IN ({', '.join(map(str, ordered))})"
    row, all_ = rows.places[numbered.names[0]], placed.listed
    source, _ = rows.relation([], ordered=False)
    rows.run(
        f"CREATE TEMP TABLE {late} AS SELECT {all_}, {row} AS r, "
        f"row_number() OVER (PARTITION BY {all_} ORDER BY {row}) AS n "
        f"FROM {source} AS s SEMI JOIN ({blamed}) AS f ON s.{row} = f.i0"
    )
    try:
        there, _ = placed.without(before).relation([], ordered=False)
        same = " AND ".join(f"s.{place} IS NOT DISTINCT FROM l.{place}" for place in all_.split(", "))
        ids = placed.ids(placed.rows)
        named = ", ".join(f"s.{place} AS i{at}" for at, place in enumerate(ids.split(", ")))
        alike = (
            f"SELECT {named}, l.r FROM (SELECT *, "
            f"row_number() OVER (PARTITION BY {all_} ORDER BY {ids}) AS n "
            f"FROM {there} AS s SEMI JOIN {late} AS l ON {same}) AS s "
            f"JOIN {late} AS l ON {same} AND s.n = l.n"
        )
        placed.insert(f"SELECT p.i0, p.i1, f.rule FROM ({alike}) AS p JOIN ({blamed}) AS f ON p.r = f.i0")
        wanted = con.execute(f"SELECT count(*) FROM ({blamed})").fetchall()[0][0]
        found = con.execute(
            f"SELECT count(*) FROM {placed.table} WHERE rule IN ({', '.join(map(str, ordered))})"
        ).fetchall()[0][0]
        if found != wanted:
            raise CannotEvaluate(f"{wanted} rows at fault, and {found} of them are in the files")
    finally:
        con.execute(f"DROP TABLE IF EXISTS {late}")


def _written(placed: Side, faults: Sequence[Fault]) -> str:
    """The table of the rows that are put aside, each with the rules that it breaks."""
    table = temporary("apart")
    told = ", ".join(
        f"({fault.number}, {text(fault.rule.check.label)}, {text(fault.rule.check.blame())})"
        for fault in faults
    )
    placed.rows.con.execute(
        f"CREATE TEMP TABLE {table} AS SELECT i0 AS __file, i1 AS __pos, list(label ORDER BY rule) AS rules, "
        f"string_agg(reason, '; ' ORDER BY rule) AS reason "
        f"FROM {placed.table} JOIN (VALUES {told}) AS t(rule, label, reason) USING (rule) GROUP BY i0, i1"
    )
    return table


def _parted(placed: Side, table: str, ordered: Callable[[], str]) -> Parted:
    con = placed.rows.con
    count = int(con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])
    by_rule = dict(con.execute(f"SELECT rule, count(*) FROM {placed.table} GROUP BY rule").fetchall())
    source, _ = placed.rows.relation([], ordered=False)
    file, pos = placed.ids(placed.rows, "s.").split(", ")
    good = (
        f"SELECT {placed.listed} FROM {source} AS s "
        f"ANTI JOIN {table} AS a ON {file} = a.__file AND {pos} = a.__pos"
    )
    columns = {name: kind for name, kind in placed.rows.columns.items() if name not in placed.names}
    return Parted(table, count, by_rule, DuckDBExecutor(con, good, ordered, columns))


def _stay(numbered: Side) -> str:
    """The rows that stay, with their numbers."""
    source, _ = numbered.rows.relation([], ordered=False)
    row = numbered.rows.places[numbered.names[0]]
    return (
        f"SELECT {numbered.listed}, {row} FROM {source} AS s "
        f"ANTI JOIN {numbered.table} AS a ON s.{row} = a.i0"
    )
