"""What a Parquet file's own schema says of its field ids, read where the manifests cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ldp_core.tables.scan_types import nested_conflict

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.name_mapping import NameMapping

_ID = b"PARQUET:field_id"


@dataclass(frozen=True)
class Fit:
    """How one file is read in a schema; see ``ScanFile.names`` and ``ScanFile.reason``."""

    names: Mapping[str, int] | None = None
    reason: str | None = None
    missing: frozenset[int] = frozenset()


def footer(io: FileIO, path: str) -> tuple[pa.Schema, str | None]:
    """What a Parquet file's footer says.

    Returns:
        The Arrow schema, with field ids in the metadata of its fields, and why DuckDB would read other values
        than everybody else, or None.
    """
    with io.new_input(path).open() as stream, pq.ParquetFile(stream) as file:
        return file.schema_arrow, _misread(file)


def _misread(file: pq.ParquetFile) -> str | None:
    """What DuckDB reads differently, where columns are found by field id.

    Lists of the two-level form (``repeated int64 array``; the Parquet format, "LogicalTypes", backward
    compatibility rules) are NULL, and nanoseconds are rounded to microseconds, where others cut them.
    """
    leaves = [leaf for column in file.schema_arrow for leaf in _leaves(column.type, 1)]
    if len(leaves) != len(file.schema):
        return None
    for number, (kind, depth) in enumerate(leaves):
        column = file.schema.column(number)
        if column.max_repetition_level and len(column.path.split(".")) < depth:
            return f"the list {column.path!r} has the form that older writers gave it"
        if kind == pa.timestamp("ns", getattr(kind, "tz", None)) and column.physical_type == "INT64":
            return f"{column.path!r} has nanoseconds"
    return None


def _leaves(kind: pa.DataType, depth: int) -> Iterator[tuple[pa.DataType, int]]:
    """The primitive types inside of a type, and how many names the path of each has."""
    children = _children(kind)
    if not children:
        yield kind, depth
    for child in children:
        yield from _leaves(child.type, depth + (1 if pa.types.is_struct(kind) else 2))


def fit(found: pa.Schema, wanted: Mapping[str, Any], mapping: NameMapping | None) -> Fit:
    """Decide how a file is read.

    Args:
        found: The file's schema.
        wanted: The read schema, as JSON.
        mapping: The table's name mapping, for files without field ids.
    """
    columns: Sequence[pa.Field] = list(found)
    everything = {column["id"] for column in wanted["fields"]}
    if all(_has_ids(column) for column in columns):
        written = {"fields": [_json(column) for column in columns]}
        here = {column["id"] for column in written["fields"]}
        return Fit(reason=nested_conflict(wanted, written), missing=frozenset(everything - here))
    if mapping is None:
        return Fit(reason="the file has no field ids and the table no name mapping")
    names: dict[str, int] = {}
    for entry in mapping.root:
        for name in entry.names:
            if name in found.names and entry.field_id is not None and entry.field_id in everything:
                names[name] = entry.field_id
    missing = frozenset(everything - set(names.values()))
    if len({name.casefold() for name in found.names}) < len(found.names):
        return Fit(names, "column names of the file differ only in case", missing)
    for column in columns:
        want = next((c for c in wanted["fields"] if c["id"] == names.get(column.name)), None)
        if want is not None and not _same_names(column.type, want["type"]):
            return Fit(names, f"nested names of column {column.name!r} differ from the table's", missing)
    return Fit(names, None, missing)


def both(fits: Sequence[Fit]) -> Fit:
    """How one file is read in several schemas at once."""
    names = [each.names for each in fits if each.names is not None]
    return Fit(
        names={name: number for each in names for name, number in each.items()} if names else None,
        reason=next((each.reason for each in fits if each.reason is not None), None),
        missing=frozenset(number for each in fits for number in each.missing),
    )


def _has_ids(column: pa.Field) -> bool:
    """Whether a field and everything in it carries an id, as pyiceberg asks."""
    return _ID in (column.metadata or {}) and all(_has_ids(child) for child in _children(column.type))


def _children(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_struct(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [kind.field(position) for position in range(kind.num_fields)]
    return []


def _json(column: pa.Field) -> dict[str, Any]:
    return {"id": int(column.metadata[_ID]), "name": column.name, "type": _json_type(column.type)}


def _json_type(kind: pa.DataType) -> Any:
    parts = [_json(child) for child in _children(kind)]
    if pa.types.is_map(kind):
        key, value = parts
        return {
            "type": "map",
            "key-id": key["id"],
            "key": key["type"],
            "value-id": value["id"],
            "value": value["type"],
        }
    if pa.types.is_struct(kind):
        return {"type": "struct", "fields": parts}
    if parts:
        return {"type": "list", "element-id": parts[0]["id"], "element": parts[0]["type"]}
    return "string"


def _same_names(kind: pa.DataType, want: Any) -> bool:
    """Whether nested fields of a file without ids bear the table's names, so that names find them."""
    children = _children(kind)
    if isinstance(want, str):
        return not children
    if want["type"] == "struct":
        known = {child["name"]: child["type"] for child in want["fields"]}
        return pa.types.is_struct(kind) and all(
            child.name in known and _same_names(child.type, known[child.name]) for child in children
        )
    if want["type"] == "list":
        return len(children) == 1 and _same_names(children[0].type, want["element"])
    return len(children) == 2 and all(
        _same_names(child.type, want[part]) for child, part in zip(children, ("key", "value"), strict=True)
    )
