"""Keys that another table does not have, in DuckDB's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.errors import LDPError

from ldp_quality import kinds
from ldp_quality.kinds import Kind, kind_of
from ldp_quality.plan import SAMPLES, Absent, AbsentCounts, CannotEvaluate, Hit

if TYPE_CHECKING:
    from ldp_quality.executor import DuckDBExecutor

_NUMBERS = frozenset({kinds.INTEGER, kinds.DECIMAL})


def absent(question: Absent, rows: DuckDBExecutor) -> AbsentCounts:
    """Count them, and find the first rows that hold one.

    Raises:
        CannotEvaluate: The other table or a column of it is not there, or is of another kind.
    """
    gone, snapshot = orphans(question, rows, ordered=True)
    listed = ", ".join(f"s.{rows.places[name]}" for name in question.columns)
    keys, counted = rows.fetch(
        f"SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT) "
        f"FROM (SELECT count(*) AS n {gone} GROUP BY {listed})"
    )[0]
    if not counted:
        return AbsentCounts(0, 0, snapshot)
    first = rows.fetch(f"SELECT s.{rows.row} {gone} ORDER BY s.{rows.row} LIMIT {SAMPLES}")
    return AbsentCounts(keys, counted, snapshot, tuple(Hit(int(row[0])) for row in first))


def orphans(question: Absent, rows: DuckDBExecutor, *, ordered: bool) -> tuple[str, str | None]:
    """``FROM ...`` of the rows ``s`` whose key the other table does not have, and the other's snapshot.

    Raises:
        CannotEvaluate: As for ``absent``.
    """
    other, snapshot = _other(question, rows)
    places = [rows.places[name] for name in question.columns]
    present = " AND ".join(f"s.{place} IS NOT NULL" for place in places)
    same = " AND ".join(f"s.{place} = o.k{at}" for at, place in enumerate(places))
    source, _ = rows.relation([], ordered=ordered)
    return f"FROM {source} AS s ANTI JOIN {other} AS o ON {same} WHERE {present}", snapshot


def _other(question: Absent, rows: DuckDBExecutor) -> tuple[str, str | None]:
    """FROM text of the other table's keys, each once, called ``k0``, ``k1`` ...; and its snapshot."""
    from ldp_core.tables.scan import scan_sql

    to = question.to
    try:
        scan = to.handle(question.base_dir, question.catalog).scan()
    except LDPError as error:
        raise CannotEvaluate(str(error)) from error
    missing = [name for name in to.columns if name not in scan.columns]
    if missing:
        raise CannotEvaluate(f"{to.label} has no column(s) {missing}; it has {scan.columns}")
    aliases = ", ".join(f"k{at}" for at in range(len(to.columns)))
    sql = f"(SELECT DISTINCT * FROM ({scan_sql(rows.con, scan, columns=list(to.columns))}) AS t({aliases}))"
    found = [kind_of(field.type) for field in rows.arrow(f"SELECT * FROM {sql} LIMIT 0").schema]
    for name, other, kind in zip(question.columns, to.columns, found, strict=True):
        if not _alike(rows.columns[name], kind):
            raise CannotEvaluate(
                f"{name} is {rows.columns[name].name}, and {other} of {to.label} is {kind.name}"
            )
    return sql, None if scan.snapshot_id is None else str(scan.snapshot_id)


def _alike(one: Kind, other: Kind) -> bool:
    """Whether values of two kinds may be the same value."""
    if one.family == other.family:
        return one.zone == other.zone
    return {one.family, other.family} <= _NUMBERS
