"""What the schema of a contract promises of a column: the checks that follow from its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ldp_core.errors import ConfigError

from ldp_quality.checks.base import Check
from ldp_quality.checks.families import physical_family
from ldp_quality.checks.metric import INVALID, Metric
from ldp_quality.checks.not_run import NotRun
from ldp_quality.checks.operators import Operator
from ldp_quality.checks.range import Range
from ldp_quality.checks.rows import AcceptedValues, NotNull, Regex
from ldp_quality.checks.unique import Unique
from ldp_quality.checks.valid import Valid
from ldp_quality.contract._formats import INTEGERS, SILENT, TEXTS
from ldp_quality.contract._relations import relation
from ldp_quality.contract._types import is_text
from ldp_quality.contract.model import Contract, ContractProperty, ContractTable
from ldp_quality.instants import clock_ns, moment_ns

_INSTANTS = ("date", "timestamp")
_WORDS_ONLY = {
    "defaultTimezone",
    "timezone",
    "distanceMetric",
    "embeddingModel",
    "embeddingModelVersion",
}
"""Options that promise nothing of a value, or are judged with the types."""
_OF_PARTS = {
    "minProperties": "what is inside an object is not looked at",
    "maxProperties": "what is inside an object is not looked at",
    "required": "what is inside an object is not looked at",
    "elementType": "the type of the items is not looked at",
    "normalized": "the length of vectors is not computed",
}
_PROMISES = ("required", "unique", "primaryKey", "enum", "logicalTypeOptions")


@dataclass(frozen=True)
class Derived:
    """A check that follows from a key.

    Attributes:
        check: The check.
        key: The key, from that of the property or the table on.
    """

    check: Check
    key: str


def of_table(table: ContractTable, contract: Contract) -> Iterator[Derived]:
    """The primary key: a value in each of its columns, and no key twice."""
    key = table.primary_key
    if key:
        required = {item.column for item in table.properties if item.required}
        at = next(at for at, item in enumerate(table.properties) if item.primary_key)
        place = f"properties[{at}].primaryKey"
        rest = [column for column in key if column not in required]
        if rest:
            yield Derived(NotNull(rest), place)
        yield Derived(Unique(key), place)
    for at, said in enumerate(table.values.get("relationships") or ()):
        check = relation(said.get("from"), said.get("to"), table, contract)
        yield Derived(check, f"relationships[{at}]")


def of_column(item: ContractProperty, table: ContractTable, contract: Contract) -> Iterator[Derived]:
    """What the keys of a property promise."""
    if item.required:
        yield Derived(NotNull(item.column), "required")
    if item.unique and table.primary_key != (item.column,):
        yield Derived(Unique(item.column), "unique")
    if item.accepted:
        yield Derived(AcceptedValues(item.column, item.accepted), "enum")
    yield from _options(item)
    for at, said in enumerate(item.values.get("relationships") or ()):
        check = relation(f"{table.name}.{item.name}", said.get("to"), table, contract)
        yield Derived(check, f"relationships[{at}]")
    for part in item.parts:
        yield from _inside(part, item)
    yield from _in_text(item)


def _inside(part: ContractProperty, outer: ContractProperty) -> Iterator[Derived]:
    """Promises of what is inside a column."""
    path = f"{outer.name}.{part.name}"
    promised = [key for key in _PROMISES if part.values.get(key)]
    if promised or part.quality:
        about = ", ".join([*promised, *(["quality"] if part.quality else [])])
        yield Derived(
            NotRun(f"{path} is inside a column, and only whole columns are looked at", f"{path}: {about}"), ""
        )
    for deeper in part.parts:
        yield from _inside(deeper, ContractProperty(path, path, {}, part.origin))


def _in_text(item: ContractProperty, path: str = "") -> Iterator[Derived]:
    """What a text may hold: nobody looks at its names and types."""
    path = path or item.name
    if item.parts and is_text(item):
        yield Derived(
            NotRun(f"{path} may be a text, and what is in it is not looked at", f"{path}: parts"), ""
        )
        return
    for part in item.parts:
        yield from _in_text(part, f"{path}.{part.name}")


def _options(item: ContractProperty) -> Iterator[Derived]:
    options = {name: value for name, value in item.options.items() if value is not None}
    known: set[str] = set(_WORDS_ONLY)
    for keys, make in _MAKERS:
        given = {name: options[name] for name in keys if name in options}
        known |= set(keys)
        if not given:
            continue
        place = f"logicalTypeOptions.{next(iter(given))}"
        try:
            check = make(item, given)
        except ConfigError as error:
            check = NotRun(error.message, f"{item.name}: {', '.join(given)}")
        if check is not None:
            yield Derived(check, place)
    for name in options:
        place = f"logicalTypeOptions.{name}"
        if name in _OF_PARTS and options[name] not in (False, 0):
            yield Derived(NotRun(_OF_PARTS[name], f"{item.name}: {name}"), place)
        elif name not in known and name not in _OF_PARTS:
            yield Derived(NotRun(f"the standard has no option {name}", f"{item.name}: {name}"), place)


def _invalid(item: ContractProperty, **valid: Any) -> Check:
    none = (Operator.of("mustBe", 0),)
    conditions = Valid(**{name: value for name, value in valid.items() if value is not None})
    return Metric(INVALID, none, (item.column,), valid=conditions)


def _bounds(item: ContractProperty, given: Mapping[str, Any]) -> Check | None:
    """Least and largest values; 3.0.2 says of an exclusive bound only that it is one."""
    low, high = given.get("minimum"), given.get("maximum")
    above, below = given.get("exclusiveMinimum"), given.get("exclusiveMaximum")
    if isinstance(above, bool):
        low, above = (None, low) if above else (low, None)
    if isinstance(below, bool):
        high, below = (None, high) if below else (high, None)
    for bound in (low, high, above, below):
        if isinstance(bound, str) and not _moment(item, bound):
            raise ConfigError(f"{bound} is no {item.logical_type} that can be read")
    if above is None and below is None:
        return None if low is None and high is None else Range(item.column, low, high)
    return _invalid(item, min=low, max=high, above=above, below=below)


def _moment(item: ContractProperty, bound: str) -> bool:
    if item.logical_type == "time":
        return clock_ns(bound) is not None
    return item.logical_type not in _INSTANTS or moment_ns(bound) is not None


def _length(item: ContractProperty, given: Mapping[str, Any]) -> Check:
    return _invalid(item, min_length=given.get("minLength"), max_length=given.get("maxLength"))


def _items(item: ContractProperty, given: Mapping[str, Any]) -> Check | None:
    most, least = given.get("maxItems"), given.get("minItems") or None
    if least is None and most is None and not given.get("uniqueItems"):
        return None
    return _invalid(item, min_length=least, max_length=most, distinct=given.get("uniqueItems") is True)


def _dimensions(item: ContractProperty, given: Mapping[str, Any]) -> Check:
    return _invalid(item, min_length=given["dimensions"], max_length=given["dimensions"])


def _pattern(item: ContractProperty, given: Mapping[str, Any]) -> Check:
    return Regex(item.column, given["pattern"])


def _multiple(item: ContractProperty, given: Mapping[str, Any]) -> Check:
    return _invalid(item, multiple_of=given["multipleOf"])


def _format(item: ContractProperty, given: Mapping[str, Any]) -> Check | None:
    word = given["format"]
    if item.logical_type in (*_INSTANTS, "time") or word in SILENT:
        return None
    if word == "uuid" and "uuid" in physical_family(item.physical_type):
        return None
    if word == "byte" and "binary" in physical_family(item.physical_type):
        return None
    if item.logical_type in ("integer", "number") and word in INTEGERS:
        return Range(item.column, *INTEGERS[word])
    if word in TEXTS:
        return Regex(item.column, TEXTS[word], name=f"format({item.column})")
    return NotRun(f"the format {word} is not known", f"{item.name}: format")


_MAKERS: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("minLength", "maxLength"), _length),
    (("pattern",), _pattern),
    (("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bounds),
    (("multipleOf",), _multiple),
    (("format",), _format),
    (("minItems", "maxItems", "uniqueItems"), _items),
    (("dimensions",), _dimensions),
)
