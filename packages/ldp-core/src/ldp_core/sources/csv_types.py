"""Type words of a config, and the DuckDB and Arrow types behind a column of text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = {
    "text": "text",
    "string": "text",
    "varchar": "text",
    "int": "int:INTEGER",
    "int32": "int:INTEGER",
    "integer": "int:INTEGER",
    "long": "int:BIGINT",
    "int64": "int:BIGINT",
    "bigint": "int:BIGINT",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "bool": "boolean",
    "boolean": "boolean",
    "date": "date",
    "date32": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "uuid": "uuid",
}
"""Words of ``columns`` in a config, besides ``decimal(P, S)``."""

_DECIMAL = re.compile(r"^decimal(?:128)?\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)$", re.IGNORECASE)


@dataclass(frozen=True)
class Cast:
    """How the text of one column becomes values.

    Attributes:
        kind: text, int, decimal, double, float, boolean, date, time, timestamp, timestamptz, uuid, or
            unknown (no value seen yet: any value is a violation).
        type: The DuckDB type.
        format: strptime format of a date or timestamp; for ISO timestamps the separator of an inferred
            column, a space or ``T``; None for any ISO form.
        lenient: Every text with exactly this value is taken (``5`` for ``5.00``), not only the plain
            spelling; holds for declared types and for those of an existing table.
        lossy: ``loss: allow``.
        comma: The decimal mark is a comma.
        nested: The Arrow type of nested values; ``format`` is their structure then.
    """

    kind: str
    type: str
    format: str | None = None
    lenient: bool = False
    lossy: bool = False
    comma: bool = False
    nested: pa.DataType | None = None

    def with_options(self, **changes: Any) -> Cast:
        """The same cast with some attributes changed."""
        return replace(self, **changes)

    @property
    def word(self) -> str:
        """The type as a user writes it in ``columns``."""
        if self.kind == "int":
            return "long" if self.type == "BIGINT" else "int" if self.type == "INTEGER" else self.type.lower()
        if self.kind == "decimal":
            return self.type.lower()
        return "text" if self.kind == "unknown" else self.kind

    def arrow(self) -> pa.DataType:
        """The Arrow type of the values."""
        import pyarrow as pa

        if self.nested is not None:
            return self.nested
        if self.kind == "decimal":
            precision, scale = (int(part) for part in re.findall(r"\d+", self.type))
            return pa.decimal128(precision, scale)
        plain: dict[str, pa.DataType] = {
            "TINYINT": pa.int8(),
            "SMALLINT": pa.int16(),
            "INTEGER": pa.int32(),
            "BIGINT": pa.int64(),
            "UTINYINT": pa.uint8(),
            "USMALLINT": pa.uint16(),
            "UINTEGER": pa.uint32(),
            "UBIGINT": pa.uint64(),
            "FLOAT": pa.float32(),
            "DOUBLE": pa.float64(),
            "BOOLEAN": pa.bool_(),
            "DATE": pa.date32(),
            "TIME": pa.time64("us"),
            "TIMESTAMP": pa.timestamp("us"),
            "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"),
            "UUID": pa.uuid(),
            "VARCHAR": pa.string(),
        }
        return plain[self.type]


TEXT = Cast("text", "VARCHAR")
UNKNOWN = Cast("unknown", "VARCHAR")
LONG = Cast("int", "BIGINT")
DOUBLE = Cast("double", "DOUBLE")
BOOLEAN = Cast("boolean", "BOOLEAN")
DATE = Cast("date", "DATE")
TIMESTAMP = Cast("timestamp", "TIMESTAMP")
TIMESTAMPTZ = Cast("timestamptz", "TIMESTAMPTZ")


def decimal(precision: int, scale: int) -> Cast:
    """A decimal type."""
    return Cast("decimal", f"DECIMAL({precision},{scale})")


def known_word(word: str) -> bool:
    """Whether a type of ``columns`` is one of ours."""
    return word.strip().lower() in WORDS or _decimal_word(word) is not None


def cast_of_word(word: str) -> Cast:
    """The cast that a declared type means.

    Raises:
        ConfigError: The word is no type.
    """
    found = _decimal_word(word)
    if found is not None:
        return found
    kind = WORDS.get(word.strip().lower())
    if kind is None:
        raise ConfigError(
            f"{word!r} is no type", hint=f"use one of {', '.join(sorted(WORDS))}, decimal(P, S)"
        )
    kind, _, type_name = kind.partition(":")
    return Cast(kind, type_name or {"text": "VARCHAR"}.get(kind, kind.upper()), lenient=kind != "text")


def _decimal_word(word: str) -> Cast | None:
    match = _DECIMAL.match(word.strip())
    if match is None:
        return None
    precision, scale = int(match[1]), int(match[2])
    if not (1 <= precision <= 38 and scale <= precision):
        return None
    return decimal(precision, scale).with_options(lenient=True)


def cast_of_arrow(type_: pa.DataType) -> Cast | None:
    """The cast into a column of an existing table; None where text cannot become such a value."""
    import pyarrow.types as types

    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return TEXT
    if types.is_dictionary(type_):
        return cast_of_arrow(type_.value_type)
    if types.is_integer(type_):
        names = {1: "TINYINT", 2: "SMALLINT", 4: "INTEGER", 8: "BIGINT"}
        name = names[type_.bit_width // 8]
        return Cast("int", f"U{name}" if types.is_unsigned_integer(type_) else name, lenient=True)
    if types.is_decimal(type_):
        return decimal(type_.precision, type_.scale).with_options(lenient=True)
    for test, cast in (
        (types.is_float64, DOUBLE),
        (types.is_float32, Cast("float", "FLOAT")),
        (types.is_boolean, BOOLEAN),
        (types.is_date, DATE),
        (types.is_time, Cast("time", "TIME")),
    ):
        if test(type_):
            return cast.with_options(lenient=True)
    if types.is_timestamp(type_):
        return (TIMESTAMPTZ if type_.tz else TIMESTAMP).with_options(lenient=True)
    if "uuid" in str(type_):
        return Cast("uuid", "UUID", lenient=True)
    return None
