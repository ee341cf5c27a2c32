"""Plans answered by PostgreSQL where the rows lie: only numbers and samples leave the server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ldp_core.config.secrets import find_secrets, mask
from ldp_core.errors import ConfigError, EngineNotFound, SourceError

from ldp_quality import kinds
from ldp_quality._values import json_value, shown
from ldp_quality.executors import _pg_questions
from ldp_quality.executors._pg_table import Table, found, parsed
from ldp_quality.executors._pg_words import PostgresWords, ticks
from ldp_quality.executors._typed import BEYOND
from ldp_quality.expr import Aggregate, Holds, Predicate
from ldp_quality.kinds import Kind
from ldp_quality.plan import SAMPLES, Answer, CannotEvaluate, Hit, Question, Search

if TYPE_CHECKING:
    from psycopg import Connection

_SCHEME = re.compile(r"postgres(?:ql)?(?:\+psycopg)?://")
_OLDEST = 140_000
"""Since 14 ``extract`` is exact."""
_SETTINGS = {
    # Nothing that users of the database made is called: no function, operator or type.
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "standard_conforming_strings": "on",
    "bytea_output": "hex",
    # A policy that hides rows is an error: checks of a part would look like checks of the table.
    "row_security": "off",
}


@dataclass(frozen=True)
class PostgresTable:
    """A table of a PostgreSQL database, for ``run_checks``.

    The checks are answered there, in one transaction that reads only and sees one state of the table.

    Attributes:
        uri: ``postgresql://user@host/database``; its password comes from ``password_env``, ``PGPASSWORD`` or
            a password file.
        table: ``schema.table``; a view, too.
        timeout: Seconds that one query may take.
        password_env: The environment variable that holds the password.

    Raises:
        ConfigError: The URI is none or holds a secret, or the table is not ``schema.table``.
    """

    uri: str
    table: str
    timeout: float = 300.0
    password_env: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str) or not _SCHEME.match(self.uri):
            raise ConfigError("a PostgreSQL server is postgresql://user@host/database", key="uri")
        for problem in find_secrets(self.uri, "uri"):
            raise ConfigError(f"the URI {problem.message}", key="uri", hint=problem.hint)
        if isinstance(self.timeout, bool) or not 0 < self.timeout < 1e6:
            raise ConfigError(f"timeout must be seconds above 0, got {self.timeout!r}", key="timeout")
        parsed(self.table)

    @contextmanager
    def opened(self, memory_limit: str | None = None) -> Iterator[PostgresExecutor]:
        """Connect, and open the table for checks.

        Args:
            memory_limit: Nothing here: the server's memory is its own affair.

        Raises:
            ConfigError: The password's variable is not set, or the server is too old or not in UTF-8.
            EngineNotFound: psycopg is not installed.
            SourceError: The server does not answer.
            TableNotFound: It has no such table.
        """
        con = _connected(self)
        try:
            _prepare(con, self.timeout)
            yield PostgresExecutor(con, found(con, self.table))
        finally:
            con.close()


def _connected(table: PostgresTable) -> Connection[Any]:
    if find_spec("psycopg") is None:
        raise EngineNotFound(
            "PostgreSQL needs psycopg, which is not installed", hint='pip install "ldp-quality[postgres]"'
        )
    import psycopg

    uri = _SCHEME.sub("postgresql://", table.uri, count=1)
    given: dict[str, Any] = {"connect_timeout": 10, "application_name": "ldp"}
    if table.password_env is not None:
        given["password"] = os.environ.get(table.password_env)
        if given["password"] is None:
            raise ConfigError(f"the environment variable {table.password_env} is not set", key="password_env")
    try:
        return psycopg.connect(uri, **given)
    except psycopg.Error as error:
        message = f"PostgreSQL does not answer: {mask(_line(error))}"
        raise SourceError(message, hint="look at uri, password_env and the server", retriable=True) from error


def _prepare(con: Connection[Any], timeout: float) -> None:
    import psycopg

    con.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    con.read_only = True
    if con.info.server_version < _OLDEST:
        raise ConfigError(
            f"PostgreSQL {con.info.server_version // 10_000} is too old: 14 at least", key="uri"
        )
    limit = f"{max(1, round(timeout * 1_000))}ms"
    settings = {**_SETTINGS, "statement_timeout": limit, "lock_timeout": limit}
    for name, value in settings.items():
        con.execute("SELECT set_config(%s, %s, true)", (name, value))
    encoding = con.execute("SHOW server_encoding").fetchone()
    if encoding is None or encoding[0] != "UTF8":
        raise ConfigError(f"the database is not in UTF8 but in {encoding and encoding[0]}", key="uri")


@dataclass(frozen=True)
class PostgresExecutor:
    """Answers plans about the rows of one table.

    Rows are numbered from 0 in the order of the primary key; without one, in the order in which they lie in
    the table; those of a view in the order of their text.

    Attributes:
        con: A connection in a transaction that reads only.
        table: The table.
        scope: The users' conditions that a row must satisfy to be looked at.
    """

    con: Connection[Any]
    table: Table
    scope: tuple[Holds, ...] = ()

    @property
    def columns(self) -> Mapping[str, Kind]:
        """The columns in their order."""
        return self.table.columns

    @property
    def whole(self) -> PostgresExecutor:
        """All rows, where these are only those of conditions."""
        return replace(self, scope=())

    @property
    def places(self) -> dict[str, str]:
        """Each column as it is written in ``relation``, by the user's name."""
        return {name: f"c{at}" for at, name in enumerate(self.columns)}

    @property
    def row(self) -> str:
        """The column that numbers the rows, as it is written."""
        return "r"

    @property
    def order(self) -> str:
        """The columns of a numbered ``relation`` that put its rows in order."""
        return ", ".join(f"k{at}" for at in range(len(self.table.order)))

    @property
    def words(self) -> PostgresWords:
        """The words for ``relation``."""
        return PostgresWords(self.places, self.columns)

    def narrowed(self, scope: Holds) -> PostgresExecutor:
        """Only the rows for which a condition of the user is true; they keep their numbers."""
        missing = [name for name in scope.columns if name.lower() not in map(str.lower, self.columns)]
        if missing:
            raise CannotEvaluate(f"missing column(s) {missing}; the table has {list(self.columns)}")
        self.words.predicate(scope)
        return replace(self, scope=(*self.scope, scope))

    def aggregate(self, wanted: Sequence[Aggregate]) -> list[Any]:
        """All aggregates in one pass; temporal values as ticks."""
        words = self.words
        listed = ", ".join(words.aggregate(item) for item in wanted)
        answers = self.fetch(f"SELECT {listed} FROM {self.relation()}")[0]
        reads = [int if item.of is None else words.reads(item.of) for item in wanted]
        return [None if value is None else read(value) for read, value in zip(reads, answers, strict=True)]

    def first(self, searches: Sequence[Search]) -> list[tuple[Hit, ...]]:
        """The first rows of each search: by the key, so that the server can stop when it has them."""
        words = self.words
        hits = []
        for search in searches:
            listed = ", ".join([self.row, *(words.value(value) for value in search.shown)])
            found = self.fetch(
                f"SELECT {listed} FROM {self.relation(ordered=True)} WHERE {words.predicate(search.where)} "
                f"ORDER BY {self.order} LIMIT {SAMPLES}"
            )
            reads = [words.reads(value) for value in search.shown]
            hits.append(
                tuple(
                    Hit(row, tuple(read(value) for read, value in zip(reads, values, strict=True)))
                    for row, *values in found
                )
            )
        return hits

    def distinct(self, column: str, where: Predicate) -> tuple[Any, ...]:
        """The first different values of a column, in the order of the rows, as JSON."""
        place = self.places[column]
        found = self.fetch(
            f"SELECT {self.shown(column, place)} FROM (SELECT {place}, min(r) AS f "
            f"FROM {self.relation(ordered=True)} WHERE {self.words.predicate(where)} "
            f"GROUP BY {place} ORDER BY f LIMIT {SAMPLES}) AS t ORDER BY f"
        )
        return tuple(self.read([column], row)[0] for row in found)

    def answer(self, question: Question) -> Answer:
        """Answer a question in a pass of its own."""
        return _pg_questions.answer(question, self)

    def rows(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Whole rows by their number, as JSON."""
        names = list(self.columns)
        listed = ", ".join(["r", *(self.shown(name, place) for name, place in self.places.items())])
        wanted = sorted(set(numbers))
        found = self.fetch(
            f"SELECT {listed} FROM {self.relation(ordered=True)} "
            f"WHERE r <= {wanted[-1]} AND r IN ({', '.join(map(str, wanted))})"
        )
        return {row: dict(zip(names, self.read(names, values), strict=True)) for row, *values in found}

    def relation(self, *, ordered: bool = False, alias: str = "rows_") -> str:
        """FROM text whose columns are called by position, numbered where that is asked for."""
        table = self.table
        listed = [f"{table.sources[name]} AS {place}" for name, place in self.places.items()]
        if ordered:
            listed += [f"{part} AS k{at}" for at, part in enumerate(table.order)]
            listed.append(f"row_number() OVER (ORDER BY {', '.join(table.order)}) - 1 AS r")
        inside = f"(SELECT {', '.join(listed)} FROM {table.name} AS rows_) AS {alias}"
        if not self.scope:
            return inside
        where = " AND ".join(self.words.predicate(condition) for condition in self.scope)
        return f"(SELECT * FROM {inside} WHERE {where}) AS {alias}"

    def shown(self, column: str, sql: str) -> str:
        """SQL of a value on its way to ``read``."""
        kind = self.columns[column]
        if kind.family in kinds.TEMPORAL:
            finite = f"CASE WHEN {_finite(sql, kind)} THEN {ticks(sql, kind)}::text ELSE {sql}::text END"
            return f"({finite})"
        if kind.family == kinds.NESTED:
            return f"to_jsonb({sql})"
        return f"({sql})::text" if kind.family == kinds.OTHER else sql

    def read(self, columns: Sequence[str], values: Sequence[Any]) -> tuple[Any, ...]:
        """Values from ``shown`` as JSON."""
        return tuple(_read(self.columns[name], value) for name, value in zip(columns, values, strict=True))

    def said(self, column: str, sql: str) -> str:
        """SQL of a value as checks reckon with it: temporal ones as ticks."""
        kind = self.columns[column]
        return ticks(sql, kind) if kind.family in kinds.TEMPORAL else sql

    def fetch(self, sql: str) -> list[Any]:
        """Rows of a small answer.

        Raises:
            CannotEvaluate: The server could not answer; it says why.
            SourceError: It broke off.
        """
        import psycopg

        try:
            with self.con.transaction():
                return self.con.execute(sql.encode()).fetchall()
        except UnicodeEncodeError:
            raise CannotEvaluate("PostgreSQL has no texts with half a surrogate pair") from None
        except psycopg.Error as error:
            if self.con.closed or error.sqlstate is None:
                raise SourceError(f"PostgreSQL broke off: {mask(_line(error))}", retriable=True) from error
            raise CannotEvaluate(_line(error)) from error


def _finite(sql: str, kind: Kind) -> str:
    return f"({sql}) IS NOT NULL" if kind.family == kinds.TIME else f"isfinite({sql})"


def _read(kind: Kind, value: Any) -> Any:
    if kind.family in kinds.TEMPORAL and value is not None:
        return shown(kind, int(value)) if re.fullmatch(r"-?\d+", value) else value
    return json_value(value)


def _line(error: Exception) -> str:
    """What the server says, in one line, and in our words where it is we who made it say so."""
    said = str(error).strip() or type(error).__name__
    first = said.splitlines()[0]
    if BEYOND in first:
        name = first.partition(BEYOND)[2].partition(" ")[0]
        return f"PostgreSQL has no same meaning for {name} of a text beyond ASCII"
    if "infinity" in first or "infinite" in first:
        return f"an infinite date or timestamp has no ticks ({first}); leave it out by where: isfinite(...)"
    return first
