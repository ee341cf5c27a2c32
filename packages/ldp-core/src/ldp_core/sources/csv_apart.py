"""Rows of text with a value that its column cannot have: which they are, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ldp_core._duck import text
from ldp_core.sources import _rejects
from ldp_core.sources.csv_guard import fits, guarded
from ldp_core.tables.window_rows import bounds, has_filter

if TYPE_CHECKING:
    from ldp_core.sources.csv_extract import CsvExtract
    from ldp_core.spi import RunContext

_SHOWN = 80


def window_at(names: Sequence[str], ctx: RunContext) -> int | None:
    """The position of the column that selects the rows of a window, or None."""
    if ctx.keyed is None or not has_filter(ctx.keyed):
        return None
    return names.index(str(ctx.keyed.column)) if ctx.keyed.column in names else None


def may_split(ctx: RunContext) -> bool:
    """Whether rows that cannot be split may be put aside: no window asks which of them are its own."""
    return not has_filter(ctx.keyed)


def faults(extract: CsvExtract) -> dict[int, list[tuple[str, str, str]]]:
    """What may be wrong with a row: by column the rule, a condition that is true for it, and what it says.

    A row whose window column cannot be read belongs to no window: that is no fault to be put aside.
    """
    found: dict[int, list[tuple[str, str, str]]] = {}
    window = window_at(extract.source.names, extract.ctx)
    for at, column in enumerate(extract.columns):
        if at == window or not column.fixed:
            continue
        x, name = f"c{at}", text(column.name)
        if column.cast.kind != "text" and not column.layout:
            shown = f"{name} || ' ''' || left({x}, {_SHOWN}) || ''' is no {column.cast.word}'"
            test = f"({x} IS NOT NULL AND NOT {fits(column.cast, x)})"
            found.setdefault(at, []).append((_rejects.CAST, test, shown))
        if column.name in extract.required:
            found.setdefault(at, []).append((_rejects.MISSING, f"{x} IS NULL", f"{name} || ' has no value'"))
    return found


def bad(extract: CsvExtract) -> str:
    """A condition that is true for a row with a fault, else false."""
    tests = [test for items in faults(extract).values() for _, test, _ in items]
    return f"({' OR '.join(tests)})" if tests else "false"


def rejects_sql(extract: CsvExtract) -> str | None:
    """A SELECT of the rows that an extract leaves out; see ``Extract.rejects``.

    Raises:
        DriftError: The window column of such a row cannot be read.
        SourceError: The places of the rows could not be found.
    """
    files = list(extract.source.aside)
    if extract.sifted:
        files += [
            path
            for file in extract.source.readable
            if (path := _rejects.write(_rejects_of(extract, file), extract.ctx))
        ]
    return _rejects.read_sql(files)


def _rejects_of(extract: CsvExtract, file: str) -> Iterator[_rejects.Reject]:
    source, con = extract.source, extract.ctx.con
    numbered = source.numbered_sql(file)
    where = f"{bad(extract)} AND {_mine(extract)}"
    if not con.execute(f"SELECT count(*) FROM ({numbered}) WHERE {where}").fetchall()[0][0]:
        return
    total = int(con.execute(source.count_sql(file)).fetchall()[0][0])
    every = [item for items in faults(extract).values() for item in items]
    kinds = dict.fromkeys(rule for rule, _, _ in every)
    rules = [
        f"CASE WHEN {' OR '.join(test for rule, test, _ in every if rule == kind)} THEN '{kind}' END"
        for kind in kinds
    ]
    reasons = ", ".join(f"CASE WHEN {test} THEN {shown} END" for _, test, shown in every)
    sql = (
        f"SELECT row, list_filter([{', '.join(rules)}], lambda x: x IS NOT NULL) AS rules, "
        f"concat_ws('; ', {reasons}) AS reason FROM ({numbered}) WHERE {where}"
    )
    yield from _rejects.matched(
        sql, source.records(file, extract.ctx), total, source.shown[file], extract.ctx
    )


def _mine(extract: CsvExtract) -> str:
    """The condition that a row is of the run's window."""
    at, keyed = window_at(extract.source.names, extract.ctx), extract.ctx.keyed
    if at is None or keyed is None:
        return "true"
    column = extract.columns[at]
    if column.cast.kind == "unknown":
        return f"c{at} IS NOT NULL"
    value = guarded(column.cast, f"c{at}", at)
    return bounds(keyed, extract.schema).holds(value)
