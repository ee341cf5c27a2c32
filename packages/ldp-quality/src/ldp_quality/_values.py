"""Values of rows as JSON, without losing digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ldp_quality import kinds
from ldp_quality.instants import show_ticks
from ldp_quality.kinds import Kind, kind_of

if TYPE_CHECKING:
    import pyarrow as pa


def plain(scalar: pa.Scalar) -> Any:
    """An Arrow scalar as JSON: dates and decimals as text, bytes as hex, NaN and infinities as text."""
    import pyarrow as pa

    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.ExtensionScalar):
        return plain(scalar.value)
    if isinstance(scalar, pa.MapScalar):
        return [[plain(item["key"]), plain(item["value"])] for item in scalar.values]
    if isinstance(scalar, pa.StructScalar):
        return {name: plain(item) for name, item in scalar.items()}
    if isinstance(scalar, pa.ListScalar):
        return [plain(item) for item in scalar.values]
    kind = kind_of(scalar.type)
    if kind.family in kinds.TEMPORAL:
        return show_ticks(kind, _ticks(scalar, kind))
    return json_value(scalar.as_py())


def _ticks(scalar: pa.Scalar, kind: Kind) -> int:
    if kind.family == kinds.DATE:
        per_day = 86_400_000 if str(scalar.type).startswith("date64") else 1
        return int(scalar.value) // per_day
    per_second = {"s": 1_000_000, "ms": 1_000}
    return int(scalar.value) * per_second.get(scalar.type.unit, 1)


def json_value(value: Any) -> Any:
    """A Python value as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in value]
    return str(value)


def shown(kind: Kind, value: Any, *, separator: str = " ") -> Any:
    """What an executor says of a column (temporal ones as ticks), as JSON."""
    if value is not None and kind.family in kinds.TEMPORAL:
        return show_ticks(kind, value, separator=separator)
    return json_value(value)
