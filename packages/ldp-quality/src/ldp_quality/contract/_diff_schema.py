"""Tables and their columns: what is there, and what a value of it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldp_quality.contract._diff_change import BREAKING, INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_custom import custom, grading
from ldp_quality.contract._diff_match import ABSENT, By, by, same
from ldp_quality.contract._diff_options import NUMBERS, options
from ldp_quality.contract._diff_rules import quality, relationships
from ldp_quality.contract._diff_types import logical, physical
from ldp_quality.contract._diff_walk import (
    Differ,
    fields,
    flag,
    judged,
    mapping,
    members,
    plain,
    promise,
    told,
)

_WAYS: tuple[By, ...] = (by("id"), by("name"))
_VIEWS = frozenset({"table", "view", "materialized view"})
_DEPRECATED = flag(LOOSENING, "readers should stop to use it", INFORMATIONAL, "it is there to stay")
_CONSTRAINTS = ("unique", "enum", "quality", "relationships")
"""What makes a new column refuse rows, besides being required."""


def tables(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The ``schema`` of a contract."""
    yield from members(path, old, new, _WAYS, _table)


def _table(path: str, old: Any, new: Any) -> Iterator[Change]:
    if new is ABSENT:
        yield from told(path, old, new, BREAKING, "the table is gone")
    elif old is ABSENT:
        yield from told(path, old, new, INFORMATIONAL, "the table is new")
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        special: dict[str, Differ] = {
            "name": _renamed,
            "physicalName": _named_by(old, new),
            "physicalType": _kind_of_table,
            "properties": _columns,
            "quality": quality,
            "relationships": relationships,
            "customProperties": custom,
            "deprecated": _DEPRECATED,
        }
        yield from grading(path, old, new)
        yield from fields(path, old, new, special)
    else:
        yield from plain(path, old, new)


def _columns(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from members(path, old, new, _WAYS, _column)


def _column(path: str, old: Any, new: Any) -> Iterator[Change]:
    if new is ABSENT:
        yield from told(path, old, new, BREAKING, "readers of the column fail")
    elif old is ABSENT:
        yield from _new_column(path, new)
    else:
        yield from element(path, old, new)


def _new_column(path: str, new: Any) -> Iterator[Change]:
    column = new if isinstance(new, Mapping) else {}
    if column.get("required") is True or column.get("primaryKey") is True:
        yield from told(path, ABSENT, new, BREAKING, "a new column that writers must fill")
    elif any(column.get(name) for name in _CONSTRAINTS):
        yield from told(path, ABSENT, new, TIGHTENING, "a new column whose values are checked")
    else:
        yield from told(path, ABSENT, new, INFORMATIONAL, "a new column that may be empty")


def element(path: str, old: Any, new: Any) -> Iterator[Change]:
    """A column, a field of an object, the items of an array, the key or the value of a map."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield from promise(path, old, new)
        return
    was, now = (written.get("logicalType") for written in (old, new))
    type_ = now if same(was, now) else "number" if was in NUMBERS and now in NUMBERS else None
    special: dict[str, Differ] = {
        "name": _renamed,
        "physicalName": _named_by(old, new),
        "logicalType": logical,
        "physicalType": physical,
        "logicalTypeOptions": lambda path, old, new: mapping(path, old, new, options(type_)),
        "required": flag(
            BREAKING, "rows without a value are refused", LOOSENING, "readers may now meet null"
        ),
        "unique": flag(
            BREAKING, "a value that comes twice is refused", LOOSENING, "readers may meet a value twice"
        ),
        "primaryKey": flag(
            BREAKING, "another key tells rows apart", BREAKING, "another key tells rows apart"
        ),
        "enum": _enum,
        "properties": _columns,
        "items": element,
        "map": lambda path, old, new: mapping(path, old, new, _map),
        "quality": quality,
        "relationships": relationships,
        "customProperties": custom,
        "deprecated": _DEPRECATED,
    }
    yield from grading(path, old, new)
    yield from fields(path, old, new, special)


def _map(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    yield from fields(path, old, new, {"key": element, "value": element})


def _renamed(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from told(path, old, new, BREAKING, "it has another name, by which its readers do not know it")


def _named_by(old: Mapping[str, Any], new: Mapping[str, Any]) -> Differ:
    """The name in the database, which is that of the contract where none is said."""

    def differ(path: str, was: Any, now: Any) -> Iterator[Change]:
        before = old.get("name") if was is ABSENT else was
        after = new.get("name") if now is ABSENT else now
        if same(before, after) or (was is ABSENT and now is ABSENT):
            yield from told(path, was, now, INFORMATIONAL, "the database knows it by the same name")
        else:
            yield from told(path, was, now, BREAKING, "queries know it by the old name")

    return differ


def _kind_of_table(path: str, old: Any, new: Any) -> Iterator[Change]:
    words = {str(value).lower() for value in (old, new) if value is not ABSENT}
    if old is ABSENT or new is ABSENT or words <= _VIEWS or len(words) == 1:
        yield from told(path, old, new, INFORMATIONAL, "it is read in the same way")
    else:
        yield from told(path, old, new, BREAKING, "it is read in another way")


def _enum(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The values that are allowed; with no list all are."""
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        yield from members(path, old, new, (by("value"),), _allowed)
    else:
        yield from promise(path, old, new)


def _allowed(path: str, old: Any, new: Any) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from plain(path, old, new)
    else:
        yield from told(path, old, new, *judged(LOOSENING if old is ABSENT else TIGHTENING))
