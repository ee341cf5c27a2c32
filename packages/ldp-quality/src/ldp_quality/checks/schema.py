"""Which columns there are, and of which types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ldp_core.errors import ConfigError
from ldp_core.shape import Key, ListOf, MapOf, OneOf, Shape, Text

from ldp_quality.checks.base import NAME, Check, CheckType, names
from ldp_quality.checks.drift import GRADES, IGNORE, Drift, one_of
from ldp_quality.checks.families import families_of, is_of
from ldp_quality.grade import FAIL
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Plan

EXACT, FAMILY = "exact", "family"
COMPARE = (EXACT, FAMILY)

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
    """The columns are there; given as a mapping, each with its type.

    Attributes:
        columns: A list of names, or name to Arrow type such as ``int64`` or ``timestamp[us, tz=UTC]``.
        missing: What a missing column means: ``fail``, ``warn`` or ``ignore``.
        added: What a column means that is not named here.
        type: What another type means.
        compare: ``exact``: the very type. ``family``: only what kind of value it is (string, number,
            temporal, boolean, binary, array, object, map), by the name of a type in Arrow, SQL or a contract.
        name: See ``Check``.

    Raises:
        ConfigError: No columns, a type that does not exist (nested types are not named exactly), or a word
            that none of the parameters knows.
    """

    kind: ClassVar[str] = "schema"
    counts_rows: ClassVar[bool] = False
    columns: Sequence[str] | Mapping[str, str]
    missing: str = FAIL
    added: str = IGNORE
    type: str = FAIL
    compare: str = EXACT

    def __post_init__(self) -> None:
        one_of(self.compare, "compare", COMPARE)
        _ = self._drift
        if not isinstance(self.columns, Mapping):
            object.__setattr__(self, "columns", names(self.columns, "columns"))
            return
        if not self.columns:
            raise ConfigError("columns must name at least one column", key="columns")
        for type_ in self.columns.values():
            if self.compare == FAMILY:
                if not isinstance(type_, str) or not families_of(type_):
                    raise ConfigError(
                        f"unknown type {type_!r}; use a family (string, number, temporal, boolean, binary, "
                        "array, object, map), or the name of a type such as 'int64' or 'varchar'",
                        key="columns",
                    )
            elif arrow_name(type_) is None:
                known = isinstance(type_, str) and families_of(type_)
                raise ConfigError(
                    f"unknown pyarrow type {type_!r}; use a name such as 'int64', 'double', 'string', "
                    "'bool', 'date32', 'timestamp[us]', 'timestamp[us, tz=UTC]' or 'decimal128(10, 2)'",
                    key="columns",
                    hint="compare: family compares what kind of value it is" if known else None,
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
        types = self.columns if isinstance(self.columns, Mapping) else {}
        wrong = {
            name: (wanted, columns[name].name)
            for name, wanted in types.items()
            if name in columns and not self._fits(columns[name], wanted)
        }
        return self._drift.find(tuple(self.columns), wrong, columns).judged(self.label)

    @property
    def _drift(self) -> Drift:
        return Drift(self.missing, self.added, self.type)

    def _fits(self, kind: Kind, wanted: str) -> bool:
        return is_of(kind, families_of(wanted)) if self.compare == FAMILY else arrow_name(wanted) == kind.name


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
            Key(
                "missing",
                Text(choices=GRADES),
                "What a missing column means: fail, warn or ignore.",
                default=FAIL,
            ),
            Key("added", Text(choices=GRADES), "What a column means that is not named.", default=IGNORE),
            Key("type", Text(choices=GRADES), "What another type means.", default=FAIL),
            Key(
                "compare",
                Text(choices=COMPARE),
                "exact: the very type. family: only what kind of value it is, such as number or temporal.",
                default=EXACT,
            ),
            NAME,
        ),
        doc="The columns are there, with these types.",
    ),
)
