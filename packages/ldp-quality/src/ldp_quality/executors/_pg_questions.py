"""Questions that need a pass of their own, in PostgreSQL's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core.errors import LDPError

from ldp_quality import kinds
from ldp_quality.detectors import Found, Sigma, Stats, detect
from ldp_quality.executors._pg_table import found
from ldp_quality.executors._pg_words import constant, ticks
from ldp_quality.plan import (
    SAMPLES,
    Absent,
    AbsentCounts,
    Answer,
    CannotEvaluate,
    Hit,
    KeyCounts,
    Keys,
    OutlierCounts,
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
    import pyarrow as pa

    from ldp_quality.executors.postgres import PostgresExecutor

_STAYS = "rows of PostgreSQL stay there, and this detector looks at rows itself"


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
        case Outliers():
            return _outliers(question, rows)
        case Scan():
            return _scan(question, rows)
        case Absent():
            return _absent(question, rows)
        case Scalar():
            raise CannotEvaluate("queries run in DuckDB alone, not in PostgreSQL")
    raise CannotEvaluate(f"PostgreSQL is not asked {type(question).__name__.lower()}: only DuckDB is")


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


def _outliers(question: Outliers, rows: PostgresExecutor) -> OutlierCounts:
    """Find the baseline, that of all rows, then the rows beyond it."""
    mean, stddev = question.past or (None, None)
    detector = Sigma((question.column,), question.sigma, mean, stddev, question.min_rows)
    return _scan(Scan((question.column,), detector), rows)


def _scan(question: Scan, rows: PostgresExecutor) -> OutlierCounts:
    """Ask a detector."""
    columns = question.columns
    return detect(question.detector, PostgresRows(rows.whole, columns), PostgresRows(rows, columns))


@dataclass(frozen=True)
class PostgresRows:
    """See ``DetectorRows``; no row leaves the server.

    Attributes:
        rows: What answers.
        columns: The columns.
    """

    rows: PostgresExecutor
    columns: tuple[str, ...]

    def stats(self, column: str) -> Stats:
        """See ``DetectorRows``."""
        value, known = self._value(column)
        finite = f"({known} AND {value} NOT IN ('Infinity', '-Infinity'))"
        return Stats(
            *self.rows.fetch(
                f"SELECT count(*) FILTER (WHERE {known}), avg({value}) FILTER (WHERE {finite}), "
                f"stddev_samp({value}) FILTER (WHERE {finite}), min({value}) FILTER (WHERE {finite}), "
                f"max({value}) FILTER (WHERE {finite}) FROM {self.rows.relation()}"
            )[0]
        )

    def beyond(self, column: str, mean: float, distance: float) -> Found:
        """See ``DetectorRows``."""
        value, known = self._value(column)
        far = f"{known} AND abs({value} - {constant(mean)}) > {constant(distance)}"
        values, found = self.rows.fetch(
            f"SELECT count(*) FILTER (WHERE {known}), count(*) FILTER (WHERE {far}) "
            f"FROM {self.rows.relation()}"
        )[0]
        if not found:
            return Found(values)
        hits = _first(self.rows, self.rows.relation(ordered=True), far)
        return Found(values, found, tuple(hit.row for hit in hits))

    def sample(self, rows: int) -> pa.Table:
        """Nothing."""
        raise CannotEvaluate(_STAYS)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Nothing."""
        raise CannotEvaluate(_STAYS)

    def matching(self, test: Callable[[pa.RecordBatch], Any]) -> Found:
        """Nothing."""
        raise CannotEvaluate(_STAYS)

    def _value(self, column: str) -> tuple[str, str]:
        place = self.rows.places[column]
        nan = self.rows.words.is_nan(place) if self.rows.columns[column].nan else "false"
        return f"(({place})::float8)", f"({place} IS NOT NULL AND NOT {nan})"


def _absent(question: Absent, rows: PostgresExecutor) -> AbsentCounts:
    """Count the keys that another table of the same database does not have.

    Raises:
        CannotEvaluate: The other table is elsewhere or not there, or a column of it is of another kind.
    """
    to = question.to
    if to.table is None:
        raise CannotEvaluate(
            f"{to.label} is no table of the same database: to.table names one as schema.table"
        )
    try:
        other = found(rows.con, to.table)
    except LDPError as error:
        raise CannotEvaluate(str(error)) from error
    missing = [name for name in to.columns if name not in other.columns]
    if missing:
        raise CannotEvaluate(f"{to.label} has no column(s) {missing}; it has {list(other.columns)}")
    for name, looked in zip(question.columns, to.columns, strict=True):
        one, kind = rows.columns[name], other.columns[looked]
        same_kind = one.family == kind.family and one.zone == kind.zone
        if not same_kind and not {one.family, kind.family} <= {kinds.INTEGER, kinds.DECIMAL}:
            raise CannotEvaluate(f"{name} is {one.name}, and {looked} of {to.label} is {kind.name}")
    keys = ", ".join(f"{other.sources[name]} AS k{at}" for at, name in enumerate(to.columns))
    places = [rows.places[name] for name in question.columns]
    same = " AND ".join(f"rows_.{place} = o.k{at}" for at, place in enumerate(places))
    present = " AND ".join(f"rows_.{place} IS NOT NULL" for place in places)
    gone = f"{present} AND NOT EXISTS (SELECT 1 FROM (SELECT {keys} FROM {other.name}) AS o WHERE {same})"
    listed = ", ".join(f"rows_.{place}" for place in places)
    ((absent, counted),) = rows.fetch(
        "SELECT count(*), coalesce(sum(n), 0)::bigint FROM "
        f"(SELECT count(*) AS n FROM {rows.relation()} WHERE {gone} GROUP BY {listed}) AS g"
    )
    if not counted:
        return AbsentCounts(0, 0)
    return AbsentCounts(absent, counted, None, _first(rows, rows.relation(ordered=True), gone))


def _first(rows: PostgresExecutor, relation: str, where: str) -> tuple[Hit, ...]:
    seen = rows.fetch(
        f"SELECT {rows.row} FROM {relation} WHERE {where} ORDER BY {rows.order} LIMIT {SAMPLES}"
    )
    return tuple(Hit(row) for (row,) in seen)
