"""Which columns there are, and of which types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, ListOf, MapOf, OneOf, Shape, Text

from ldp_quality.checks.base import NAME, Check, CheckType, names
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult

_SAME = {
    "str": "string",
    "utf8": "string",
    "large_utf8": "large_string",
    "large_str": "large_string",
    "boolean": "bool",
    "float64": "double",
    "float32": "float",
    "float16": "halffloat",
    "half": "halffloat",
    "date32": "date32[day]",
    "date64": "date64[ms]",
    "bytes": "binary",
    "large_bytes": "large_binary",
}
_PLAIN_NAMES = """
null bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 halffloat float double string
large_string string_view binary large_binary binary_view date32[day] date64[ms]
month_day_nano_interval
"""
_PLAIN = frozenset(_PLAIN_NAMES.split())
_PATTERNS = (
    re.compile(r"(timestamp)\[(s|ms|us|ns)(?:,\s*tz=(.+))?\]"),
    re.compile(r"(time32)\[(s|ms)\]"),
    re.compile(r"(time64)\[(us|ns)\]"),
    re.compile(r"(duration)\[(s|ms|us|ns)\]"),
    re.compile(r"(decimal(?:32|64|128|256))\(\s*(\d+)\s*,\s*(-?\d+)\s*\)"),
    re.compile(r"(fixed_size_binary)\[(\d+)\]"),
)


@dataclass(frozen=True)
class SchemaHas(Check):
    """The columns are there; given as a mapping, each with exactly its type.

    Attributes:
        columns: A list of names, or name to Arrow type such as ``int64`` or ``timestamp[us, tz=UTC]``.
        name: See ``Check``.

    Raises:
        ConfigError: No columns, or a type that does not exist (nested types are not named here).
    """

    kind: ClassVar[str] = "schema"
    counts_rows: ClassVar[bool] = False
    columns: Sequence[str] | Mapping[str, str]

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            object.__setattr__(self, "columns", names(self.columns, "columns"))
            return
        if not self.columns:
            raise ConfigError("columns must name at least one column", key="columns")
        for type_ in self.columns.values():
            if arrow_name(type_) is None:
                raise ConfigError(
                    f"unknown pyarrow type {type_!r}; use a name such as 'int64', 'double', 'string', "
                    "'bool', 'date32', 'timestamp[us]', 'timestamp[us, tz=UTC]' or 'decimal128(10, 2)'",
                    key="columns",
                )

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.columns)))

    def subject(self) -> str:
        """Nothing: it is about the batch."""
        return ""

    def needs(self) -> tuple[str, ...]:
        """None: a missing column is what it looks for."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """The schema alone decides."""
        missing = [name for name in self.columns if name not in columns]
        wrong = {}
        if isinstance(self.columns, Mapping):
            wrong = {
                name: {"expected": wanted, "actual": columns[name].name}
                for name, wanted in self.columns.items()
                if name in columns and arrow_name(wanted) != columns[name].name
            }
        found = [
            *([f"missing column(s) {missing}; the table has {list(columns)}"] if missing else []),
            *(f"{name} is {item['actual']}, expected {item['expected']}" for name, item in wrong.items()),
        ]
        details = "; ".join(found) or f"all {len(self.columns)} column(s) are as expected"

        def finish(facts: Facts) -> CheckResult:
            metrics: dict[str, Any] = {"missing_columns": missing, "type_mismatches": wrong}
            return self.result(facts, not found, details, metrics)

        return Plan(finish)


def arrow_name(type_: object) -> str | None:
    """The name that Arrow itself prints for a type, given in one of its spellings; None for no type."""
    if not isinstance(type_, str):
        return None
    text = _SAME.get(type_.strip(), type_.strip())
    if text in _PLAIN:
        return text
    for pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found:
            return _canonical(*(part for part in found.groups() if part is not None))
    return None


def _canonical(name: str, *parts: str) -> str:
    if name == "timestamp" and len(parts) == 2:
        return f"timestamp[{parts[0]}, tz={parts[1].strip()}]"
    if name.startswith("decimal"):
        return f"{name}({int(parts[0])}, {int(parts[1])})"
    return f"{name}[{parts[0]}]"


SCHEMA = CheckType(
    "schema",
    SchemaHas,
    Shape(
        (
            Key(
                "columns",
                OneOf((ListOf(Text(), 1), MapOf(Text()))),
                "Names, or name to Arrow type such as int64, string or timestamp[us].",
                required=True,
            ),
            NAME,
        ),
        doc="The columns are there, with these types.",
    ),
)
