"""SQL that turns a source's values into a table's type, with guards, and SQL that counts what changed.

A guard never lets a value change silently: one that the target type cannot hold exactly raises an error that
``violation_of`` reads back.
Expressions are only built where a type differs; equal types pass through untouched.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ldp_core._duck import ident, text
from ldp_core.tables.types import decoded, duck_type, is_list, stored, struct_fields

_MARK = "ldp-drift"
_WHOLE = "^[+-]?(0|[1-9][0-9]*)$"
_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Violation:
    """A value that a guard stopped.

    Attributes:
        column: Dotted column.
        kind: The DuckDB type it should have had; ``NOT NULL`` for a missing value.
        value: Its text; None for a missing value.
    """

    column: str
    kind: str
    value: str | None


def violation_of(message: str) -> Violation | None:
    """Read a guard's error message back, or None when the message is of something else."""
    place = message.find(_MARK + "\x1f")
    if place < 0:
        return None
    parts = message[place:].split("\x1f")
    if len(parts) < 5:
        return None
    return Violation(parts[1], parts[2], parts[3] if parts[3] or parts[2] != "NOT NULL" else None)


def convert(expr: str, source: pa.DataType, target: pa.DataType, column: str, *, lossy: bool = False) -> str:
    """SQL for a value of a source type in a target type.

    Args:
        expr: SQL of the value.
        source: Its Arrow type as the source has it.
        target: A stored type (see ``types.stored``) that ``fit`` found acceptable.
        column: Dotted column, for the guards.
        lossy: Cast without guards (``loss: allow``).
    """
    source = decoded(source)
    if plain(source, target):
        return expr
    if pa.types.is_null(source):
        return f"CAST(NULL AS {duck_type(target)})"
    if pa.types.is_struct(target):
        return _struct(expr, source, target, column, lossy)
    if pa.types.is_map(target):
        return _map(expr, source, target, column, lossy)
    if is_list(target):
        name = _variable(expr)
        item = convert(name, source.value_type, target.value_type, f"{column}.element", lossy=lossy)
        return f"list_transform({expr}, lambda {name}: {item})"
    return _primitive(expr, source, target, column, lossy)


def changed(expr: str, source: pa.DataType, target: pa.DataType, *, lossy: bool = False) -> str | None:
    """SQL for how many values inside ``expr`` the conversion changes; None when it never changes any."""
    source = decoded(source)
    if plain(source, target) or pa.types.is_null(source):
        return None
    if pa.types.is_struct(target):
        given = {f.name: f for f in struct_fields(source)}
        parts = [
            changed(_member(expr, f.name), given[f.name].type, f.type, lossy=lossy)
            for f in struct_fields(target)
            if f.name in given
        ]
        known = [part for part in parts if part is not None]
        return "(" + " + ".join(known) + ")" if known else None
    if pa.types.is_map(target):
        keys = _summed(f"map_keys({expr})", source.key_type, target.key_type, lossy)
        values = _summed(f"map_values({expr})", source.item_type, target.item_type, lossy)
        known = [part for part in (keys, values) if part is not None]
        return "(" + " + ".join(known) + ")" if known else None
    if is_list(target):
        return _summed(expr, source.value_type, target.value_type, lossy)
    if _is_ns(source):
        return f"CASE WHEN epoch_ns({expr}) % 1000 <> 0 THEN 1 ELSE 0 END"
    if lossy and duck_type(stored(source, "")) != duck_type(target):
        return f"CASE WHEN {_moved(expr, source, target)} THEN 1 ELSE 0 END"
    return None


def required(expr: str, column: str) -> str:
    """SQL that lets a value through and stops a NULL of a required column."""
    return f"CASE WHEN {expr} IS NULL THEN {_error(column, 'NOT NULL', 'NULL')} ELSE {expr} END"


def plain(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether DuckDB already has the values in the target type, so that no expression is needed."""
    source = decoded(source)
    if pa.types.is_struct(target):
        mine, theirs = struct_fields(source) if pa.types.is_struct(source) else [], struct_fields(target)
        return [f.name for f in mine] == [f.name for f in theirs] and all(
            plain(a.type, b.type) for a, b in zip(mine, theirs, strict=True)
        )
    if pa.types.is_map(target):
        return (
            pa.types.is_map(source)
            and plain(source.key_type, target.key_type)
            and plain(source.item_type, target.item_type)
        )
    if is_list(target):
        return (
            is_list(source)
            and not pa.types.is_fixed_size_list(source)
            and plain(source.value_type, target.value_type)
        )
    if source == target:
        return True
    texts = {pa.string(), pa.large_string(), pa.string_view()}
    blobs = {pa.binary(), pa.large_binary(), pa.binary_view()}
    return bool((source in texts and target == pa.string()) or (source in blobs and target == pa.binary()))


def _primitive(expr: str, source: pa.DataType, target: pa.DataType, column: str, lossy: bool) -> str:
    duck = duck_type(target)
    if _is_ns(source):
        cut = _cut(expr, source)
        return cut if stored(source, column) == target else f"CAST({cut} AS {duck})"
    if lossy or _widening(source, target):
        return f"CAST({expr} AS {duck})"
    bad = _moved(expr, source, target)
    return f"CASE WHEN {bad} THEN {_error(column, duck, expr)} ELSE CAST({expr} AS {duck}) END"


def _moved(expr: str, source: pa.DataType, target: pa.DataType) -> str:
    """SQL that is true for a value that the cast would change or cannot make."""
    duck = duck_type(target)
    value = f"TRY_CAST({expr} AS {duck})"
    if decoded(source) in {pa.string(), pa.large_string(), pa.string_view()}:
        return f"({expr} IS NOT NULL AND NOT coalesce({_text_holds(expr, value, target)}, false))"
    back = duck_type(stored(source, ""))
    return f"(TRY_CAST({value} AS {back}) IS DISTINCT FROM CAST({expr} AS {back}))"


def _text_holds(expr: str, value: str, target: pa.DataType) -> str:
    """SQL that is true where a text says exactly a value of the target type."""
    if pa.types.is_integer(target):
        return f"{value} IS NOT NULL AND regexp_matches({expr}, {text(_WHOLE)})"
    if pa.types.is_floating(target):
        return f"isfinite({value}) AND regexp_matches({expr}, {text(_NUMBER)})"
    if pa.types.is_decimal(target):
        exact = f"TRY_CAST({expr} AS DECIMAL(38,{min(38, target.scale + 10)}))"
        return f"{value} = {exact} AND regexp_matches({expr}, {text(_NUMBER)})"
    if pa.types.is_boolean(target):
        return f"lower({expr}) IN ('true', 'false')"
    if pa.types.is_timestamp(target):
        offset = "regexp_matches(" + expr + r", '[0-9]:[0-9.:]+ ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)$')"
        return f"{value} IS NOT NULL AND " + (offset if target.tz else f"NOT {offset}")
    if target == pa.uuid():
        return f"{value} IS NOT NULL"
    return f"CAST({value} AS VARCHAR) = {expr}"


def _error(column: str, kind: str, value: str) -> str:
    head = text("\x1f".join([_MARK, column, kind, ""]))
    shown = "''" if value == "NULL" else f"coalesce(left(CAST({value} AS VARCHAR), 200), '')"
    return f"error({head} || {shown} || chr(31))"


def _is_ns(kind: pa.DataType) -> bool:
    return bool((pa.types.is_timestamp(kind) or pa.types.is_time64(kind)) and kind.unit == "ns")


def _cut(expr: str, source: pa.DataType) -> str:
    """Nanoseconds to microseconds, downwards also before 1970 (DuckDB's own cast rounds)."""
    nanos = f"epoch_ns({expr})"
    if pa.types.is_time64(source):
        return f"(TIME '00:00:00' + to_microseconds({nanos} // 1000))"
    cut = f"make_timestamp({nanos} // 1000 - CASE WHEN {nanos} % 1000 < 0 THEN 1 ELSE 0 END)"
    return f"({cut} AT TIME ZONE 'UTC')" if source.tz is not None else cut


def _widening(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether every value of the source type is a value of the target type."""
    mine = stored(source, "")
    if mine == target or target == pa.string():
        return True
    if pa.types.is_integer(mine) and pa.types.is_integer(target):
        return bool(mine.bit_width <= target.bit_width)
    if pa.types.is_floating(mine) and pa.types.is_floating(target):
        return bool(mine.bit_width <= target.bit_width)
    if pa.types.is_decimal(mine) and pa.types.is_decimal(target):
        return bool(
            mine.scale <= target.scale and mine.precision - mine.scale <= target.precision - target.scale
        )
    return False


def _struct(expr: str, source: pa.DataType, target: pa.DataType, column: str, lossy: bool) -> str:
    given = {f.name: f for f in struct_fields(source)}
    parts = []
    for field in struct_fields(target):
        path = f"{column}.{field.name}"
        if field.name in given:
            inner = convert(_member(expr, field.name), given[field.name].type, field.type, path, lossy=lossy)
        else:
            inner = f"CAST(NULL AS {duck_type(field.type)})"
        parts.append(f"{ident(field.name)} := {inner}")
    packed = f"struct_pack({', '.join(parts)})"
    return f"CASE WHEN {expr} IS NULL THEN NULL ELSE {packed} END"


def _map(expr: str, source: pa.DataType, target: pa.DataType, column: str, lossy: bool) -> str:
    name = _variable(expr)
    key = convert(f"{name}.key", source.key_type, target.key_type, f"{column}.key", lossy=lossy)
    value = convert(f"{name}.value", source.item_type, target.item_type, f"{column}.value", lossy=lossy)
    entry = f"struct_pack(key := {key}, value := {value})"
    return f"map_from_entries(list_transform(map_entries({expr}), lambda {name}: {entry}))"


def _summed(expr: str, source: pa.DataType, target: pa.DataType, lossy: bool) -> str | None:
    name = _variable(expr)
    inner = changed(name, source, target, lossy=lossy)
    if inner is None:
        return None
    return f"coalesce(list_sum(list_transform({expr}, lambda {name}: {inner})), 0)"


def _member(expr: str, name: str) -> str:
    return f"struct_extract({expr}, {text(name)})"


def _variable(expr: str) -> str:
    """A lambda variable that no enclosing lambda uses."""
    return f"ldp_v{expr.count('ldp_v')}"
