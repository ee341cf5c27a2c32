"""Values that engines like to take for others, and how a check must take them, in plain Python."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

BASE_NS = 1_785_542_400_000_000_000
"""2026-08-01T00:00:00Z."""
BASE = datetime(2026, 8, 1, tzinfo=UTC)

FLOATS = st.sampled_from([0.0, -0.0, 0.1, 1.0, 1.5, 2.0**53, math.inf, -math.inf, math.nan, 1e-300])
INTS = st.sampled_from([0, 1, 2, 3, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
TEXTS = st.sampled_from(["", "a", "A", "b", "ab", "é", "1", "'", '"', "a\0b", "\U0001f600", "a\n", "_", "\\"])
CENTS = st.integers(-300, 300).map(lambda cents: Decimal(cents) / 100)
NANOS = st.sampled_from(
    [BASE_NS + step for step in (-(10**9), -1, 0, 1, 999, 1000, 5_000_000, 5_000_001, 10**9)]
)
_MICROS = NANOS.map(lambda ns: ns // 1000)

NUMBERS: list[Any] = [(pa.int64(), INTS), (pa.float64(), FLOATS), (pa.decimal128(6, 2), CENTS)]
KEYS: list[Any] = [
    (pa.int64(), INTS),
    (pa.float64(), FLOATS),
    (pa.string(), TEXTS),
    (pa.decimal128(38, 2), CENTS),
    (pa.timestamp("us"), _MICROS),
    (pa.timestamp("ns"), NANOS),
    (pa.timestamp("us", "UTC"), _MICROS),
    (pa.timestamp("ns", "Asia/Tokyo"), NANOS),
    (pa.bool_(), st.booleans()),
    (pa.list_(pa.float64()), st.lists(st.one_of(st.none(), FLOATS), max_size=2)),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), st.fixed_dictionaries({"a": INTS, "b": TEXTS})),
    (pa.null(), st.none()),
]


def column(values: st.SearchStrategy[Any], rows: int = 7) -> st.SearchStrategy[list[Any]]:
    """Values of a column, nulls among them."""
    return st.lists(st.one_of(st.none(), values), max_size=rows)


def frame(type_: pa.DataType, values: list[Any], name: str = "x") -> pa.Table:
    """A table of one column."""
    return pa.table({name: pa.array(values, type_, from_pandas=False)})


def key(value: Any) -> Any:
    """A value that is equal to another exactly when a unique key is: NaN to NaN, 0.0 to -0.0."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if isinstance(value, list):
        return ("list", *(key(item) for item in value))
    if isinstance(value, dict):
        return ("struct", *((name, key(item)) for name, item in value.items()))
    return value


def exact(value: Any) -> Fraction | float:
    """A number as it is."""
    return value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def written(value: Any) -> Fraction:
    """A bound as it is written: the float 0.1 is one tenth."""
    return Fraction(str(value))


def bound(type_: pa.DataType, value: Any) -> Fraction:
    """A bound as a column reads it: for floats the float that is written."""
    floats = pa.types.is_floating(type_) and not isinstance(value, int)
    return Fraction(float(value)) if floats else written(value)


def iso(ns: int) -> str:
    """Nanoseconds since 1970 as ISO 8601."""
    at = datetime.fromtimestamp(ns // 10**9, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ns % 10**9:09d}Z"


def same(value: Any, accepted: Any) -> bool:
    """Whether a value is an accepted one."""
    if isinstance(value, str):
        return value == (accepted if isinstance(accepted, str) else _numeral(accepted))
    if isinstance(value, bool) or isinstance(accepted, bool):
        return isinstance(value, bool) and isinstance(accepted, bool) and value == accepted
    if isinstance(value, float) and not math.isfinite(value):
        return False
    try:
        return accepted is not None and Fraction(value) == Fraction(str(accepted).strip())
    except ValueError:
        return False


def _numeral(accepted: Any) -> str | None:
    number = isinstance(accepted, int | float) and not isinstance(accepted, bool)
    return str(accepted) if number else None
