"""What equality deletes compare: columns and fields of structs, dropped ones too. Standard library only.

Deletes hold whatever becomes of the schema, so a column that the read schema lacks is taken from the newest
schema of the table that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldp_core.tables.scan_types import told_apart


@dataclass(frozen=True)
class Compared:
    """How the fields of an equality delete are read and compared.

    Attributes:
        columns: The columns that have them.
        fields: For each field the id of its column and, from there inwards, its place in each struct, from 1.
        apart: Whether a column is not as the read schema has it; data files are read once more for it then.
    """

    columns: tuple[Mapping[str, Any], ...]
    fields: tuple[tuple[int, tuple[int, ...]], ...]
    apart: bool

    def values(self, alias: str) -> list[str]:
        """SQL for the value of each field, in a relation that has the columns as ``f<id>``."""
        found = []
        for number, places in self.fields:
            value = f"{alias}.f{number}"
            for place in places:
                value = f"struct_extract_at({value}, {place})"
            found.append(value)
        return found


def columns_of(
    schema: Mapping[str, Any], others: Iterable[Mapping[str, Any]], ids: Iterable[int]
) -> tuple[Mapping[str, Any], ...]:
    """The columns that have to be known besides a schema's, to compare these fields.

    A struct that still is there but has lost a compared field is given whole, with the field.

    Args:
        schema: The read schema.
        others: The table's other schemas, newest first.
        ids: Field ids that are compared; one that is in no schema, or within a list or a map, is left out.
    """
    here = {column["id"]: column for column in schema["fields"]}
    left = set(ids) - {number for column in here.values() for number in _fields(column)}
    found: dict[int, Mapping[str, Any]] = {}
    for other in others:
        for column in other["fields"]:
            if inside := left.intersection(_fields(column)):
                left -= inside
                known = found.get(column["id"], here.get(column["id"]))
                found[column["id"]] = column if known is None else _joined(known, column)
    columns: list[Mapping[str, Any]] = told_apart({"fields": [*found.values()]})["fields"]
    return tuple(_optional(column) for column in columns)


def compared(
    schema: Mapping[str, Any], besides: Sequence[Mapping[str, Any]], ids: Sequence[int]
) -> Compared | None:
    """How the fields of an equality delete are compared; None where one is in no column.

    Args:
        schema: The read schema.
        besides: From ``columns_of``.
        ids: The fields' ids.
    """
    here = {column["id"] for column in schema["fields"]}
    own = told_apart(schema)["fields"]
    apart = False
    for number in ids:
        column = next((column for column in (*own, *besides) if number in _fields(column)), None)
        if column is None:
            return None
        # Of two fields whose names differ in case only SQL takes the first for both.
        as_read = column in schema["fields"] or column["id"] == number or column["id"] not in here
        apart = apart or not as_read
    columns: dict[int, Mapping[str, Any]] = {}
    fields = []
    for number in ids:
        column = next(c for c in ((*besides, *own) if apart else (*own, *besides)) if number in _fields(c))
        columns[column["id"]] = _optional(column)
        fields.append((column["id"], _places(column, number) or ()))
    return Compared(tuple(columns.values()), tuple(fields), apart)


def _fields(column: Mapping[str, Any]) -> Iterator[int]:
    """The id of a column and those of the fields in it, not through lists and maps."""
    yield column["id"]
    for child in _children(column):
        yield from _fields(child)


def _places(column: Mapping[str, Any], number: int) -> tuple[int, ...] | None:
    if column["id"] == number:
        return ()
    for place, child in enumerate(_children(column), 1):
        inner = _places(child, number)
        if inner is not None:
            return (place, *inner)
    return None


def _children(column: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    kind = column["type"]
    found: Sequence[Mapping[str, Any]] = (
        () if isinstance(kind, str) or kind["type"] != "struct" else kind["fields"]
    )
    return found


def _joined(newer: Mapping[str, Any], older: Mapping[str, Any]) -> Mapping[str, Any]:
    """A struct with the fields of both definitions."""
    mine, theirs = _children(newer), _children(older)
    if not mine or not theirs:
        return newer
    known = {child["id"]: child for child in theirs}
    ids = {child["id"] for child in mine}
    fields = [_joined(child, known[child["id"]]) if child["id"] in known else child for child in mine]
    fields += [child for child in theirs if child["id"] not in ids]
    return {**newer, "type": {**newer["type"], "fields": fields}}


def _optional(column: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without requirements: a file that was written later, or a delete file, need not have it."""
    children = _children(column)
    made = {**column, "required": False}
    if children:
        made["type"] = {**column["type"], "fields": [_optional(child) for child in children]}
    return made
