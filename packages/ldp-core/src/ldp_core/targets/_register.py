"""Parquet files that need no rewriting: copied byte for byte into the table's folder and registered.

A file is suitable when a reader finds in it exactly what a rewrite would have put there: the table's columns
in the table's types, field ids that are the table's or none (then its name mapping reads it), no missing
value where the table requires one, and one partition.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.tables.metrics import column_range, data_file, leaf_ids
from ldp_core.tables.schema import NAME_MAPPING
from ldp_core.tables.types import from_iceberg
from ldp_core.tables.write import Layout, Written

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.typedef import Record

_FIELD_ID = b"PARQUET:field_id"


def register(sources: Sequence[str], layout: Layout, new_file: Callable[[], str]) -> Written | None:
    """Copy files into a table's folder and describe them.

    Args:
        sources: Parquet files that together are the batch.
        layout: How files of the table look.
        new_file: Gives the place of a new file.

    Returns:
        The copies; None when one of the files has to be rewritten (then nothing was copied).
    """
    footers = []
    for source in sources:
        footer = _footer(source)
        partition = _partition(footer, layout) if _suits(footer, layout) else None
        if partition is None:
            return None
        footers.append((source, footer, partition))
    files = []
    for source, footer, partition in footers:
        if footer.num_rows == 0:
            continue
        place = new_file()
        size = _copy(source, place, layout)
        spec_id = layout.spec.spec_id
        files.append(data_file(place, size, footer, layout.schema, spec_id, partition, layout.properties))
    return Written(tuple(files), sum(f.record_count for f in files), sum(f.file_size_in_bytes for f in files))


def name_mapping(layout: Layout) -> str:
    """The name mapping by which files without field ids are read, as the table property holds it."""
    from pyiceberg.table.name_mapping import create_mapping_from_schema

    return create_mapping_from_schema(layout.schema).model_dump_json()


def _footer(path: str) -> pq.FileMetaData:
    import pyarrow.parquet as pq

    filesystem, inner = fs.arrow_fs(path)
    return pq.read_metadata(inner, filesystem=filesystem)


def _suits(footer: pq.FileMetaData, layout: Layout) -> bool:
    """Whether a file has all columns of the table, flat, in its types, with its ids or none."""
    schema: pa.Schema = footer.schema.to_arrow_schema()
    wanted = {field.name: field for field in layout.schema.fields}
    if len(schema) != len(wanted) or set(schema.names) != set(wanted):
        return False
    for column in schema:
        field = wanted[column.name]
        if not field.field_type.is_primitive or column.type != from_iceberg(field.field_type):
            return False
        own_id = (column.metadata or {}).get(_FIELD_ID)
        if own_id is not None and int(own_id) != field.field_id:
            return False
    ids = [(column.metadata or {}).get(_FIELD_ID) for column in schema]
    if any(ids) and not all(ids):
        return False
    if not any(ids) and not _mapped(layout):
        return False
    required = [field.field_id for field in layout.schema.fields if field.required]
    return all(column_range(footer, layout.schema, field_id).nulls == 0 for field_id in required)


def _mapped(layout: Layout) -> bool:
    """Whether the table's name mapping, if it has one, reads every column's present name as that column."""
    from pyiceberg.table.name_mapping import parse_mapping_from_json

    held = layout.properties.get(NAME_MAPPING)
    if held is None:
        return True
    known = {name: field.field_id for field in parse_mapping_from_json(held).root for name in field.names}
    return all(known.get(field.name, field.field_id) == field.field_id for field in layout.schema.fields)


def _partition(footer: pq.FileMetaData, layout: Layout) -> Record | None:
    """The one partition that all rows of a file belong to, or None.

    Told by the least and the greatest value, for whole numbers, dates, times only: other bounds may be cut.
    """
    from pyiceberg import types as ice
    from pyiceberg.typedef import Record

    exact = (ice.IntegerType, ice.LongType, ice.DateType, ice.TimestampType, ice.TimestamptzType)
    leaves = {field_id for field_id, _ in leaf_ids(footer.schema.to_arrow_schema(), layout.schema)}
    values: list[Any] = []
    for field in layout.spec.fields:
        kind = layout.schema.find_type(field.source_id)
        if field.source_id not in leaves or not isinstance(kind, exact):
            return None
        column = column_range(footer, layout.schema, field.source_id)
        if column.nulls == column.values and footer.num_rows:
            values.append(None)
            continue
        if column.nulls != 0 or not column.bounded or column.low is None:
            return None
        if not field.transform.preserves_order and column.low != column.high:
            return None
        transform = field.transform.transform(kind)
        low, high = transform(column.low), transform(column.high)
        if low != high:
            return None
        values.append(low)
    return Record(*values)


def _copy(source: str, place: str, layout: Layout) -> int:
    if fs.is_local(source) and fs.is_local(place):
        target = fs.local_path(place)
        shutil.copyfile(fs.local_path(source), target)
        return target.stat().st_size
    inbound, path = fs.arrow_fs(source)
    outbound, to = fs.arrow_fs(place, layout.io_properties)
    with inbound.open_input_stream(path) as reader, outbound.open_output_stream(to) as writer:
        shutil.copyfileobj(reader, writer, 8 * 1024 * 1024)
        return int(writer.tell())
