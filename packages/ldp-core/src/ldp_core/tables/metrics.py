"""A data file as the metadata knows it: counts, sizes and bounds, read from the Parquet footer.

Bounds are in Iceberg's single-value serialization
(https://iceberg.apache.org/spec/#appendix-d-single-value-serialization).
A column with NaN has no bounds; those that are zero are written as -0.0 below and +0.0 above: writers
disagree about which zero is smaller. Fields below lists and maps have sizes only: readers prune by no others.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ldp_core.tables.types import is_list, struct_fields

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Record
    from pyiceberg.types import IcebergType


class Column:
    """What the row groups of a file say about one column.

    Attributes:
        size: Bytes on disk.
        values: Values, nulls among them.
        nulls: How many are null; None where the file does not tell.
        low: The smallest value, as the footer has it; None where there is none.
        high: The greatest.
        bounded: Whether ``low`` and ``high`` hold for all values.
    """

    def __init__(self) -> None:
        self.size = 0
        self.values = 0
        self.nulls: int | None = 0
        self.low: Any = None
        self.high: Any = None
        self.bounded = True

    def add(self, chunk: Any, read: Callable[[Any], Any]) -> None:
        """Take in one more column chunk; ``read`` makes its raw bounds comparable."""
        self.size += chunk.total_compressed_size
        self.values += chunk.num_values
        stats = chunk.statistics if chunk.is_stats_set else None
        if stats is None or not stats.has_null_count:
            self.nulls = None
        elif self.nulls is not None:
            self.nulls += stats.null_count
        if stats is not None and stats.has_min_max:
            low, high = read(stats.min_raw), read(stats.max_raw)
            if low is None or high is None:
                self.bounded = False
                return
            self.low = low if self.low is None or low < self.low else self.low
            self.high = high if self.high is None or high > self.high else self.high
        elif stats is None or not stats.has_null_count or stats.null_count < chunk.num_values:
            self.bounded = False


def data_file(
    path: str,
    size: int,
    footer: pq.FileMetaData,
    schema: Schema,
    spec_id: int,
    partition: Record,
    properties: Mapping[str, str],
) -> DataFile:
    """Describe a Parquet file for a manifest.

    Args:
        path: As the metadata shall name it.
        size: Bytes.
        footer: Its footer; columns are matched to the schema by name.
        schema: The schema it was written with.
        spec_id: The partition spec it follows.
        partition: Its partition values.
        properties: The table's; ``write.metadata.metrics.*`` decides which columns have bounds.
    """
    from pyiceberg.io.pyarrow import compute_statistics_plan
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat

    plan = compute_statistics_plan(schema, dict(properties))
    leaves = leaf_ids(footer.schema.to_arrow_schema(), schema)
    found = {field_id: Column() for field_id, _ in leaves}
    offsets = []
    for group_number in range(footer.num_row_groups):
        group = footer.row_group(group_number)
        offsets.append(_start(group.column(0)))
        for position, (field_id, _) in enumerate(leaves):
            found[field_id].add(group.column(position), _reader(schema.find_type(field_id)))
    flat = {
        field_id: column
        for (field_id, repeated), column in zip(leaves, found.values(), strict=True)
        if not repeated
    }
    modes = {field_id: plan[field_id].mode for field_id in flat}
    counted = {i: c for i, c in flat.items() if modes[i].type.name != "NONE"}
    lows, highs = {}, {}
    for field_id, column in counted.items():
        if not column.bounded or column.low is None or modes[field_id].type.name == "COUNTS":
            continue
        length = modes[field_id].length if modes[field_id].type.name == "TRUNCATE" else None
        low, high = bounds(schema.find_type(field_id), column.low, column.high, length)
        if low is not None:
            lows[field_id] = low
        if high is not None:
            highs[field_id] = high
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=partition,
        spec_id=spec_id,
        record_count=footer.num_rows,
        file_size_in_bytes=size,
        column_sizes={i: c.size for i, c in found.items()},
        value_counts={i: c.values for i, c in counted.items()},
        null_value_counts={i: c.nulls for i, c in counted.items() if c.nulls is not None},
        nan_value_counts={},
        lower_bounds=lows,
        upper_bounds=highs,
        split_offsets=sorted(offsets),
        sort_order_id=None,
        equality_ids=None,
        key_metadata=None,
    )


def column_range(footer: pq.FileMetaData, schema: Schema, field_id: int) -> Column:
    """What a footer says about one field; of a field that the file does not have, no values."""
    column = Column()
    leaves = [found for found, _ in leaf_ids(footer.schema.to_arrow_schema(), schema)]
    if field_id in leaves:
        read = _reader(schema.find_type(field_id))
        for number in range(footer.num_row_groups):
            column.add(footer.row_group(number).column(leaves.index(field_id)), read)
    return column


def leaf_ids(file: pa.Schema, schema: Schema) -> list[tuple[int, bool]]:
    """(field id, below a list or map) of every Parquet column, in the file's order, matched by name."""
    from pyiceberg import types as ice

    leaves: list[tuple[int, bool]] = []

    def walk(kind: pa.DataType, field_id: int, own: IcebergType, repeated: bool) -> None:
        if isinstance(own, ice.StructType):
            inner = {f.name: f for f in own.fields}
            for child in struct_fields(kind):
                walk(child.type, inner[child.name].field_id, inner[child.name].field_type, repeated)
        elif isinstance(own, ice.ListType) and is_list(kind):
            walk(kind.value_type, own.element_id, own.element_type, True)
        elif isinstance(own, ice.MapType):
            walk(kind.key_type, own.key_id, own.key_type, True)
            walk(kind.item_type, own.value_id, own.value_type, True)
        else:
            leaves.append((field_id, repeated))

    top = {f.name: f for f in schema.fields}
    for column in file:
        walk(column.type, top[column.name].field_id, top[column.name].field_type, False)
    return leaves


def bounds(kind: IcebergType, low: Any, high: Any, length: int | None) -> tuple[bytes | None, bytes | None]:
    """Serialize both bounds; texts and bytes are cut to ``length``, the upper one rounded up."""
    from pyiceberg import types as ice
    from pyiceberg.conversions import to_bytes
    from pyiceberg.utils.truncate import truncate_upper_bound_binary_string, truncate_upper_bound_text_string

    if isinstance(kind, ice.StringType):
        top = truncate_upper_bound_text_string(high, length)
        return low[:length].encode(), None if top is None else top.encode()
    if isinstance(kind, ice.BinaryType):
        return low[:length], truncate_upper_bound_binary_string(high, length)
    if isinstance(kind, ice.FloatType | ice.DoubleType):
        low, high = (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
    if isinstance(kind, ice.DecimalType):
        return _twos_complement(low), _twos_complement(high)
    if isinstance(kind, ice.FixedType | ice.UUIDType):
        return low, high
    if isinstance(kind, ice.LongType | ice.TimeType | ice.TimestampType | ice.TimestamptzType):
        return struct.pack("<q", low), struct.pack("<q", high)
    return to_bytes(kind, low), to_bytes(kind, high)  # type: ignore[arg-type]


def _reader(kind: IcebergType) -> Callable[[Any], Any]:
    """How a raw footer value becomes one that compares the way Iceberg compares; None where it cannot."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.StringType):
        return _text
    if isinstance(kind, ice.DecimalType):
        return lambda raw: raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)
    if isinstance(kind, ice.FloatType | ice.DoubleType):
        return lambda raw: None if math.isnan(raw) else raw
    if isinstance(kind, ice.BooleanType):
        return bool
    return lambda raw: raw


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _twos_complement(value: int) -> bytes:
    """The fewest big-endian bytes that hold a signed number."""
    bits = (value if value >= 0 else ~value).bit_length() + 1
    return value.to_bytes((bits + 7) // 8, "big", signed=True)


def _start(chunk: Any) -> int:
    if chunk.has_dictionary_page and chunk.dictionary_page_offset < chunk.data_page_offset:
        return int(chunk.dictionary_page_offset)
    return int(chunk.data_page_offset)
