"""A config's value against a column, exactly.

A bound is moved to the next value that the column itself can hold, inside the allowed side, so that no
engine has to compare across types: ``min: 0.5`` on an integer column is ``x < 1``, a bound in microseconds
on a column of nanoseconds is a whole number of nanoseconds.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import date, time
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from ldp_quality import kinds
from ldp_quality.expr import NONE, Above, Below, Column, Constant, Predicate, has_value
from ldp_quality.instants import clock_ns, moment_ns
from ldp_quality.kinds import Kind


class NotComparable(Exception):
    """A value and a column of this kind cannot be compared; the text says why."""


def below(column: str, kind: Kind, bound: Any) -> Predicate:
    """Rows whose value is less than a lower bound.

    Raises:
        NotComparable: The bound says nothing about such a column.
    """
    return _beyond(column, kind, bound, low=True)


def above(column: str, kind: Kind, bound: Any) -> Predicate:
    """Rows whose value is greater than an upper bound (NaN aside).

    Raises:
        NotComparable: The bound says nothing about such a column.
    """
    return _beyond(column, kind, bound, low=False)


def _beyond(column: str, kind: Kind, bound: Any, *, low: bool) -> Predicate:
    compare: Callable[..., Predicate] = Below if low else Above
    if kind.family == kinds.TEXT and isinstance(bound, str):
        return compare(Column(column), bound)
    if kind.family == kinds.FLOAT:
        return compare(Column(column), _float_limit(kind, _number(kind, bound), bound, up=low))
    rounded = math.ceil if low else math.floor
    if kind.family in kinds.TEMPORAL:
        return compare(Column(column), rounded(Fraction(_ticks_ns(kind, bound), kind.ns_per_tick)))
    number = _number(kind, bound)
    if isinstance(number, float):
        return has_value(column) if (number > 0) == low else NONE
    step = 10**kind.scale
    least, most = _extent(kind)
    limit = rounded(number * step)
    if limit < least:
        return NONE if low else has_value(column)
    if limit > most:
        return has_value(column) if low else NONE
    return compare(Column(column), _exact(kind, limit))


def _extent(kind: Kind) -> tuple[int, int]:
    """The least and the largest value of an integer or decimal column, in units of its last digit."""
    if kind.family == kinds.INTEGER:
        return kind.low, kind.high
    return 1 - 10**kind.precision, 10**kind.precision - 1


def _exact(kind: Kind, units: int) -> Constant:
    return units if kind.family == kinds.INTEGER else Decimal(units).scaleb(-kind.scale, _WIDE)


_WIDE = Context(prec=2_000)
"""Wider than any decimal column, so that scaling rounds nothing."""


def _number(kind: Kind, bound: Any) -> Fraction | float:
    """The bound as an exact number, or as an infinity."""
    if kind.family not in kinds.NUMERIC:
        if isinstance(bound, int | float | Decimal):
            raise NotComparable(f"a numeric bound needs a numeric column, not {kind.name}")
        raise NotComparable(f"{bound!r} is no bound for a column of {kind.name}")
    number = as_number(bound)
    if number is None:
        raise NotComparable(f"{bound!r} is not a number, and the column is {kind.name}")
    return number


def as_number(value: Any) -> Fraction | float | None:
    """A number or a text that holds one, exactly; an infinity as a float; None when it is neither."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    try:
        exact = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    if exact.is_nan():
        return None
    return Fraction(exact) if exact.is_finite() else float(exact)


def _float_limit(kind: Kind, number: Fraction | float, written: Any, *, up: bool) -> float:
    """The bound as a value of a float column.

    A decimal text means the float that it is read as; a whole number is moved to the next float inside.
    """
    if isinstance(number, float):
        return number
    if not isinstance(written, int):
        return _as_float(kind, number)
    try:
        near = float(number)
    except OverflowError:
        near = math.inf if number > 0 else -math.inf
    if up and near < number:
        return math.nextafter(near, math.inf)
    return math.nextafter(near, -math.inf) if not up and near > number else near


def _as_float(kind: Kind, number: Fraction) -> float:
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    if kind.bits > 32:
        return near
    code = "f" if kind.bits == 32 else "e"
    try:
        return float(struct.unpack(code, struct.pack(code, near))[0])
    except OverflowError:
        return near


def _ticks_ns(kind: Kind, bound: Any) -> int:
    ns = clock_ns(bound) if kind.family == kinds.TIME else moment_ns(bound)
    if ns is None:
        if isinstance(bound, int | float | Decimal):
            raise NotComparable(f"a numeric bound needs a numeric column, not {kind.name}")
        raise NotComparable(f"{bound!r} is not a {kind.family}, and the column is {kind.name}")
    return ns


def equal(kind: Kind, value: Any) -> Constant | None:
    """The value that a column of this kind would hold for a config's value; None when it can hold no such.

    Raises:
        NotComparable: Columns of this kind hold no single values.
    """
    match kind.family:
        case kinds.TEXT:
            return _equal_text(value)
        case kinds.BOOLEAN:
            return _equal_boolean(value)
        case kinds.FLOAT:
            return _equal_float(kind, value)
        case kinds.INTEGER | kinds.DECIMAL:
            return _equal_exact(kind, value)
        case kinds.DATE | kinds.TIMESTAMP | kinds.TIME:
            return _equal_ticks(kind, value)
        case kinds.NULL:
            return None
    raise NotComparable(f"values are compared one by one, and the column is {kind.name}")


def _equal_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else None


def _equal_boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def _equal_float(kind: Kind, value: Any) -> float | None:
    if isinstance(value, float) and math.isnan(value):
        return value
    if isinstance(value, str) and value.strip().lower() == "nan":
        return math.nan
    number = as_number(value)
    if number is None or isinstance(number, float):
        return number
    near = _as_float(kind, number)
    if math.isinf(near):
        return None
    whole = isinstance(value, int)
    return None if whole and Fraction(near) != number else near


def _equal_exact(kind: Kind, value: Any) -> Constant | None:
    number = as_number(value)
    if number is None or isinstance(number, float):
        return None
    units = number * 10**kind.scale
    least, most = _extent(kind)
    if units.denominator != 1 or not least <= units <= most:
        return None
    return _exact(kind, int(units))


def _equal_ticks(kind: Kind, value: Any) -> int | None:
    ns = clock_ns(value) if kind.family == kinds.TIME else moment_ns(value)
    if ns is None:
        return None
    ticks, rest = divmod(ns, kind.ns_per_tick)
    return None if rest else ticks
