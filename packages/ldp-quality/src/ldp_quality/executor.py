"""Plans answered by DuckDB, over SQL that can be read more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ldp_core._duck import ident, streamed

from ldp_quality import _questions
from ldp_quality._sql import Words
from ldp_quality._values import plain
from ldp_quality.expr import Aggregate, And, Holds, Not, Or, Predicate
from ldp_quality.kinds import Kind
from ldp_quality.plan import SAMPLES, Answer, CannotEvaluate, Hit, Question, Search

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


_AHEAD = 100_000
"""Rows among which the samples of a failed check are looked for before all are read again."""


@dataclass(frozen=True)
class DuckDBExecutor:
    """Answers plans about the rows of one SELECT.

    Attributes:
        con: A connection that can read them; nothing is created on it.
        sql: The rows, their columns in the order of ``columns``.
        ordered_sql: The same with one more column, last: the number of the row in the input, from 0; or what
            gives it once it is needed.
        columns: Names and kinds.
        whole: All rows, where these are only those of a condition.
    """

    con: DuckDBPyConnection
    sql: str
    ordered_sql: str | Callable[[], str]
    columns: Mapping[str, Kind]
    whole: DuckDBExecutor | None = field(default=None, kw_only=True)
    _prefix: str = field(init=False)

    def __post_init__(self) -> None:
        prefix = "c"
        while any(name.lower().startswith(prefix) for name in self.columns):
            prefix = f"_{prefix}"
        object.__setattr__(self, "_prefix", prefix)

    def narrowed(self, scope: Holds) -> DuckDBExecutor:
        """Only the rows for which a condition of the user is true; they keep their numbers."""
        missing = [name for name in scope.columns if name not in self.columns]
        if missing:
            raise CannotEvaluate(f"missing column(s) {missing}; the table has {list(self.columns)}")
        source, words = self.relation([scope], ordered=True)
        where = words.predicate(scope)
        listed = ", ".join(self.places.values()) or "NULL"
        return replace(
            self,
            sql=f"SELECT {listed} FROM {source} WHERE {where}",
            ordered_sql=f"SELECT {listed}, {self.row} FROM {source} WHERE {where}",
            whole=self.whole or self,
        )

    def aggregate(self, wanted: Sequence[Aggregate]) -> list[Any]:
        """All aggregates in one pass; temporal values as ticks."""
        source, words = self.relation([item.where for item in wanted], ordered=False)
        listed = ", ".join(words.aggregate(item) for item in wanted)
        return list(self.fetch(f"SELECT {listed} FROM {source}")[0])

    def first(self, searches: Sequence[Search]) -> list[tuple[Hit, ...]]:
        """The first rows of each search, in input order: most often they are among the first rows of all."""
        found: dict[int, tuple[Hit, ...]] = {}
        if self._first_rows is not None:
            found = dict(enumerate(self._first(searches, _AHEAD)))
        left = [at for at, item in enumerate(searches) if not self._enough(item, found.get(at, ()))]
        if left:
            found |= zip(left, self._first([searches[at] for at in left], None), strict=True)
        return [found[at] for at in range(len(searches))]

    def _enough(self, search: Search, hits: tuple[Hit, ...]) -> bool:
        """Whether hits among the first rows are the first ones of all."""
        if self._first_rows is None:
            return False
        wanted = SAMPLES if search.count is None else min(SAMPLES, search.count)
        return self._first_rows < _AHEAD or len(hits) >= wanted

    def _first(self, searches: Sequence[Search], head: int | None) -> list[tuple[Hit, ...]]:
        """The first rows of each search in one pass, over all rows or only so many."""
        source, words = self.relation([item.where for item in searches], ordered=True, head=head)
        row = self.row
        listed = []
        for search in searches:
            parts = [f"'r': {row}", *(f"'v{at}': {words.value(of)}" for at, of in enumerate(search.shown))]
            where = words.predicate(search.where)
            listed.append(f"arg_min({{{', '.join(parts)}}}, {row}, {SAMPLES}) FILTER (WHERE {where})")
        found = self.fetch(f"SELECT {', '.join(listed)} FROM {source}")[0]
        return [_questions.hits(hits) for hits in found]

    def distinct(self, column: str, where: Predicate) -> tuple[Any, ...]:
        """The first different values of a column, in input order, as JSON."""
        if self._first_rows is not None:
            found = self._distinct(column, where, _AHEAD)
            if self._first_rows < _AHEAD or len(found) >= SAMPLES:
                return found
        return self._distinct(column, where, None)

    def _distinct(self, column: str, where: Predicate, head: int | None) -> tuple[Any, ...]:
        source, words = self.relation([where], ordered=True, head=head)
        place = self.places[column]
        table = self.arrow(
            f"SELECT {place} AS v FROM {source} WHERE {words.predicate(where)} "
            f"GROUP BY v ORDER BY min({self.row}) LIMIT {SAMPLES}"
        )
        return tuple(plain(value) for value in table.column(0))

    def answer(self, question: Question) -> Answer:
        """Answer a question in a pass of its own."""
        return _questions.answer(question, self)

    def rows(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Whole rows by their number, as JSON."""
        source, _ = self.relation([], ordered=True)
        listed = ", ".join(str(number) for number in sorted(set(numbers)))
        some = f"SELECT * FROM {source} WHERE {self.row} IN ({listed}) LIMIT {len(set(numbers))}"
        table = self.arrow(some)
        names = list(self.columns)
        found = {}
        for at in range(table.num_rows):
            values = [plain(table.column(place)[at]) for place in range(len(names))]
            found[int(table.column(len(names))[at].as_py())] = dict(zip(names, values, strict=True))
        return found

    def numbered(self) -> str:
        """The rows with their numbers."""
        return self.ordered_sql if isinstance(self.ordered_sql, str) else self.ordered_sql()

    @property
    def row(self) -> str:
        """The column that numbers the rows, as it is written."""
        return ident(f"{self._prefix}r")

    @property
    def places(self) -> dict[str, str]:
        """Each column as it is written in ``relation``, by the user's name."""
        return {name: ident(f"{self._prefix}{at}") for at, name in enumerate(self.columns)}

    @cached_property
    def _first_rows(self) -> int | None:
        """How many rows come first, ``_AHEAD`` at most; None where others than the first of the input do."""
        source, _ = self.relation([], ordered=True, head=_AHEAD)
        count, last = self.fetch(f"SELECT count(*), max({self.row}) FROM {source}")[0]
        return int(count) if count < _AHEAD or last == _AHEAD - 1 else None

    def relation(
        self, predicates: Sequence[Predicate], *, ordered: bool, head: int | None = None
    ) -> tuple[str, Words]:
        """FROM text whose columns are called by position, and the words for it.

        The users' own predicates are computed inside, where the columns have the users' names. With ``head``,
        only so many rows of those that come first: reading stops there.
        """
        places = self.places
        own = list(dict.fromkeys(item for predicate in predicates for item in _own(predicate)))
        names = list(places.values()) or [ident(f"{self._prefix}n")]
        aliases = [*names, *([self.row] if ordered else [])]
        sql = self.numbered() if ordered else self.sql
        if head is not None:
            sql = f"SELECT * FROM (\n{sql}\n) AS h LIMIT {head}"
        opaque = ", ".join(
            f"CASE WHEN {place} IS NULL THEN NULL ELSE {place} END AS {place}"
            for name, place in places.items()
            if self.columns[name].nan
        )
        # Statistics of a Parquet file may know nothing of NaN, and DuckDB would believe that there is none.
        listed = f"* REPLACE ({opaque})" if opaque else "*"
        source = f"(SELECT {listed} FROM (\n{sql}\n) AS rows_({', '.join(aliases)}))"
        holds = {item.sql: ident(f"{self._prefix}p{at}") for at, item in enumerate(own)}
        if own:
            used = dict.fromkeys(name for item in own for name in item.columns)
            named = ", ".join(["*", *(f"{places[name]} AS {ident(name)}" for name in used)])
            tested = ", ".join(f"(\n{item.sql}\n) AS {holds[item.sql]}" for item in own)
            source = f"(SELECT *, {tested} FROM (SELECT {named} FROM {source}))"
            self._conditions(source, holds)
        return source, Words(places, self.columns, holds)

    def _conditions(self, source: str, holds: Mapping[str, str]) -> None:
        """Binds the users' own predicates, and refuses one that is not true or false."""
        with _explained(of_users=True):
            types = self.con.sql(f"SELECT {', '.join(holds.values())} FROM {source}").types
        for sql, found in zip(holds, types, strict=True):
            if str(found) not in {"BOOLEAN", '"NULL"'}:
                raise CannotEvaluate(f"{sql!r} gives {found}, not true or false")

    def fetch(self, sql: str) -> list[Any]:
        """Rows of a small answer, as Python values."""
        with _explained():
            return list(self.con.sql(sql).fetchall())

    def own(self, sql: str) -> list[Any]:
        """Rows of a small answer to a query that holds users' SQL."""
        with _explained(of_users=True):
            return list(self.con.sql(sql).fetchall())

    def run(self, sql: str) -> None:
        """A statement without an answer."""
        with _explained(of_users=True):
            self.con.execute(sql)

    def reader(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """A large answer, so many rows at a time."""
        with _explained():
            yield from streamed(self.con, sql, rows)

    def arrow(self, sql: str) -> pa.Table:
        """A small answer, in types that lose nothing."""
        with _explained():
            return self.con.sql(sql).to_arrow_table()


def _own(predicate: Predicate) -> list[Holds]:
    """The users' own predicates inside a predicate."""
    match predicate:
        case Holds():
            return [predicate]
        case Not():
            return _own(predicate.of)
        case And() | Or():
            return [item for part in predicate.of for item in _own(part)]
    return []


class _explained:
    """Turns what DuckDB says of the data or of a predicate into ``CannotEvaluate``; other errors pass.

    Args:
        of_users: The query holds users' SQL, so that it may not even parse.
    """

    def __init__(self, *, of_users: bool = False) -> None:
        self._of_users = of_users

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import duckdb

        about_data = (
            duckdb.BinderException,
            duckdb.CatalogException,
            duckdb.ConversionException,
            duckdb.InvalidInputException,
            duckdb.InvalidTypeException,
            duckdb.NotImplementedException,
            duckdb.OutOfRangeException,
            duckdb.SyntaxException,
            duckdb.TypeMismatchException,
        )
        about_text = self._of_users and isinstance(error, duckdb.ParserException)
        if isinstance(error, about_data) or about_text:
            raise CannotEvaluate(str(error).splitlines()[0]) from error
