"""Fit the rows of a source to a table: order, types, guards, evolution, and what it costs.

Typed sources follow the types: a promotion that Iceberg knows widens the table, a narrower type is cast up, a
decimal of another scale is rescaled value by value, and all else is refused before anything is read. Sources
that follow values (text, and what transforms make of it) are cast to the table's types where nothing is lost
and never widen it. Columns go by name, nested fields too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import pyarrow as pa

from ldp_core._duck import ident
from ldp_core.errors import DriftError
from ldp_core.spi import Loss
from ldp_core.tables.convert import changed, convert, required
from ldp_core.tables.types import (
    conversion,
    decoded,
    duck_type,
    is_list,
    is_nested,
    stored,
    struct_fields,
    word,
)


@dataclass(frozen=True)
class Op:
    """One step of schema evolution.

    Attributes:
        path: The column, then nested fields (``element`` and ``value`` inside lists and maps).
        type: The stored Arrow type it gets.
        widen: True for a promotion, False for a new column.
    """

    path: tuple[str, ...]
    type: pa.DataType
    widen: bool


@dataclass(frozen=True)
class Fitted:
    """Rows fitted to a table.

    Attributes:
        sql: A SELECT in published types and order, with guards.
        schema: The published Arrow schema (the table's columns, then new ones).
        ops: How the table has to evolve, in order; empty for a new table.
        losses: The loss report; ``changed`` is 0 until counted.
        counts: For each loss, SQL that counts changed values over the source rows; None where it is always 0.
        notes: Lines for the user.
        missing: Columns of the table that the rows do not have.
        source_sql: The rows as they came.
        plain: Every published column is a column of the source, untouched.
    """

    sql: str
    schema: pa.Schema
    ops: tuple[Op, ...] = ()
    losses: tuple[Loss, ...] = ()
    counts: tuple[str | None, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    source_sql: str = ""
    plain: bool = False

    def count_sql(self) -> str | None:
        """One aggregate over the affected columns that counts every loss; None when there is none."""
        parts = [count for count in self.counts if count is not None]
        if not parts:
            return None
        sums = ", ".join(f"CAST(coalesce(sum({part}), 0) AS BIGINT)" for part in parts)
        return f"SELECT {sums} FROM ({self.source_sql}) AS s"

    def counted(self, numbers: Collection[int]) -> tuple[Loss, ...]:
        """The loss report with the numbers of ``count_sql`` filled in."""
        values = iter(numbers)
        return tuple(
            loss if count is None else replace(loss, changed=next(values))
            for loss, count in zip(self.losses, self.counts, strict=True)
        )


@dataclass
class _Walk:
    """What a walk over one schema gathers."""

    follows_values: bool
    evolve: bool
    allow: frozenset[str]
    ops: list[Op] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fit(
    sql: str,
    source: pa.Schema,
    table: pa.Schema | None,
    *,
    follows_values: bool = False,
    schema_evolution: bool = True,
    allow: Collection[str] = (),
) -> Fitted:
    """Fit rows to a table.

    Args:
        sql: A SELECT of the rows.
        source: Their names and Arrow types as the source has them.
        table: The table's columns (``types.arrow_schema``); None for a new table.
        follows_values: The source is text, or a transform of text.
        schema_evolution: Whether the table may get columns and wider types.
        allow: Columns (top level) whose values may lose something on the way.

    Raises:
        DriftError: A column or a type does not fit; names the column and both types.
    """
    _one_name_each(source.names, "the source")
    walk = _Walk(follows_values, schema_evolution, frozenset(allow))
    published = _columns(walk, source, table)
    given = {f.name: f.type for f in source}
    select, losses, counts, missing = [], [], [], []
    for column in published:
        name, loose = column.name, column.name in walk.allow
        if name not in given:
            missing.append(name)
            select.append(f"CAST(NULL AS {duck_type(column.type)}) AS {ident(name)}")
            continue
        value = convert(ident(name), given[name], column.type, name, lossy=loose)
        if not column.nullable:
            value = required(value, name)
        select.append(value if value == ident(name) else f"{value} AS {ident(name)}")
        for loss, count in _losses(ident(name), given[name], column.type, name, loose):
            losses.append(loss)
            counts.append(count)
    return Fitted(
        sql=f"SELECT {', '.join(select)} FROM ({sql}) AS s",
        schema=published,
        ops=tuple(walk.ops),
        losses=tuple(losses),
        counts=tuple(counts),
        notes=tuple(walk.notes),
        missing=tuple(missing),
        source_sql=sql,
        plain=all(item == ident(name) for item, name in zip(select, published.names, strict=True)),
    )


def _columns(walk: _Walk, source: pa.Schema, table: pa.Schema | None) -> pa.Schema:
    """The published columns: the table's in its order, then the new ones in the source's."""
    if table is None:
        return pa.schema([pa.field(f.name, stored(f.type, f.name)) for f in source])
    _one_name_each(table.names, "the table")
    return pa.schema(_fields(walk, list(source), list(table), ()))


def _fields(
    walk: _Walk, given: list[pa.Field], wanted: list[pa.Field], parent: tuple[str, ...]
) -> list[pa.Field]:
    """Merge the fields of a source (or a struct) into those of the table (or its struct)."""
    mine = {f.name: f for f in given}
    lower = {f.name.casefold(): f.name for f in wanted}
    out = []
    for column in wanted:
        path = (*parent, column.name)
        if column.name in mine:
            out.append(column.with_type(_merge(walk, mine[column.name].type, column.type, path)))
        elif column.nullable:
            out.append(column)
        else:
            raise DriftError(
                f"column {'.'.join(path)!r} is required by the table and the source does not have it"
            )
    names = {f.name for f in wanted}
    for new in given:
        if new.name in names:
            continue
        path = (*parent, new.name)
        shown = ".".join(path)
        if new.name.casefold() in lower:
            raise DriftError(
                f"column {shown!r} differs from the table's column {lower[new.name.casefold()]!r} only in "
                "case, and SQL engines read both as one name",
                hint="rename it in the source or in a SQL transform",
            )
        kind = stored(new.type, shown)
        if not walk.evolve:
            raise DriftError(
                f"column {shown!r} ({word(kind)}) is not in the table, and schema_evolution is false",
                hint="drop it in a SQL transform, or set schema_evolution: true",
            )
        walk.ops.append(Op(path, kind, widen=False))
        walk.notes.append(f"new column {shown} ({word(kind)})")
        out.append(pa.field(new.name, kind))
    return out


def _merge(walk: _Walk, source: pa.DataType, table: pa.DataType, path: tuple[str, ...]) -> pa.DataType:
    """The type that a column has after the load; the table's, or a wider one."""
    source = decoded(source)
    if pa.types.is_null(source):
        return table
    if is_nested(table) or is_nested(source):
        return _merge_nested(walk, source, table, path)
    mine = stored(source, ".".join(path))
    if mine == table or _promotes(mine, table) or _rescales(mine, table):
        return table
    convertible = _convertible(mine, table)
    if path[0] in walk.allow and (convertible or {mine, table} == _CLOCKS):
        return table
    if walk.follows_values and convertible:
        return table
    if _promotes(table, mine) and not walk.follows_values:
        if not walk.evolve:
            raise _drift(path, source, table, "schema_evolution is false")
        walk.ops.append(Op(path, mine, widen=True))
        walk.notes.append(f"column {'.'.join(path)} widened from {word(table)} to {word(mine)}")
        return mine
    raise _drift(path, source, table, "that is no change Iceberg allows")


def _merge_nested(walk: _Walk, source: pa.DataType, table: pa.DataType, path: tuple[str, ...]) -> pa.DataType:
    if pa.types.is_struct(source) and pa.types.is_struct(table):
        given = struct_fields(source)
        _one_name_each([f.name for f in given], f"column {'.'.join(path)!r}")
        return pa.struct(_fields(walk, given, struct_fields(table), path))
    if pa.types.is_map(source) and pa.types.is_map(table):
        before = len(walk.ops)
        key = _merge(walk, source.key_type, table.key_type, (*path, "key"))
        if len(walk.ops) > before:
            raise _drift(path, source, table, "the keys of a map cannot change their type")
        value = _merge(walk, source.item_type, table.item_type, (*path, "value"))
        return pa.map_(key, table.item_field.with_type(value))
    if is_list(source) and is_list(table):
        element = _merge(walk, source.value_type, table.value_type, (*path, "element"))
        return pa.list_(table.value_field.with_type(element))
    raise _drift(path, source, table, "that is no change Iceberg allows")


_CLOCKS = {pa.timestamp("us"), pa.timestamp("us", tz="UTC")}


def _promotes(narrow: pa.DataType, wide: pa.DataType) -> bool:
    """Whether Iceberg promotes one type to the other (https://iceberg.apache.org/spec/#schema-evolution)."""
    if (narrow, wide) in {(pa.int32(), pa.int64()), (pa.float32(), pa.float64())}:
        return True
    both = pa.types.is_decimal(narrow) and pa.types.is_decimal(wide)
    return bool(both and narrow.scale == wide.scale and narrow.precision < wide.precision)


def _rescales(mine: pa.DataType, table: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(mine) and pa.types.is_decimal(table) and mine.scale != table.scale)


def _convertible(mine: pa.DataType, table: pa.DataType) -> bool:
    """Whether values of one type can mean the same in the other, judged value by value."""
    for kind in (mine, table):
        if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
            return False
    if mine == pa.string() or table == pa.string():
        return True
    if _is_number(mine) and _is_number(table):
        return True
    return {mine, table} == {pa.date32(), pa.timestamp("us")}


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _losses(
    expr: str, source: pa.DataType, target: pa.DataType, column: str, lossy: bool
) -> list[tuple[Loss, str | None]]:
    """The report's lines of one column, nested conversions under the count of their top column."""
    found: list[tuple[Loss, str | None]] = []
    for path, kind, mine, theirs in _kinds(source, target, column):
        if kind == "cast" and not lossy:
            continue  # guarded: every value is what it was
        counts = kind in {"ns_to_us", "cast"} or (lossy and kind == "decimal_rescale")
        found.append(
            (
                Loss(path, kind, str(mine), word(theirs), 0),
                changed(expr, source, target, lossy=lossy) if counts else None,
            )
        )
    return found


def _kinds(
    source: pa.DataType, target: pa.DataType, path: str
) -> list[tuple[str, str, pa.DataType, pa.DataType]]:
    """(path, kind, source type, target type) for every conversion inside a column; types never equal."""
    name = conversion(source)
    if name == "dictionary_decoded":
        return [(path, name, source, target), *_kinds(decoded(source), target, path)]
    if pa.types.is_null(source):
        return [(path, "null_to_string", source, target)] if target == pa.string() else []
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        goal = {f.name: f.type for f in struct_fields(target)}
        return [
            found
            for f in struct_fields(source)
            if f.name in goal
            for found in _kinds(f.type, goal[f.name], f"{path}.{f.name}")
        ]
    if pa.types.is_map(source) and pa.types.is_map(target):
        keys = _kinds(source.key_type, target.key_type, f"{path}.key")
        return keys + _kinds(source.item_type, target.item_type, f"{path}.value")
    if is_list(source) and is_list(target):
        return _kinds(source.value_type, target.value_type, f"{path}.element")
    mine = stored(source, path)
    if mine != target:
        if _rescales(mine, target):
            return [(path, "decimal_rescale", source, target)]
        if not _promotes(mine, target):
            return [(path, name or "cast", source, target)]
    return [(path, name, source, target)] if name else []


def _one_name_each(names: list[str], where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        if other is not name:
            clash = "twice" if other == name else f"and {name!r}, which SQL engines read as one name"
            raise DriftError(f"{where} has the column {other!r} {clash}", hint="rename one of them")


def _drift(path: tuple[str, ...], source: pa.DataType, table: pa.DataType, why: str) -> DriftError:
    column = ".".join(path)
    shown = word(stored(source, column)) if not pa.types.is_null(source) else "null"
    exact = f" (from {source})" if conversion(source) else ""
    return DriftError(
        f"column {column!r}: the source has {shown}{exact} and the table has {word(table)}; {why}",
        hint="cast it in a SQL transform, or load into another table",
    )
