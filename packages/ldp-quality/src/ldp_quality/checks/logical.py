"""Which columns there are, and what kind of values each holds; not the exact type of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ldp_core.errors import ConfigError

from ldp_quality import kinds
from ldp_quality.checks.base import Check
from ldp_quality.kinds import Kind
from ldp_quality.plan import Context, Facts, Plan
from ldp_quality.result import CheckResult

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
        name: See ``Check``.

    Raises:
        ConfigError: No columns, or an unknown logical type.
    """

    kind: ClassVar[str] = "schema"
    counts_rows: ClassVar[bool] = False
    columns: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
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
        missing = [name for name in self.columns if name not in columns]
        wrong = {
            name: {"expected": " or ".join(types), "actual": columns[name].name}
            for name, types in self.columns.items()
            if name in columns and types and not any(fits(columns[name], type_) for type_ in types)
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
