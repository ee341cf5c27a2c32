"""The kinds of values that a property's types allow."""

from __future__ import annotations

import re

from ldp_quality.checks.logical import LOGICAL
from ldp_quality.contract.model import ContractProperty, ContractTable

_PHYSICAL = {
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
_LOGICAL_OF = {word: logical for logical, words in _PHYSICAL.items() for word in words.split(", ")}
_TEXTUAL = {"json", "jsonb", "variant", "super", "hstore"}
"""Physical types that hold an object or a list as a text."""


def types_of(table: ContractTable) -> dict[str, tuple[str, ...]]:
    """Each column with the logical types that it may have; none where the contract says nothing of it.

    Either of the two types that a property may name is enough: ``logicalType: date`` with
    ``physicalType: timestamp`` is a date or a timestamp. A measure is no column.
    """
    return {item.column: accepted(item) for item in table.properties if not is_measure(item)}


def is_measure(item: ContractProperty) -> bool:
    """Whether it is computed from columns, and none itself."""
    return item.values.get("semanticType") == "measure"


def accepted(item: ContractProperty) -> tuple[str, ...]:
    """The logical types that a column may have."""
    logical, physical = item.logical_type, physical_family(item.physical_type)
    found = [logical] if logical else []
    if logical == "timestamp" and isinstance(item.options.get("timezone"), bool):
        words = {True: "timestamp with time zone", False: "timestamp without time zone"}
        return (words[item.options["timezone"]],)
    if physical:
        found += physical
    if logical == "string" and item.options.get("format") in ("binary", "byte"):
        found.append("binary")
    if logical == "string" and item.options.get("format") == "uuid":
        found.append("uuid")
    return tuple(dict.fromkeys(type_ for type_ in found if type_ in LOGICAL))


def physical_family(written: str | None) -> list[str]:
    """The logical types of a physical type; none for one that nobody knows."""
    if not written:
        return []
    text = " ".join(written.lower().split())
    if text.endswith("[]"):
        return ["array"]
    word = re.sub(r"\s*[(<\[].*[)>\]]", "", text).strip()
    if word in _TEXTUAL:
        return ["string", "object", "array", "map"]
    found = _LOGICAL_OF.get(word)
    return [found] if found else []
