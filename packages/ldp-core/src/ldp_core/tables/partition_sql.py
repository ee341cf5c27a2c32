"""Partition values of a batch: SQL keys that keep partitions apart, and the Record of a written file.

A copy is partitioned by keys, never by the values themselves: a key is a whole number or the md5 of a text;
no value can look like another one or like NULL in a path. What goes into the metadata is computed by
pyiceberg's own transforms from one row of each file.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ldp_core._duck import ident, text
from ldp_core.errors import LDPError
from ldp_core.tables._murmur import bucket_of_bytes, bucket_of_long, decimal_bytes

if TYPE_CHECKING:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Record
    from pyiceberg.types import IcebergType


def path_of(schema: Schema, field_id: int) -> tuple[str, ...]:
    """The names from the top column down to a field that is reached through structs."""
    from pyiceberg.types import StructType

    def search(fields: Any, above: tuple[str, ...]) -> tuple[str, ...] | None:
        for field in fields:
            here = (*above, field.name)
            if field.field_id == field_id:
                return here
            if isinstance(field.field_type, StructType):
                found = search(field.field_type.fields, here)
                if found:
                    return found
        return None

    return search(schema.fields, ()) or ()


def keys(spec: PartitionSpec, schema: Schema) -> list[str]:
    """SQL over published columns, one a partition field, that differs where partition values differ."""
    return [_key(field, schema) for field in spec.fields if str(field.transform) != "void"]


def _key(field: PartitionField, schema: Schema) -> str:
    from pyiceberg import types as ice
    from pyiceberg.transforms import BucketTransform, TruncateTransform

    path = path_of(schema, field.source_id)
    kind = schema.find_type(field.source_id)
    value = ident(path[0])
    for name in path[1:]:
        value = f"struct_extract({value}, {text(name)})"
    whole = _whole(value, kind)
    transform = field.transform
    if isinstance(transform, BucketTransform):
        if whole is not None:
            return bucket_of_long(whole, transform.num_buckets)
        return bucket_of_bytes(_bytes(value, kind), transform.num_buckets)
    if isinstance(transform, TruncateTransform):
        width = transform.width
        if isinstance(kind, ice.DecimalType):
            whole = _unscaled(value)
        if whole is not None:
            number = f"CAST({whole} AS HUGEINT)"
            return f"({number} - (({number} % {width}) + {width}) % {width})"
        if isinstance(kind, ice.StringType):
            return f"md5(left({value}, {width}))"
        return f"md5(array_slice({value}, 1, {width}))"
    word = str(transform)
    if word == "identity":
        if whole is not None:
            return whole
        if isinstance(kind, ice.FloatType | ice.DoubleType):
            return f"md5(CAST({value} + 0.0 AS VARCHAR))"
        if isinstance(kind, ice.StringType | ice.BinaryType | ice.FixedType):
            return f"md5({value})"
        return f"md5(CAST({value} AS VARCHAR))"
    return _calendar(value, kind, word)


def _whole(value: str, kind: IcebergType) -> str | None:
    """A BIGINT that stands for a value one to one, as Iceberg stores it; None for other types."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.IntegerType | ice.LongType | ice.BooleanType):
        return f"CAST({value} AS BIGINT)"
    if isinstance(kind, ice.DateType):
        return f"({value} - DATE '1970-01-01')"
    if isinstance(kind, ice.TimestampType | ice.TimestamptzType | ice.TimeType):
        return f"epoch_us({value})"
    return None


def _calendar(value: str, kind: IcebergType, word: str) -> str:
    from pyiceberg import types as ice

    moment = f"({value} AT TIME ZONE 'UTC')" if isinstance(kind, ice.TimestamptzType) else value
    if word == "year":
        return f"(year({moment}) - 1970)"
    if word == "month":
        return f"((year({moment}) - 1970) * 12 + month({moment}) - 1)"
    if word == "day":
        return f"(CAST({moment} AS DATE) - DATE '1970-01-01')"
    micros = f"epoch_us({value})"
    return f"({micros} // 3600000000 - CASE WHEN {micros} % 3600000000 < 0 THEN 1 ELSE 0 END)"


def _bytes(value: str, kind: IcebergType) -> str:
    """A BLOB of what Iceberg hashes."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.DecimalType):
        return decimal_bytes(_unscaled(value))
    if isinstance(kind, ice.UUIDType):
        return f"unhex(replace(CAST({value} AS VARCHAR), '-', ''))"
    return f"encode({value})" if isinstance(kind, ice.StringType) else value


def _unscaled(value: str) -> str:
    return f"CAST(replace(CAST({value} AS VARCHAR), '.', '') AS HUGEINT)"


def record(spec: PartitionSpec, schema: Schema, row: pa.RecordBatch | pa.Table) -> Record:
    """The partition of the file that a row comes from.

    Args:
        spec: The table's spec.
        schema: The schema the file was written with.
        row: At least one row with the source columns, by name.
    """
    from pyiceberg.typedef import Record

    values: list[Any] = []
    for field in spec.fields:
        path = path_of(schema, field.source_id)
        if not path or str(field.transform) == "void":
            values.append(None)
            continue
        kind = schema.find_type(field.source_id)
        value = internal(row, path)
        values.append(_stored(field, kind, _normal(field.transform.transform(kind)(value)), value))
    return Record(*values)


def _stored(field: PartitionField, kind: IcebergType, value: Any, source: Any) -> Any:
    """The value, which its type must hold: what truncate makes of the least numbers may be less."""
    from pyiceberg.conversions import to_bytes

    held: Any = field.transform.result_type(kind)
    try:
        if value is not None:
            to_bytes(held, value)
    except (OverflowError, struct.error) as error:
        raise LDPError(
            f"partition field {field.name!r}: {field.transform} of {source} is {value}, "
            f"which {kind} cannot hold",
            hint="correct the value, or partition by something else",
        ) from error
    return value


def internal(row: pa.RecordBatch | pa.Table, path: tuple[str, ...]) -> Any:
    """The first row's value at a path, as pyiceberg computes with it (dates and times as numbers)."""
    scalar = row.column(path[0])[0]
    for name in path[1:]:
        if not scalar.is_valid:
            return None
        scalar = scalar[name]
    if not scalar.is_valid:
        return None
    if pa.types.is_temporal(scalar.type):
        return scalar.value
    return scalar.as_py()


def _normal(value: Any) -> Any:
    """0.0 and -0.0 are one partition."""
    return value + 0.0 if isinstance(value, float) else value
