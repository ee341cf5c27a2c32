"""Arrow and Iceberg types: what a type is stored as, and back.

``stored`` says which Arrow type a value of a source's type has once it is in a table (Iceberg format 2,
https://iceberg.apache.org/spec/#primitive-types); ``conversion`` names the policy that was applied. Both see
nested types whole. Types that Iceberg cannot hold are refused by type, before anything is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ldp_core._duck import ident
from ldp_core.errors import DriftError

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType

_SAME = {
    pa.bool_(): pa.bool_(),
    pa.int32(): pa.int32(),
    pa.int64(): pa.int64(),
    pa.float32(): pa.float32(),
    pa.float64(): pa.float64(),
    pa.date32(): pa.date32(),
    pa.string(): pa.string(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.binary(): pa.binary(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.uuid(): pa.uuid(),
    pa.time32("s"): pa.time64("us"),
    pa.time32("ms"): pa.time64("us"),
    pa.time64("us"): pa.time64("us"),
}
_CONVERTED = {
    pa.int8(): (pa.int32(), "int8_to_int"),
    pa.int16(): (pa.int32(), "int16_to_int"),
    pa.uint8(): (pa.int32(), "uint8_to_int"),
    pa.uint16(): (pa.int32(), "uint16_to_int"),
    pa.uint32(): (pa.int64(), "uint32_to_long"),
    pa.uint64(): (pa.decimal128(20, 0), "uint64_to_decimal"),
    pa.float16(): (pa.float32(), "half_to_float"),
    pa.date64(): (pa.date32(), "date64_to_date"),
    pa.time64("ns"): (pa.time64("us"), "ns_to_us"),
    pa.null(): (pa.string(), "null_to_string"),
}
_DUCK = {
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.time64("us"): "TIME",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
    pa.string(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.uuid(): "UUID",
}


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of the list types."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def is_nested(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a struct, a list or a map."""
    return pa.types.is_struct(kind) or pa.types.is_map(kind) or is_list(kind)


def struct_fields(kind: pa.DataType) -> list[pa.Field]:
    """The fields of a struct type, in order."""
    return [kind.field(position) for position in range(kind.num_fields)]


def decoded(kind: pa.DataType) -> pa.DataType:
    """The value type behind a dictionary or run-end encoding; other types as they are."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return kind.value_type
    return kind


def stored(kind: pa.DataType, path: str) -> pa.DataType:
    """The Arrow type that values of a source's type have in a table.

    Args:
        kind: The source's Arrow type, nested or not.
        path: The dotted column, for messages.

    Returns:
        One of the types that ``to_iceberg`` knows; nested fields are nullable, list items are ``element``.

    Raises:
        DriftError: Iceberg cannot hold the type.
    """
    kind = decoded(kind)
    if pa.types.is_struct(kind):
        if kind.num_fields == 0:
            raise _refused(path, kind, "a struct without fields has no place in a table")
        return pa.struct([(f.name, stored(f.type, f"{path}.{f.name}")) for f in struct_fields(kind)])
    if pa.types.is_map(kind):
        key, item = stored(kind.key_type, f"{path}.key"), stored(kind.item_type, f"{path}.value")
        return pa.map_(key, item)
    if is_list(kind):
        return pa.list_(pa.field("element", stored(kind.value_type, f"{path}.element")))
    if kind in _SAME:
        return _SAME[kind]
    if kind in _CONVERTED:
        return _CONVERTED[kind][0]
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC" if kind.tz is not None else None)
    if pa.types.is_decimal(kind):
        if kind.precision > 38 or not 0 <= kind.scale <= kind.precision:
            raise _refused(
                path, kind, "Iceberg holds decimals of up to 38 digits and a scale from 0 to the precision"
            )
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary(kind.byte_width)
    if isinstance(kind, pa.BaseExtensionType):
        return stored(kind.storage_type, path)
    raise _refused(path, kind, "Iceberg has no type for it")


def conversion(kind: pa.DataType) -> str | None:
    """The policy that ``stored`` applies to a primitive type; None when values stay what they are."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return "dictionary_decoded"
    if kind in _CONVERTED:
        return _CONVERTED[kind][1]
    if pa.types.is_timestamp(kind):
        if kind.unit == "ns":
            return "ns_to_us"
        if kind.tz is not None and kind.tz.upper() not in {"UTC", "+00:00", "ETC/UTC", "Z"}:
            return "time_zone_to_utc"
    return None


def from_iceberg(kind: IcebergType) -> pa.DataType:
    """The Arrow type of an Iceberg type, as ``stored`` gives it (required fields are not nullable)."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.StructType):
        return pa.struct(
            [pa.field(f.name, from_iceberg(f.field_type), nullable=f.optional) for f in kind.fields]
        )
    if isinstance(kind, ice.ListType):
        element = pa.field("element", from_iceberg(kind.element_type), nullable=not kind.element_required)
        return pa.list_(element)
    if isinstance(kind, ice.MapType):
        value = pa.field("value", from_iceberg(kind.value_type), nullable=not kind.value_required)
        return pa.map_(from_iceberg(kind.key_type), value)
    if isinstance(kind, ice.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, ice.FixedType):
        return pa.binary(len(kind))
    simple: dict[Any, pa.DataType] = {
        ice.BooleanType: pa.bool_(),
        ice.IntegerType: pa.int32(),
        ice.LongType: pa.int64(),
        ice.FloatType: pa.float32(),
        ice.DoubleType: pa.float64(),
        ice.DateType: pa.date32(),
        ice.TimeType: pa.time64("us"),
        ice.TimestampType: pa.timestamp("us"),
        ice.TimestamptzType: pa.timestamp("us", tz="UTC"),
        ice.StringType: pa.string(),
        ice.BinaryType: pa.binary(),
        ice.UUIDType: pa.uuid(),
    }
    try:
        return simple[type(kind)]
    except KeyError:
        raise DriftError(
            f"the table has the type {kind}, which LDP cannot write (Iceberg format version 3)"
        ) from None


def to_iceberg(kind: pa.DataType, next_id: Callable[[], int]) -> IcebergType:
    """The Iceberg type of a stored Arrow type; ``next_id`` gives the ids of nested fields."""
    from pyiceberg import types as ice

    if pa.types.is_struct(kind):
        ids = [next_id() for _ in range(kind.num_fields)]
        fields = zip(ids, struct_fields(kind), strict=True)
        return ice.StructType(
            *(
                ice.NestedField(i, f.name, to_iceberg(f.type, next_id), required=not f.nullable)
                for i, f in fields
            )
        )
    if pa.types.is_map(kind):
        key, value = next_id(), next_id()
        return ice.MapType(
            key,
            to_iceberg(kind.key_type, next_id),
            value,
            to_iceberg(kind.item_type, next_id),
            value_required=not kind.item_field.nullable,
        )
    if is_list(kind):
        element = next_id()
        required = not kind.value_field.nullable
        return ice.ListType(element, to_iceberg(kind.value_type, next_id), element_required=required)
    if pa.types.is_decimal(kind):
        return ice.DecimalType(kind.precision, kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return ice.FixedType(kind.byte_width)
    simple: dict[pa.DataType, IcebergType] = {
        pa.bool_(): ice.BooleanType(),
        pa.int32(): ice.IntegerType(),
        pa.int64(): ice.LongType(),
        pa.float32(): ice.FloatType(),
        pa.float64(): ice.DoubleType(),
        pa.date32(): ice.DateType(),
        pa.time64("us"): ice.TimeType(),
        pa.timestamp("us"): ice.TimestampType(),
        pa.timestamp("us", tz="UTC"): ice.TimestamptzType(),
        pa.string(): ice.StringType(),
        pa.binary(): ice.BinaryType(),
        pa.uuid(): ice.UUIDType(),
    }
    return simple[kind]


def arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema of an Iceberg schema, in the types of ``from_iceberg``."""
    return pa.schema(
        [pa.field(f.name, from_iceberg(f.field_type), nullable=f.optional) for f in schema.fields]
    )


def scanned_schema(schema: Mapping[str, Any]) -> pa.Schema:
    """The Arrow schema of a scan's Iceberg schema (its JSON), in Iceberg's own Arrow types."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyiceberg.schema import Schema

    return schema_to_pyarrow(Schema.model_validate(dict(schema)), include_field_ids=False)


def duck_type(kind: pa.DataType) -> str:
    """The DuckDB type of a stored Arrow type, as SQL."""
    if pa.types.is_struct(kind):
        inner = ", ".join(f"{ident(f.name)} {duck_type(f.type)}" for f in struct_fields(kind))
        return f"STRUCT({inner})"
    if pa.types.is_map(kind):
        return f"MAP({duck_type(kind.key_type)}, {duck_type(kind.item_type)})"
    if is_list(kind):
        return f"{duck_type(kind.value_type)}[]"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_fixed_size_binary(kind):
        return "BLOB"
    return _DUCK[kind]


def word(kind: pa.DataType) -> str:
    """A stored type in Iceberg's words, for messages: ``long``, ``timestamptz``, ``struct<a: long>``."""
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{f.name}: {word(f.type)}" for f in struct_fields(kind)) + ">"
    if pa.types.is_map(kind):
        return f"map<{word(kind.key_type)}, {word(kind.item_type)}>"
    if is_list(kind):
        return f"list<{word(kind.value_type)}>"
    return str(to_iceberg(kind, int))


def _refused(path: str, kind: pa.DataType, why: str) -> DriftError:
    return DriftError(
        f"column {path!r} has the type {kind}, which a table cannot hold: {why}",
        hint="cast it in a SQL transform",
    )
