"""Which columns there are, and what kind of values each holds; not the exact type of an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ldp_core.errors import ConfigError

from ldp_quality import kinds
from ldp_quality.checks.base import Check
from ldp_quality.checks.drift import Drift, one_of
from ldp_quality.checks.families import TEXTUAL, families_of, is_of
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
    "json": (kinds.OTHER,),
    "uuid": (kinds.OTHER, kinds.TEXT, kinds.BINARY),
    "object": (kinds.NESTED,),
    "array": (kinds.NESTED,),
    "map": (kinds.NESTED,),
    "vector": (kinds.NESTED,),
}
"""Logical types to the families of columns that hold them."""
_SHAPES = {"object": "struct", "array": "list", "map": "map", "vector": "list"}


@dataclass(frozen=True)
class Part:
    """What a column has inside: a field of an object, the items of an array, the keys or values of a map.

    Attributes:
        name: That of a field; ``items``, ``key`` or ``value``.
        holder: ``object``, ``array`` or ``map``: what it is a part of.
        types: Its logical types; none accepts every type.
        parts: What is inside of it.
    """

    name: str
    holder: str
    types: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


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
        inside: Column to what is inside of it.
        name: See ``Check``.

    Raises:
        ConfigError: No columns, an unknown logical type, or another word in ``compare``.
    """

    kind: ClassVar[str] = "schema"
    counts_rows: ClassVar[bool] = False
    columns: Mapping[str, tuple[str, ...]]
    drift: Drift = DRIFT
    compare: str = LOGICALLY
    inside: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)

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
        wrong: dict[str, tuple[str, str]] = {}
        lost: list[str] = []
        for name, types in self.columns.items():
            if name in columns:
                for path, expected, kind in self._found(
                    name, columns[name], types, self.inside.get(name, ())
                ):
                    if kind is None:
                        lost.append(path)
                    else:
                        wrong[path] = expected, kind.name
        return self.drift.find(tuple(self.columns), wrong, columns, lost).judged(self.label)

    def _found(
        self, path: str, kind: Kind, types: tuple[str, ...], parts: tuple[Part, ...]
    ) -> Iterator[tuple[str, str, Kind | None]]:
        """What is of another type, and with no kind at all what is missing inside."""
        if types and not any(self._fits(kind, type_) for type_ in types):
            yield path, " or ".join(types), kind
            return
        for part in parts if kind.family == kinds.NESTED else ():
            here = f"{path}.{part.name}"
            inner = _inner(kind, part)
            if inner is not None:
                yield from self._found(here, inner, part.types, part.parts)
            elif _shape(kind) == _SHAPES[part.holder]:
                yield here, "", None

    def _fits(self, kind: Kind, type_: str) -> bool:
        return is_of(kind, families_of(type_)) if self.compare == BY_FAMILY else fits(kind, type_)


def _inner(kind: Kind, part: Part) -> Kind | None:
    """The kind of a part; in PostgreSQL an array of arrays has the type of an array."""
    if _shape(kind) != _SHAPES[part.holder]:
        return None
    if kind.name.endswith("[]") and part.types == ("array",):
        return kind
    return dict(kind.parts).get(part.name)


def _shape(kind: Kind) -> str:
    """``struct``, ``map`` or ``list``; nothing for other nested kinds."""
    name = kind.name.partition("<")[0]
    return name if name in ("struct", "map") else "list" if "list" in name or name.endswith("[]") else ""


def fits(kind: Kind, type_: str) -> bool:
    """Whether a column of this kind holds values of a logical type."""
    if kind.family == kinds.NULL:
        return True
    if type_ == "integer" and kind.family == kinds.DECIMAL:
        return kind.scale <= 0
    if kind.family not in LOGICAL[type_]:
        return False
    if type_ == "json":
        return kind.name in TEXTUAL or "arrow.json" in kind.name
    if kind.family == kinds.TIMESTAMP and type_ != "timestamp":
        return kind.zone is (type_ == "timestamp with time zone")
    return type_ not in _SHAPES or _shape(kind) == _SHAPES[type_]
