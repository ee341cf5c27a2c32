"""Iceberg types, in the JSON form of the table specification, as DuckDB types. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ldp_core._duck import ident

_PLAIN = {
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ns": "TIMESTAMP_NS",
    "string": "VARCHAR",
    "uuid": "UUID",
    "binary": "BLOB",
}


def duck_type(kind: Any) -> str | None:
    """The DuckDB type of an Iceberg type, or None where DuckDB has none that holds every value.

    Args:
        kind: A type of a schema's JSON: a word or an object.
    """
    if isinstance(kind, str):
        return _primitive(kind)
    if kind["type"] == "list":
        element = duck_type(kind["element"])
        return None if element is None else f"{element}[]"
    if kind["type"] == "map":
        key, value = duck_type(kind["key"]), duck_type(kind["value"])
        return None if key is None or value is None else f"MAP({key}, {value})"
    parts = [(child["name"], duck_type(child["type"])) for child in kind["fields"]]
    names = {name.casefold() for name, _ in parts}
    if not parts or len(names) < len(parts) or any(part is None for _, part in parts):
        return None
    return f"STRUCT({', '.join(f'{ident(name)} {part}' for name, part in parts)})"


def _primitive(word: str) -> str | None:
    if word in _PLAIN:
        return _PLAIN[word]
    if word.startswith("fixed"):
        return "BLOB"
    if match := re.fullmatch(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)", word):
        return f"DECIMAL({match[1]},{match[2]})"
    return None


def has_lists(schema: Mapping[str, Any]) -> bool:
    """Whether any type in a schema is a list, or has one in it."""
    return any(_has_list(column["type"]) for column in schema["fields"])


def _has_list(kind: Any) -> bool:
    if isinstance(kind, str):
        return False
    if kind["type"] == "struct":
        return has_lists(kind)
    return kind["type"] == "list" or _has_list(kind["key"]) or _has_list(kind["value"])


def nested_fields(schema: Mapping[str, Any]) -> Iterator[tuple[int, int, str, Mapping[str, Any]]]:
    """The fields of structs below the top level.

    Yields:
        The id of the struct (of its field, element, key or value), the field's own id, its name and its JSON.
    """
    for column in schema["fields"]:
        yield from _inside(column["id"], column["type"])


def _inside(owner: int, kind: Any) -> Iterator[tuple[int, int, str, Mapping[str, Any]]]:
    if isinstance(kind, str):
        return
    if kind["type"] == "struct":
        for child in kind["fields"]:
            yield owner, child["id"], child["name"], child
            yield from _inside(child["id"], child["type"])
    elif kind["type"] == "list":
        yield from _inside(kind["element-id"], kind["element"])
    else:
        yield from _inside(kind["key-id"], kind["key"])
        yield from _inside(kind["value-id"], kind["value"])


def told_apart(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose nested fields have names that SQL can tell apart: ``x`` and ``X_1`` for ``x`` and ``X``.

    Names of columns stay, and so do all ids.
    """
    return {**schema, "fields": [{**f, "type": _told_apart(f["type"])} for f in schema["fields"]]}


def _told_apart(kind: Any) -> Any:
    if isinstance(kind, str):
        return kind
    if kind["type"] == "list":
        return {**kind, "element": _told_apart(kind["element"])}
    if kind["type"] == "map":
        return {**kind, "key": _told_apart(kind["key"]), "value": _told_apart(kind["value"])}
    taken = {field["name"].casefold() for field in kind["fields"]}
    fields, seen = [], set()
    for field in kind["fields"]:
        name, count = field["name"], 0
        while name.casefold() in seen or (count and name.casefold() in taken):
            count += 1
            name = f"{field['name']}_{count}"
        seen.add(name.casefold())
        fields.append({**field, "name": name, "type": _told_apart(field["type"])})
    return {**kind, "fields": fields}


def nested_conflict(wanted: Mapping[str, Any], written: Mapping[str, Any]) -> str | None:
    """Why nested fields written in one schema cannot be found by name in another, or None.

    DuckDB finds columns by id, but the fields of a struct by name (without case): a field renamed since
    would read as NULL, and a field that took the name of a dropped one would read the dropped one's values.
    A struct of which it finds no field at all it refuses to read.
    """
    ids = {child: name for _, child, name, _ in nested_fields(wanted)}
    names = {(owner, name.casefold()): child for owner, child, name, _ in nested_fields(wanted)}
    structs = {owner for owner, _ in names}
    found: dict[int, bool] = {}
    for owner, child, name, _ in nested_fields(written):
        if child in ids and ids[child].casefold() != name.casefold():
            return f"nested field {name!r} was renamed to {ids[child]!r}"
        if names.get((owner, name.casefold()), child) != child:
            return f"nested field {name!r} was dropped and added again"
        found[owner] = found.get(owner, owner not in structs) or child in ids
    if not all(found.values()):
        return "a struct has none of the fields that it had"
    return None
