"""A CSV source offered to a run: guarded SQL, and what to do when a guard or the parser objects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ldp_core._duck import ident
from ldp_core.errors import DriftError
from ldp_core.sources._text import TextInput
from ldp_core.sources.csv_errors import violated_column
from ldp_core.sources.csv_guard import fits, guarded
from ldp_core.sources.csv_types import Cast

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ldp_core.spi import Loss, RunContext


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
    """

    column: Column
    file: str
    row: int
    value: str


@dataclass(frozen=True)
class CsvExtract:
    """An ``Extract`` over CSV files.

    Attributes:
        source: The files.
        columns: Every column.
        ctx: The run.
        retype: Gives better types for the columns that are not fixed, from the whole input.
    """

    source: TextInput
    columns: tuple[Column, ...]
    ctx: RunContext
    retype: Callable[[TextInput, tuple[Column, ...], RunContext], tuple[Column, ...]] = field(repr=False)

    @cached_property
    def sql(self) -> str:
        """A SELECT of all columns in their types, guards included."""
        fields = ", ".join(
            f"{guarded(column.cast, f'c{at}', at)} AS {ident(column.name)}"
            for at, column in enumerate(self.columns)
        )
        return f"SELECT {fields} FROM ({self.source.text_sql()})"

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

    @property
    def rejects(self) -> str | None:
        """None: every row is read, or the run ends."""
        return None

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
        changed = self.ctx.con.execute(f"SELECT {counts} FROM ({self.source.text_sql()})").fetchall()[0]
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
            raise self.source.explain(error) or error
        if self.columns[at].fixed and not self.columns[at].layout:
            raise drift(locate(self, [at]), "") from error
        columns = self.retype(self.source, self.columns, self.ctx)
        if columns == self.columns:
            raise error
        return replace(self, columns=columns)


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
            f"SELECT * FROM (SELECT row_number() OVER () AS row, {marks} FROM ({source.text_sql([file])})) "
            f"WHERE {' OR '.join(f'v{at}' for at in columns)} LIMIT 1"
        ).fetchall()
        for row in rows:
            for position, at in enumerate(columns):
                if row[1 + 2 * position]:
                    value = str(row[2 + 2 * position])
                    return Violation(extract.columns[at], source.shown[file], int(row[0]), value)
    return None
