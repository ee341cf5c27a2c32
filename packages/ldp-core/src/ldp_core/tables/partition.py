"""``partition_by`` of a config: how it is read, checked, and made a partition spec.

Importing this module is light: what needs no table works without pyarrow and pyiceberg.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField

PLAIN = ("identity", "year", "month", "day", "hour")
_KNOWN = "identity, year, month, day, hour, bucket[N] or truncate[W]"
_FIRST_ID = 1000
_MOST = 2**31 - 1


@dataclass(frozen=True)
class Item:
    """One partition field, as a config says it.

    Attributes:
        column: Its source column; nested fields are dotted.
        transform: In lower case: ``day``, ``bucket[4]``.
        name: The field's own name, or the default one.
    """

    column: str
    transform: str
    name: str


def parse(items: Sequence[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Read ``partition_by``.

    Args:
        items: Objects with ``column``, ``transform`` (identity by default) and optionally ``name``.

    Raises:
        ConfigError: A transform is unknown or needs another parameter, or two fields have one name.
    """
    parsed: list[Item] = []
    for item in items:
        column = str(item["column"])
        transform, suffix = parse_transform(str(item.get("transform", "identity")))
        name = item.get("name") or column + suffix
        for other in parsed:
            if (other.column, other.transform) == (column, transform):
                raise ConfigError(f"partition_by has {transform} of column {column!r} twice")
            if other.name == name:
                raise ConfigError(
                    f"two fields of partition_by are called {name!r}",
                    hint="give one of them a name of its own",
                )
        parsed.append(Item(column, transform, str(name)))
    return tuple(parsed)


def parse_transform(word: str) -> tuple[str, str]:
    """A transform in lower case, and what it adds to a column's name: ``bucket[4]`` and ``_bucket_4``.

    Raises:
        ConfigError: It is unknown, or its parameter is no positive number.
    """
    lower = re.sub(r"\s+", "", word.lower())
    if lower == "identity":
        return lower, ""
    if lower in PLAIN:
        return lower, f"_{lower}"
    match = re.fullmatch(r"(bucket|truncate)(?:\[(.*)\])?", lower)
    if not match:
        raise ConfigError(f"unknown partition transform {word!r}; expected {_KNOWN}")
    kind, number = match.groups()
    if number is None or not re.fullmatch(r"[0-9]+", number) or not 0 < int(number) <= _MOST:
        raise ConfigError(f"partition transform {word!r} needs a positive parameter, such as {kind}[16]")
    short = "trunc" if kind == "truncate" else kind
    return f"{kind}[{int(number)}]", f"_{short}_{int(number)}"


def build_spec(items: Sequence[Item], schema: Schema) -> PartitionSpec:
    """The partition spec of a new table.

    Args:
        items: What ``parse`` gave.
        schema: The table's schema; its ids go into the spec.

    Raises:
        ConfigError: A column does not exist, a transform does not apply to its type, or a name is taken.
    """
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.transforms import parse_transform as iceberg_transform

    fields = []
    for number, item in enumerate(items):
        source = _source(schema, item)
        transform = iceberg_transform(item.transform)
        if not source.field_type.is_primitive or not transform.can_transform(source.field_type):
            raise ConfigError(
                f"partition transform {item.transform} cannot apply to column {item.column!r} "
                f"of type {source.field_type}"
            )
        own = isinstance(transform, IdentityTransform) and item.name == item.column
        if not own and any(field.name == item.name for field in schema.fields):
            raise ConfigError(
                f"partition field {item.name!r} has the name of a column",
                hint="give the field a name of its own",
            )
        fields.append(PartitionField(source.field_id, _FIRST_ID + number, transform, item.name))
    return PartitionSpec(*fields)


def described(spec: PartitionSpec, schema: Schema) -> list[tuple[str, str]]:
    """A spec as (column, transform) pairs, to compare with ``partition_by``; dropped columns by their id."""
    pairs = []
    for field in spec.fields:
        name = schema.find_column_name(field.source_id) or f"#{field.source_id}"
        pairs.append((name, str(field.transform)))
    return pairs


def _source(schema: Schema, item: Item) -> NestedField:
    """The source field of an item, reached through structs only."""
    found = _descend(schema.fields, item.column)
    if found is None:
        known = ", ".join(field.name for field in schema.fields)
        raise ConfigError(f"partition column {item.column!r} does not exist; columns: {known}")
    return found


def _descend(fields: Sequence[NestedField], path: str) -> NestedField | None:
    """The field at a dotted path; names may hold dots themselves, so the longest that fits is tried first."""
    from pyiceberg.types import StructType

    for field in sorted(fields, key=lambda field: -len(field.name)):
        if field.name == path:
            return field
        if path.startswith(f"{field.name}.") and isinstance(field.field_type, StructType):
            found = _descend(field.field_type.fields, path[len(field.name) + 1 :])
            if found is not None:
                return found
    return None
