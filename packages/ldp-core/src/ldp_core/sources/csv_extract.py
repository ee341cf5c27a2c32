"""A CSV source offered to a run: guarded SQL, and what to do when a guard or the parser objects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.errors import DriftError, LDPError, SourceError
from ldp_core.sources._text import TextInput
from ldp_core.sources.csv_apart import bad, may_split, rejects_sql, window_at
from ldp_core.sources.csv_errors import violated_column
from ldp_core.sources.csv_guard import fits, guarded, value
from ldp_core.sources.csv_types import Cast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa

    from ldp_core.spi import Keyed, Loss, RunContext


_NUMBER = re.compile(r"[+-]?[0-9.,]+([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """A column and how it is read.

    Attributes:
        name: As in the header.
        cast: How its text becomes values.
        fixed: The type is declared or the table's: a violation is drift, not a wrong guess.
        layout: How its dates are written is still a guess, by a sample.
    """

    name: str
    cast: Cast
    fixed: bool = False
    layout: bool = False


@dataclass(frozen=True)
class Violation:
    """The first value that does not fit, in the order of the input.

    Attributes:
        column: Which column.
        file: Its file, for messages.
        row: Data row in that file, from 1.
        value: The text.
        readable: The file as the engine opens it.
    """

    column: Column
    file: str
    row: int
    value: str
    readable: str = ""


@dataclass(frozen=True)
class CsvExtract:
    """An ``Extract`` over CSV files.

    Attributes:
        source: The files.
        columns: Every column.
        ctx: The run.
        retype: Gives better types for the columns that are not fixed, from the whole input.
        apart: ``on_bad_rows: quarantine``.
        sifted: Rows with a value that does not fit are left out. That costs, so it begins with the first one.
        required: Columns that the table requires a value of.
    """

    source: TextInput
    columns: tuple[Column, ...]
    ctx: RunContext
    retype: Callable[[TextInput, tuple[Column, ...], RunContext], tuple[Column, ...]] = field(repr=False)
    apart: bool = False
    sifted: bool = False
    required: frozenset[str] = frozenset()

    @cached_property
    def sql(self) -> str:
        """A SELECT of all columns in their types, guards included."""
        return f"SELECT {self._fields} FROM {self._text_sql}"

    def within(self, keyed: Keyed) -> str:
        """A SELECT as ``sql``, which may leave out rows that are not of a window."""
        narrow = getattr(self.source, "within_sql", None)
        found = narrow(keyed, self.columns, self.ctx) if narrow else None
        return self.sql if found is None else f"SELECT {self._fields} FROM ({found})"

    @property
    def _fields(self) -> str:
        return ", ".join(
            f"{self._value(at)} AS {ident(column.name)}" for at, column in enumerate(self.columns)
        )

    @property
    def _text_sql(self) -> str:
        """The rows that are read, as text."""
        where = f" WHERE NOT {bad(self)}" if self.sifted else ""
        return f"({self.source.text_sql()}){where}"

    def _value(self, at: int) -> str:
        """SQL of a column; with a guard, unless the rows that it would stop are left out."""
        column, window = self.columns[at], at == window_at(self.source.names, self.ctx)
        if self.sifted and column.fixed and not column.layout and not window:
            return value(column.cast, f"c{at}")
        # Where no row is put aside the target stops a NULL, after its filters.
        required = column.name in self.required and not self.sifted and not window
        return guarded(column.cast, f"c{at}", at, required=required)

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and Arrow types."""
        import pyarrow as pa

        return pa.schema([(column.name, column.cast.arrow()) for column in self.columns])

    @property
    def untyped(self) -> tuple[str, ...]:
        """Columns in which no value was seen, so that nothing tells their types."""
        return tuple(column.name for column in self.columns if column.cast.kind == "unknown")

    @property
    def follows_values(self) -> bool:
        """Text: cast to the table's types, never a reason to widen it."""
        return True

    @property
    def rows(self) -> int | None:
        """Nobody knows without reading."""
        return None

    @property
    def files(self) -> tuple[str, ...]:
        """The files."""
        return self.source.files

    @cached_property
    def rejects(self) -> str | None:
        """The rows that ``sql`` leaves out; None where none was met, and none may be put aside.

        Raises:
            DriftError: The window column of one of them cannot be read.
            SourceError: Their places could not be found.
        """
        import duckdb

        if not self.apart:
            return None
        try:
            return rejects_sql(self)
        except duckdb.Error as error:
            self.after(error)
            raise

    def losses(self) -> tuple[Loss, ...]:
        """The values of columns with ``loss: allow`` that are not exactly what the text says."""
        from ldp_core.spi import Loss

        loose = {at: column for at, column in enumerate(self.columns) if column.cast.lossy}
        if not loose:
            return ()
        counts = ", ".join(
            f"count(c{at}) FILTER (NOT {fits(column.cast.with_options(lossy=False), f'c{at}')})"
            for at, column in loose.items()
        )
        changed = self.ctx.con.execute(f"SELECT {counts} FROM {self._text_sql}").fetchall()[0]
        return tuple(
            Loss(column.name, "cast", "string", column.cast.word, number)
            for column, number in zip(loose.values(), changed, strict=True)
        )

    def after(self, error: Exception) -> CsvExtract:
        """Better types after a wrong guess; see ``Extract.after``.

        Raises:
            DriftError: A value does not fit a type that is fixed.
            SourceError: A file cannot be parsed.
            Exception: The error itself, when it is about something else.
        """
        at = violated_column(error)
        if at is None:
            explained = self.source.explain(error)
            if explained is None:
                raise error
            return replace(self, source=self._split(explained))
        if self.columns[at].fixed and not self.columns[at].layout:
            if at == window_at(self.source.names, self.ctx) and self.apart:
                raise self._no_window(at) from error
            if self.sifted or not self.apart:
                raise drift(locate(self, [at]), "") from error
            return replace(self, sifted=True)
        source = self.source
        try:
            columns = self.retype(source, self.columns, self.ctx)
        except SourceError as broken:
            source = self._split(broken)
            columns = self.retype(source, self.columns, self.ctx)
        if columns == self.columns and source is self.source:
            if self.apart and self.columns[at].fixed and not self.sifted:
                return replace(self, sifted=True)  # no value at all, and the table requires one
            raise error
        sifted = self.sifted or newly_fixed(columns, {column.name for column in self.columns if column.fixed})
        return replace(self, columns=columns, source=source, sifted=sifted)

    def _split(self, error: LDPError) -> TextInput:
        """The input without the rows that a parser refuses, where they may be put aside.

        Raises:
            LDPError: The error, where they may not be, or where it is about something else.
        """
        source = self.source.without_broken(self.ctx) if self.apart and may_split(self.ctx) else None
        if source is None:
            raise error
        return source

    def _no_window(self, at: int) -> DriftError:
        """The error for a row that belongs to no window, so that each window would put it aside again."""
        found = locate(self, [at])
        refused = drift(found, ": the row belongs to no window, so it cannot be put aside")
        if found is not None:
            places = self.source.records(found.readable, self.ctx)
            refused.line = next(islice(places, found.row - 1, None), (None, ""))[0]
        return refused


def newly_fixed(columns: tuple[Column, ...], fixed: Collection[str]) -> bool:
    """Whether columns got types that a few of their values do not have: those rows are left out."""
    return any(column.fixed and column.name not in fixed for column in columns)


_WAYS = {
    "date": "correct it, or for CSV set date_format",
    "timestamp": "correct it, or for CSV set timestamp_format",
    "timestamptz": "correct it (it needs an offset), or for CSV set timestamp_format with %z",
}


def _way_out(violation: Violation) -> str:
    column = violation.column
    if column.cast.kind in ("int", "decimal", "float", "double") and _NUMBER.fullmatch(violation.value):
        return f"correct it, or allow it: columns: {{{column.name}: {{loss: allow}}}}"
    return _WAYS.get(column.cast.kind, "correct it")


def drift(violation: Violation | None, extra: str) -> DriftError:
    """The error for a value that does not fit, with column, row and value."""
    if violation is None:
        return DriftError("a value does not fit its type" + extra)
    value = violation.value if len(violation.value) <= 80 else violation.value[:77] + "..."
    word = violation.column.cast.word
    return DriftError(
        f"column {violation.column.name}, row {violation.row}: {value!r} cannot be loaded as {word} "
        f"without loss{extra}",
        file=violation.file,
        hint=_way_out(violation),
    )


def locate(extract: CsvExtract, columns: list[int]) -> Violation | None:
    """Find the first violation of these columns, file by file; memory does not grow with the input."""
    source = extract.source
    tests = {at: f"(c{at} IS NOT NULL AND NOT {fits(extract.columns[at].cast, f'c{at}')})" for at in columns}
    marks = ", ".join(f"{test} AS v{at}, c{at}" for at, test in tests.items())
    for file in source.readable:
        rows = extract.ctx.con.execute(
            f"SELECT * FROM (SELECT row, {marks} FROM ({source.numbered_sql(file)})) "
            f"WHERE {' OR '.join(f'v{at}' for at in columns)} LIMIT 1"
        ).fetchall()
        for row in rows:
            for position, at in enumerate(columns):
                if row[1 + 2 * position]:
                    value = str(row[2 + 2 * position])
                    return Violation(extract.columns[at], source.shown[file], int(row[0]), value, file)
    return None
