"""Families of types: what a value is, whatever an engine calls its type; decimals and doubles are numbers."""

from __future__ import annotations

import re

from ldp_quality import kinds
from ldp_quality.kinds import Kind

PHYSICAL = {
    "string": "string, text, varchar, char, character, character varying, nvarchar, nchar, bpchar, varchar2, "
    "nvarchar2, clob, xml, longtext, mediumtext, tinytext, utf8, large_string, str, citext, name, enum",
    "integer": "int, integer, bigint, smallint, tinyint, mediumint, int2, int4, int8, int16, int32, int64, "
    "uint8, uint16, uint32, uint64, long, short, byteint, serial, bigserial, smallserial, hugeint, ubigint, "
    "uinteger, usmallint, utinyint",
    "number": "number, numeric, decimal, dec, float, double, real, float4, float8, float16, float32, "
    "float64, money, smallmoney, double precision, bignumeric, decimal128, decimal256",
    "boolean": "bool, boolean, bit",
    "date": "date, date32, date64",
    "timestamp": "timestamp, datetime, datetime2, smalldatetime, timestamp_ntz, timestamp_ltz, timestamp_tz, "
    "timestamptz, timestamp with time zone, timestamp without time zone, datetimeoffset",
    "time": "time, timetz, time with time zone, time without time zone, time32, time64",
    "binary": "binary, varbinary, bytes, blob, bytea, image, raw, large_binary, fixed",
    "uuid": "uuid, uniqueidentifier, guid",
    "object": "struct, record, object, row",
    "array": "array, list, repeated",
    "map": "map",
}
"""Logical types to the names that engines have for them."""
_LOGICAL_OF = {word: logical for logical, words in PHYSICAL.items() for word in words.split(", ")}
TEXTUAL = frozenset({"json", "jsonb", "variant", "super", "hstore"})
"""Physical types that hold an object or a list, in most places as a text."""
_OF_LOGICAL = {
    "integer": ("number",),
    "date": ("temporal",),
    "timestamp": ("temporal",),
    "timestamp with time zone": ("temporal",),
    "timestamp without time zone": ("temporal",),
    "time": ("temporal",),
    "uuid": ("other", "string", "binary"),
    "vector": ("array",),
    "json": ("other",),
    **{word: (word,) for word in ("string", "number", "temporal", "boolean", "binary")},
    **{word: (word,) for word in ("object", "array", "map")},
}
_OF_ARROW = {
    "bool": "boolean",
    "halffloat": "number",
    "string_view": "string",
    "binary_view": "binary",
    "fixed_size_binary": "binary",
    "decimal32": "number",
    "decimal64": "number",
    "duration": "other",
    "month_day_nano_interval": "other",
}
"""Types that only Arrow has."""
_OF_KIND = {
    **dict.fromkeys(kinds.NUMERIC, "number"),
    **dict.fromkeys(kinds.TEMPORAL, "temporal"),
    kinds.TEXT: "string",
    kinds.BOOLEAN: "boolean",
    kinds.BINARY: "binary",
}
_NESTED = {"struct": "object", "map": "map"}


def physical_family(written: str | None) -> list[str]:
    """The logical types of a physical type; none for one that nobody knows."""
    if not written:
        return []
    text = " ".join(written.lower().split())
    if text.endswith("[]"):
        return ["array"]
    word = _bare(text)
    if word in TEXTUAL:
        return ["string", "object", "array", "map", "json"]
    found = _LOGICAL_OF.get(word)
    return [found] if found else []


def families_of(written: str) -> frozenset[str]:
    """The families that a type may be of, by its name in a contract, in Arrow or in SQL; none for no type."""
    word = " ".join(written.lower().split())
    if word in _OF_LOGICAL:
        return frozenset(_OF_LOGICAL[word])
    arrow = _OF_ARROW.get(_bare(word))
    if arrow is not None:
        return frozenset({arrow})
    return frozenset(family for logical in physical_family(word) for family in _OF_LOGICAL[logical])


def is_of(kind: Kind, families: frozenset[str]) -> bool:
    """Whether a column is of one of these families; one of nulls alone is of each."""
    return kind.family == kinds.NULL or _family(kind) in families


def _family(kind: Kind) -> str:
    if kind.family == kinds.NESTED:
        return _NESTED.get(kind.name.partition("<")[0], "array")
    return _OF_KIND.get(kind.family, "other")


def _bare(text: str) -> str:
    """The name of a type without its parameters."""
    return re.sub(r"\s*[(<\[].*[)>\]]", "", text).strip()
