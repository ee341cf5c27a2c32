"""Open a CSV source: types from the table, from the config, or from the values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_core.errors import ConfigError, DriftError, SourceError
from ldp_core.sources._text import TextInput
from ldp_core.sources.csv_apart import may_split, window_at
from ldp_core.sources.csv_extract import Column, CsvExtract, locate, newly_fixed
from ldp_core.sources.csv_infer import (
    Evidence,
    candidates,
    chain,
    count_each,
    gather,
    layouts,
    stronger_first,
    unclear,
)
from ldp_core.sources.csv_input import CsvInput, open_input, total_size
from ldp_core.sources.csv_layouts import zoned
from ldp_core.sources.csv_sample import SMALL, sample_sql
from ldp_core.sources.csv_types import TEXT, UNKNOWN, Cast, cast_of_arrow, cast_of_word

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import RunContext, Spec

_PEEK = 1000


def open_csv(spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> CsvExtract:
    """Open a CSV source; see ``Source.open``."""
    source = open_input(spec, ctx)
    if ctx.readings is not None:
        source = ctx.readings.of(source, spec, ctx)
    return open_text(source, spec, ctx, wanted)


def open_text(source: CsvInput, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> CsvExtract:
    """Type the columns of text: by the table, by what is declared, and the others by their values."""
    apart = spec.get("on_bad_rows") == "quarantine"
    typing = Typing(
        tuple(
            candidates(
                comma=spec.get("decimal") == ",",
                date_format=spec.get("date_format"),
                timestamp_format=spec.get("timestamp_format"),
            )
        ),
        apart,
    )
    fixed = fixed_casts(spec, source, wanted)
    try:
        columns = typing.first(source, fixed, ctx)
    except SourceError:
        split = source.without_broken(ctx) if apart and may_split(ctx) else None
        if split is None:
            raise
        source = split
        columns = typing.first(source, fixed, ctx)
    _tell_unused(spec, columns, ctx)
    return CsvExtract(
        source,
        columns,
        ctx,
        typing.again,
        apart,
        newly_fixed(columns, fixed),
        required(fixed, wanted) if apart else frozenset(),
    )


def required(fixed: Mapping[str, Cast], wanted: pa.Schema | None) -> frozenset[str]:
    """The columns that the table requires a value of."""
    return frozenset(
        name for name in fixed if wanted and name in wanted.names and not wanted.field(name).nullable
    )


def fixed_casts(spec: Spec, source: TextInput, wanted: pa.Schema | None) -> dict[str, Cast]:
    """Casts that no value may change: of the table's columns, then of the declared ones."""
    declared = spec.get("columns") or {}
    for name in declared:
        if name not in source.names:
            raise ConfigError(
                f"the source has no column {name!r}; it has {', '.join(source.names)}",
                file=spec.file,
                key=f"{spec.key}.columns.{name}" if spec.key else f"columns.{name}",
            )
    found: dict[str, Cast] = {}
    for name in source.names:
        said = declared.get(name)
        word = said.get("type") if isinstance(said, Mapping) else said
        cast = None
        if wanted is not None and name in wanted.names:
            type_ = wanted.field(name).type
            cast = cast_of_arrow(type_)
            if cast is None:
                raise DriftError(f"column {name}: text cannot fill a column of type {type_}")
        elif word is not None:
            cast = cast_of_word(word)
        if cast is not None:
            lossy = isinstance(said, Mapping) and said.get("loss") == "allow"
            found[name] = cast.with_options(
                lossy=lossy and cast.kind != "text",
                comma=spec.get("decimal") == ",",
                format=_format(spec, cast),
            )
    return found


def _format(spec: Spec, cast: Cast) -> str | None:
    """The declared layout of a type; one with an offset is for instants, one without for local times."""
    day: str | None = spec.get("date_format")
    moment: str | None = spec.get("timestamp_format")
    if moment and zoned(moment) != (cast.kind == "timestamptz"):
        moment = None
    return {"date": day, "timestamp": moment, "timestamptz": moment}.get(cast.kind)


def _tell_unused(spec: Spec, columns: tuple[Column, ...], ctx: RunContext) -> None:
    seen = {column.cast.format for column in columns}
    if any(column.cast.kind == "unknown" for column in columns):
        return
    for key in ("date_format", "timestamp_format"):
        layout = spec.get(key)
        if layout and layout not in seen:
            ctx.warn(f"{key} {layout!r}: no column has values that are all written like this")


@dataclass(frozen=True)
class Typing:
    """Decides the types of columns whose type nobody has fixed.

    Attributes:
        casts: Every type a column may turn out to have, the strongest first.
        apart: Rows with the few odd values of a column are put aside, so that it keeps its type.
    """

    casts: tuple[Cast, ...]
    apart: bool = False

    def first(self, source: CsvInput, fixed: dict[str, Cast], ctx: RunContext) -> tuple[Column, ...]:
        """Types of all columns: from the whole input when it is small, else from a sample of it.

        Columns of which the sample leaves doubt are counted over the whole input here.
        """
        columns = [_column(name, fixed.get(name)) for name in source.names]
        open_ = [at for at, column in enumerate(columns) if not column.fixed]
        dates = {at: layouts(column.cast) for at, column in enumerate(columns) if column.layout}
        if not open_ and not dates:
            return tuple(columns)
        whole = total_size(source) <= SMALL
        sql = source.text_sql() if whole else sample_sql(source, ctx)
        evidence = _run(source, ctx, sql, open_, self.casts) | _each(source, ctx, sql, dates)
        doubtful: dict[int, list[Cast]] = {}
        for at, seen in evidence.items():
            if whole:
                columns[at] = self._decide(source, columns[at], at, seen, ctx)
                continue
            possible = chain(seen)
            clear = bool(seen.holding()) or not seen.values or not possible
            if at in dates and (not seen.holding() or unclear(possible)):
                doubtful |= {at: dates[at]} if seen.values else {}
            elif possible and (not clear or unclear(possible)):
                doubtful[at] = stronger_first(possible, self.casts)
            elif possible:
                columns[at] = replace(columns[at], cast=possible[0])
        if doubtful:
            self._count(source, columns, doubtful, ctx)
        return tuple(columns)

    def again(self, source: TextInput, columns: tuple[Column, ...], ctx: RunContext) -> tuple[Column, ...]:
        """Types that hold for the whole input, by one pass over it, after a sample misled."""
        changed = list(columns)
        options: dict[int, list[Cast]] = {}
        for at, column in enumerate(columns):
            if column.layout:
                options[at] = layouts(column.cast)
            if column.fixed or column.cast.kind == "text":
                continue
            possible = [column.cast]
            if column.cast.kind == "unknown":
                some = f"SELECT * FROM ({source.text_sql()}) WHERE c{at} IS NOT NULL LIMIT {_PEEK}"
                seen = _run(source, ctx, some, [at], self.casts)[at]
                possible = chain(seen) if seen.values else []
            options[at] = stronger_first(possible, self.casts)
        self._count(source, changed, options, ctx)
        return tuple(changed)

    def _count(
        self, source: TextInput, columns: list[Column], options: dict[int, list[Cast]], ctx: RunContext
    ) -> None:
        counted = _each(source, ctx, source.text_sql(), options)
        for at, evidence in counted.items():
            columns[at] = self._decide(source, columns[at], at, evidence, ctx)

    def _decide(
        self, source: TextInput, column: Column, at: int, evidence: Evidence, ctx: RunContext
    ) -> Column:
        """The type that the whole input shows; odd values are told of."""
        holding = evidence.holding()
        if not evidence.values:
            return column if column.fixed else Column(column.name, UNKNOWN)
        near = evidence.nearly()
        if unclear(holding or (evidence.best() if self.apart and (near or column.fixed) else [])):
            what = "days and months of its dates cannot be told apart"
            if column.fixed:
                raise DriftError(f"column {column.name}: {what}", hint="for CSV set date_format")
            ctx.warn(f"column {column.name}: loaded as text, because {what}; set date_format")
            return Column(column.name, TEXT)
        if column.fixed:
            return Column(column.name, max(evidence.fitting, key=lambda cast: evidence.fitting[cast]), True)
        if holding:
            return Column(column.name, holding[0])
        if near is not None:
            tell_odd(source, column, at, evidence, near, ctx, apart=self.apart)
        return Column(column.name, near, True) if near and self.apart else Column(column.name, TEXT)


def tell_odd(
    source: TextInput,
    column: Column,
    at: int,
    evidence: Evidence,
    near: Cast,
    ctx: RunContext,
    *,
    apart: bool,
) -> None:
    """Tell of the few values that are not of the type of all others, and what becomes of them.

    Raises:
        DriftError: They are an error (``--strict``).
    """
    if apart and at == window_at(source.names, ctx):
        return  # the load stops there: such a row belongs to no window
    odd = evidence.values - evidence.fitting[near]
    every = [Column("", TEXT, True)] * len(source.names)
    every[at] = Column(column.name, near)
    seen = locate(CsvExtract(source, tuple(every), ctx, lambda source, columns, ctx: columns), [at])
    where = f"; the first is row {seen.row} of {seen.file}: {seen.value[:80]!r}" if seen else ""
    line = f"column {column.name}: {odd} of {evidence.values} values are no {near.word}{where}"
    if ctx.strict:
        raise DriftError(line, hint=f"fix them, or declare columns: {{{column.name}: text}}")
    ctx.warn(f"{line}; {'their rows are put aside' if apart else 'loaded as text'}")


def _column(name: str, cast: Cast | None) -> Column:
    if cast is None:
        return Column(name, TEXT)
    return Column(name, cast, True, layout=cast.kind == "date" and cast.format is None)


def _each(
    source: TextInput, ctx: RunContext, sql: str, options: dict[int, list[Cast]]
) -> dict[int, Evidence]:
    import duckdb

    try:
        return count_each(ctx.con, sql, options)
    except duckdb.Error as error:
        raise source.explain(error) or error from error


def _run(
    source: TextInput, ctx: RunContext, sql: str, columns: list[int], casts: tuple[Cast, ...]
) -> dict[int, Evidence]:
    import duckdb

    try:
        return gather(ctx.con, sql, columns, list(casts))
    except duckdb.Error as error:
        raise source.explain(error) or error from error
