"""Which columns there are, and what kind of values each holds; not the exact type of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ldp_core.errors import ConfigError

from ldp_quality import kinds
from ldp_quality.checks.base import Check
from ldp_quality.checks.drift import Drift, one_of
from ldp_quality.checks.families import families_of, is_of
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Plan

LOGICALLY, BY_FAMILY = "logical", "family"
DRIFT = Drift()
COMPARE = (LOGICALLY, BY_FAMILY)

LOGICAL = {
    "string": (kinds.TEXT,),
    "date": (kinds.DATE,),
    "timestamp": (kinds.TIMESTAMP,),
    "timestamp with time zone": (kinds.TIMESTAMP,),
    "timestamp without time zone": (kinds.TIMESTAMP,),
    "time": (kinds.TIME,),
    "number": (kinds.INTEGER, kinds.DECIMAL, kinds.FLOAT),
    "integer": (kinds.INTEGER,),
    "boolean": (kinds.BOOLEAN,),
    "binary": (kinds.BINARY,),
    "uuid": (kinds.OTHER, kinds.TEXT, kinds.BINARY),
    "object": (kinds.NESTED,),
    "array": (kinds.NESTED,),
    "map": (kinds.NESTED,),
    "vector": (kinds.NESTED,),
}
"""Logical types to the families of columns that hold them."""
_SHAPES = {"object": "struct", "array": "list", "map": "map", "vector": "list"}


@dataclass(frozen=True)
class LogicalTypes(Check):
    """The columns are there, each with values of one of its logical types.

    A column without a type of its own (only nulls) fits each; a whole number fits ``integer`` in a decimal
    column without digits after the point, too.

    Attributes:
        columns: Column to logical types; none accepts every type.
        drift: What a column that is missing, was added or is of another type means.
        compare: ``logical``: a whole number is none with digits after the point, a date is no timestamp.
            ``family``: only strings, numbers, temporal values and booleans are told apart.
        name: See ``Check``.

    Raises:
        ConfigError: No columns, an unknown logical type, or another word in ``compare``.
    """

    kind: ClassVar[str] = "schema"
    counts_rows: ClassVar[bool] = False
    columns: Mapping[str, tuple[str, ...]]
    drift: Drift = DRIFT
    compare: str = LOGICALLY

    def __post_init__(self) -> None:
        one_of(self.compare, "compare", COMPARE)
        if not self.columns:
            raise ConfigError("columns must name at least one column", key="columns")
        for types in self.columns.values():
            for type_ in types:
                if type_ not in LOGICAL:
                    raise ConfigError(f"unknown logical type {type_}; known: {', '.join(LOGICAL)}")

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.columns.items())))

    def subject(self) -> str:
        """Nothing: it is about the batch."""
        return ""

    def needs(self) -> tuple[str, ...]:
        """None: a missing column is what it looks for."""
        return ()

    def plan(self, columns: Mapping[str, Kind], context: Context) -> Plan:
        """The schema alone decides."""
        wrong = {
            name: " or ".join(types)
            for name, types in self.columns.items()
            if name in columns and types and not any(self._fits(columns[name], type_) for type_ in types)
        }
        return self.drift.find(tuple(self.columns), wrong, columns).judged(self.label)

    def _fits(self, kind: Kind, type_: str) -> bool:
        return is_of(kind, families_of(type_)) if self.compare == BY_FAMILY else fits(kind, type_)


def fits(kind: Kind, type_: str) -> bool:
    """Whether a column of this kind holds values of a logical type."""
    if kind.family == kinds.NULL:
        return True
    if type_ == "integer" and kind.family == kinds.DECIMAL:
        return kind.scale <= 0
    if kind.family not in LOGICAL[type_]:
        return False
    if kind.family == kinds.TIMESTAMP and type_ != "timestamp":
        return kind.zone is (type_ == "timestamp with time zone")
    shape = _SHAPES.get(type_)
    return shape is None or shape in kind.name.partition("<")[0]
