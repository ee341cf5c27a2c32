"""Types against each other: the same, wider, narrower, or another.

A type is wider when every value of the old one is a value of it, within one family: an integer of more bits,
a decimal of more digits, a longer text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ldp_quality.contract._diff_change import BREAKING, INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_match import ABSENT
from ldp_quality.contract._diff_walk import told

_MEANS = {
    BREAKING: "not every old value fits it",
    LOOSENING: "every old value fits it, and wider ones may come",
    INFORMATIONAL: "it is the same type",
}
_INTEGERS = {
    **dict.fromkeys(("tinyint", "byte", "i8"), (8, True)),
    **dict.fromkeys(("smallint", "short", "int2", "int16", "i16"), (16, True)),
    **dict.fromkeys(("int", "integer", "int4", "int32", "i32"), (32, True)),
    **dict.fromkeys(("bigint", "long", "int64", "i64"), (64, True)),
    **dict.fromkeys(("hugeint", "int128", "i128"), (128, True)),
    **dict.fromkeys(("utinyint", "uint8", "u8"), (8, False)),
    **dict.fromkeys(("usmallint", "uint16", "u16"), (16, False)),
    **dict.fromkeys(("uinteger", "uint32", "u32"), (32, False)),
    **dict.fromkeys(("ubigint", "uint64", "u64"), (64, False)),
    **dict.fromkeys(("uhugeint", "uint128", "u128"), (128, False)),
}
_FLOATS = {
    **dict.fromkeys(("float", "real", "float4", "float32", "f32"), 24),
    **dict.fromkeys(("double", "double precision", "float8", "float64", "f64"), 53),
}
_DECIMALS = frozenset({"decimal", "numeric", "number"})
_FAMILIES = {
    "text": "string, text, varchar, char, character, character varying, bpchar, nchar, nvarchar, varchar2, "
    "nvarchar2, clob, utf8, str",
    "binary": "binary, varbinary, bytes, bytea, blob",
    "timestamp": "timestamp, datetime, timestamp_ntz, timestamp without time zone",
    "instant": "timestamptz, timestamp_tz, timestamp_ltz, timestamp with time zone",
    "time": "time, time without time zone",
    "boolean": "boolean, bool",
    "date": "date",
    "uuid": "uuid, uniqueidentifier, guid",
}
_SIZED = {word: family for family, words in _FAMILIES.items() for word in words.split(", ")}
_WRITTEN = re.compile(
    r"([a-z_][\w ]*?)\s*(?:\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\))?\s*( with(?:out)? time zone)?"
)


@dataclass(frozen=True)
class _Type:
    """A family, and how much it holds in each respect; None holds all that there is.

    Attributes:
        family: Types of one family are wider or narrower; others are other types.
        low: Numbers: the least whole one.
        high: Numbers: the greatest whole one.
        digits: Numbers: digits after the point; floats hold as many as come.
        mantissa: Floats: the bits of their whole numbers.
        size: Texts: the length; times: the digits of a second.
    """

    family: str
    low: int | None = None
    high: int | None = None
    digits: float = 0
    mantissa: int | None = None
    size: int | None = None

    def holds(self, other: _Type) -> bool:
        """Whether every value of another type is a value of this one."""
        if self.family != other.family:
            return False
        if self.size is not None and (other.size is None or other.size > self.size):
            return False
        if self.mantissa is None and other.mantissa is not None:
            return False
        if self.mantissa is not None and other.mantissa is not None:
            return self.mantissa >= other.mantissa
        low = self.low is None or (other.low is not None and self.low <= other.low)
        high = self.high is None or (other.high is not None and self.high >= other.high)
        exact = self.mantissa is None or other.digits == 0
        return low and high and exact and self.digits >= other.digits


def physical(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The ``physicalType`` of a property, or the ``format`` of a number."""
    yield from _typed(path, old, new, lambda: compared(_read(old), _read(new)))


def logical(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The ``logicalType`` of a property."""
    yield from _typed(path, old, new, lambda: LOOSENING if (old, new) == ("integer", "number") else BREAKING)


def _typed(path: str, old: Any, new: Any, compare: Callable[[], str]) -> Iterator[Change]:
    if old is ABSENT:
        yield from told(path, old, new, TIGHTENING, "the contract promises a type now")
    elif new is ABSENT:
        yield from told(path, old, new, LOOSENING, "readers cannot rely on a type")
    else:
        impact = compare()
        yield from told(path, old, new, impact, _MEANS[impact])


def compared(old: _Type | str, new: _Type | str) -> str:
    """The class of a change of type."""
    if old == new:
        return INFORMATIONAL
    if isinstance(old, str) or isinstance(new, str):
        return BREAKING
    return LOOSENING if new.holds(old) else BREAKING


def _read(written: Any) -> _Type | str:
    """A type by its name in one of the usual dialects; its bare text where the name is not known."""
    text = " ".join(str(written).lower().split())
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return text
    name, size, scale, zone = found.groups()
    name += zone or ""
    known = _number(name, size, scale)
    if known is not None:
        return known
    if name in _SIZED and scale is None:
        return _Type(_SIZED[name], size=int(size) if size else None)
    return text


def _number(name: str, size: str | None, scale: str | None) -> _Type | None:
    if name in _DECIMALS:
        if size is None:
            return _Type("number", digits=float("inf"))
        whole = 10 ** max(int(size) - int(scale or 0), 0)
        return _Type("number", 1 - whole, whole - 1, int(scale or 0))
    if size is not None:
        return None
    if name in _INTEGERS:
        bits, signed = _INTEGERS[name]
        half = 2 ** (bits - signed)
        return _Type("number", -half if signed else 0, half - 1)
    if name in _FLOATS:
        most = 2 ** _FLOATS[name]
        return _Type("number", -most, most, float("inf"), _FLOATS[name])
    return None
