"""The kind of a column, told apart from any engine: what its values can be compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

INTEGER, FLOAT, DECIMAL, BOOLEAN, TEXT = "integer", "float", "decimal", "boolean", "text"
DATE, TIMESTAMP, TIME, BINARY, NULL, NESTED, OTHER = (
    "date",
    "timestamp",
    "time",
    "binary",
    "null",
    "nested",
    "other",
)
NUMERIC = frozenset({INTEGER, FLOAT, DECIMAL})
TEMPORAL = frozenset({DATE, TIMESTAMP, TIME})
INSTANTS = frozenset({DATE, TIMESTAMP})
ORDERED = NUMERIC | TEMPORAL | {TEXT}

NS_PER_TICK = {"day": 86_400_000_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds in one tick of a temporal column, by its unit."""


@dataclass(frozen=True)
class Kind:
    """What a column holds.

    Attributes:
        family: One of the names above.
        name: The Arrow type as text, for messages and metrics.
        unit: Temporal columns: what one tick is, ``day``, ``us`` or ``ns``.
        zone: Timestamps: whether they are instants of a time zone.
        low: Integers: the smallest value.
        high: Integers: the largest value.
        bits: Floats: 16, 32 or 64.
        precision: Decimals.
        scale: Decimals.
        nan: Whether a value may be no number, as floats may, and PostgreSQL's decimals.
        parts: Nested columns: what is inside, each with its name: the fields of a struct, ``items`` of a
            list, ``key`` and ``value`` of a map.
    """

    family: str
    name: str
    unit: str = ""
    zone: bool = False
    low: int = 0
    high: int = 0
    bits: int = 0
    precision: int = 0
    scale: int = 0
    nan: bool = False
    parts: tuple[tuple[str, Kind], ...] = ()

    @property
    def ns_per_tick(self) -> int:
        """Nanoseconds in one tick of a temporal column."""
        return NS_PER_TICK[self.unit]


def kind_of(type_: pa.DataType) -> Kind:
    """The kind of an Arrow type; a dictionary is what its values are."""
    import pyarrow.types as is_

    name = str(type_)
    inner = type_.value_type if is_.is_dictionary(type_) or is_.is_run_end_encoded(type_) else type_
    if hasattr(inner, "storage_type"):
        return Kind(OTHER, name)
    if is_.is_integer(inner):
        signed = is_.is_signed_integer(inner)
        bits = inner.bit_width
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        return Kind(INTEGER, name, low=low, high=high)
    if is_.is_floating(inner):
        return Kind(FLOAT, name, bits=inner.bit_width, nan=True)
    if is_.is_decimal(inner) and inner.precision <= 38:
        return Kind(DECIMAL, name, precision=inner.precision, scale=inner.scale)
    if is_.is_timestamp(inner):
        return Kind(TIMESTAMP, name, unit=_tick(inner.unit), zone=inner.tz is not None)
    if is_.is_time(inner):
        return Kind(TIME, name, unit=_tick(inner.unit))
    return Kind(
        _plain_family(inner), name, unit="day" if is_.is_date(inner) else "", parts=tuple(_parts(inner))
    )


def _parts(type_: pa.DataType) -> Iterator[tuple[str, Kind]]:
    import pyarrow.types as is_

    if is_.is_struct(type_):
        yield from ((field.name, kind_of(field.type)) for field in type_)
    elif is_.is_map(type_):
        yield from (("key", kind_of(type_.key_type)), ("value", kind_of(type_.item_type)))
    elif is_.is_nested(type_) and hasattr(type_, "value_type"):
        yield "items", kind_of(type_.value_type)


def _tick(unit: str) -> str:
    """Seconds and milliseconds are counted in microseconds, which lose nothing of them."""
    return "ns" if unit == "ns" else "us"


def _plain_family(type_: pa.DataType) -> str:
    import pyarrow as pa
    import pyarrow.types as is_

    if is_.is_boolean(type_):
        return BOOLEAN
    if is_.is_date(type_):
        return DATE
    if is_.is_null(type_):
        return NULL
    if type_ in (pa.string(), pa.large_string(), pa.string_view()):
        return TEXT
    if is_.is_nested(type_):
        return NESTED
    binary = (
        is_.is_binary(type_)
        or is_.is_large_binary(type_)
        or is_.is_binary_view(type_)
        or is_.is_fixed_size_binary(type_)
    )
    return BINARY if binary else OTHER
