"""The order that rows of rewritten files get: the table's declared one, keys of one's own, or a z-order."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ldp_core._duck import ident, text
from ldp_core.errors import LDPError, UsageError

from ldp_maintenance.policy import Ordering, SortKey

if TYPE_CHECKING:
    from pyiceberg.manifest import ManifestEntry
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata

ORDERED = "ldp.rewrite.order"
"""A table property: the order of one's own that files were put in, and the snapshots that added such files.

An order that the table does not declare has no id that a file could carry.
"""


@dataclass(frozen=True)
class Key:
    """One key of an order.

    Attributes:
        source_id: The column's field id.
        transform: As Iceberg writes it.
        descending: Whether greater values come first.
        nulls_first: Whether nulls do.
    """

    source_id: int
    transform: str = "identity"
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Order:
    """An order that is wanted.

    Attributes:
        kind: none, declared, sort or zorder.
        keys: Of a sort; of a z-order its columns.
        sort_order_id: The table's sort order that files in this order carry; None where it has none such.
        bits: Bits of each column in a z-order.
        label: Says which order it is, for the table property and for people.
    """

    kind: Literal["none", "declared", "sort", "zorder"]
    keys: tuple[Key, ...] = ()
    sort_order_id: int | None = None
    bits: int = 0
    label: str = ""

    def holds(self, metadata: TableMetadata, entry: ManifestEntry) -> bool:
        """Whether a file is known to be in this order."""
        if self.kind == "none":
            return True
        if self.sort_order_id is not None:
            return entry.data_file.sort_order_id == self.sort_order_id
        return entry.snapshot_id in snapshots_in(metadata.properties, self)


NONE = Order("none")


def resolve(metadata: TableMetadata, wanted: Ordering) -> Order:
    """The order that a policy asks for, on a table.

    Raises:
        UsageError: A column is not there or cannot be ordered by.
        LDPError: No order is declared where it is asked for.
    """
    schema = metadata.schema()
    if wanted.mode == "none":
        return NONE
    if wanted.mode == "table":
        return _declared(metadata) or NONE
    if wanted.mode == "zorder":
        keys = tuple(Key(_column(schema, name)) for name in wanted.zorder)
        if len({key.source_id for key in keys}) < 2:
            raise UsageError(
                "a z-order needs two columns at least", hint="order by one column with --order-by COLUMN"
            )
        return Order("zorder", keys, None, wanted.precision_bits, f"zorder({', '.join(wanted.zorder)})")
    if not wanted.sort:
        declared = _declared(metadata)
        if declared is None:
            raise LDPError(
                "the table declares no sort order to sort by", hint="name the columns with --order-by COLUMN"
            )
        return declared
    keys = tuple(_key(schema, key) for key in wanted.sort)
    order_id = next((o.order_id for o in metadata.sort_orders if o.order_id and _keys(o) == keys), None)
    label = ", ".join(_said(key) for key in wanted.sort)
    return Order("sort", keys, order_id, 0, label)


def order_by(order: Order, schema: Schema) -> str:
    """The keys of a sort as an ORDER BY clause's list over the columns of a schema.

    Raises:
        LDPError: A column of the order is no column of the schema.
    """
    parts = []
    for key in order.keys:
        direction = "DESC" if key.descending else "ASC"
        nulls = "FIRST" if key.nulls_first else "LAST"
        parts.append(f"{expression(key, schema)} {direction} NULLS {nulls}")
    return ", ".join(parts)


def expression(key: Key, schema: Schema) -> str:
    """What a key compares, in SQL."""
    from ldp_core.tables import partition_sql
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import TruncateTransform, parse_transform
    from pyiceberg.types import BinaryType, FixedType, StringType

    path = partition_sql.path_of(schema, key.source_id)
    if not path:
        raise LDPError(
            f"the sort order names field {key.source_id}, which is no column of the table any more"
        )
    value = ident(path[0])
    for name in path[1:]:
        value = f"struct_extract({value}, {text(name)})"
    if key.transform == "identity":
        return value
    transform = parse_transform(key.transform)
    kind = schema.find_type(key.source_id)
    if isinstance(transform, TruncateTransform) and isinstance(kind, StringType):
        return f"left({value}, {transform.width})"
    if isinstance(transform, TruncateTransform) and isinstance(kind, BinaryType | FixedType):
        return f"array_slice({value}, 1, {transform.width})"
    return partition_sql.keys(PartitionSpec(PartitionField(key.source_id, 1000, transform, "k")), schema)[0]


def snapshots_in(properties: Mapping[str, str], order: Order) -> frozenset[int]:
    """The snapshots that added files in an order of one's own."""
    try:
        noted = json.loads(properties.get(ORDERED, "{}"))
        if noted.get("order") != order.label:
            return frozenset()
        return frozenset(int(number) for number in noted.get("snapshots", ()))
    except (ValueError, TypeError, AttributeError):
        return frozenset()


def noted(properties: Mapping[str, str], order: Order, snapshot_id: int, live: set[int]) -> dict[str, str]:
    """The property with one more snapshot; those that no live file comes from are dropped."""
    kept = sorted((snapshots_in(properties, order) & live) | {snapshot_id})
    return {ORDERED: json.dumps({"order": order.label, "snapshots": [str(number) for number in kept]})}


def _declared(metadata: TableMetadata) -> Order | None:
    declared = next((o for o in metadata.sort_orders if o.order_id == metadata.default_sort_order_id), None)
    if declared is None or not declared.fields:
        return None
    keys = _keys(declared)
    known = set(metadata.schema().field_ids)
    if not keys or any(key.source_id not in known for key in keys):
        return None
    names = ", ".join(str(metadata.schema().find_column_name(key.source_id)) for key in keys)
    return Order("declared", keys, declared.order_id, 0, f"the table's order: {names}")


def _keys(declared: object) -> tuple[Key, ...]:
    return tuple(
        Key(
            field.source_id,
            str(field.transform),
            field.direction.value == "desc",
            field.null_order.value == "nulls-first",
        )
        for field in declared.fields  # type: ignore[attr-defined]
        if str(field.transform) != "void"
    )


def _key(schema: Schema, key: SortKey) -> Key:
    from pyiceberg.transforms import parse_transform

    source = _column(schema, key.column)
    try:
        fits = parse_transform(key.transform).can_transform(schema.find_type(source))
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(f"transform {key.transform!r} cannot apply to column {key.column!r}")
    return Key(source, key.transform, key.direction == "desc", key.nulls == "first")


def _said(key: SortKey) -> str:
    value = key.column if key.transform == "identity" else f"{key.transform}({key.column})"
    return f"{value} {key.direction} nulls {key.nulls}"


def _column(schema: Schema, name: str) -> int:
    """The id of a column that rows can be ordered by."""
    from ldp_core.tables.partition_sql import path_of

    known = [schema.find_column_name(number) or "" for number in schema.field_ids if path_of(schema, number)]
    try:
        field = schema.find_field(name)
    except ValueError:
        near = difflib.get_close_matches(name.casefold(), {n.casefold(): n for n in known}, 1, 0.5)
        exact = next((n for n in known if near and n.casefold() == near[0]), None)
        hint = f"did you mean {exact}?" if exact else f"columns: {', '.join(known)}"
        raise UsageError(f"no column {name!r} to order by", hint=hint) from None
    if not field.field_type.is_primitive or not path_of(schema, field.field_id):
        raise UsageError(f"rows cannot be ordered by column {name!r} of type {field.field_type}")
    return field.field_id
