"""Small tables of ``id, city, at, amount`` on a SQLite catalog, in the states that maintenance meets."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from ldp_core.catalogs.sqlite import ClosingCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.fs import local_path
from ldp_core.testing import deletes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, MonthTransform
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestampType

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

DAY0 = dt.datetime(2024, 1, 1)
"""The time of rows that are given none."""

SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "city", StringType()),
    NestedField(3, "at", TimestampType()),
    NestedField(4, "amount", DoubleType()),
)
_FIELDS = {
    "day": PartitionField(3, 1000, DayTransform(), "at_day"),
    "month": PartitionField(3, 1000, MonthTransform(), "at_month"),
    "identity": PartitionField(2, 1000, IdentityTransform(), "city"),
    "bucket": PartitionField(1, 1000, BucketTransform(4), "id_bucket"),
}


def catalog(folder: Path, name: str = "test") -> ClosingCatalog:
    """A SQLite catalog with its warehouse in a folder, and namespace ``db``."""
    folder.mkdir(parents=True, exist_ok=True)
    made = ClosingCatalog(name, uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    made.create_namespace_if_not_exists("db")
    return made


def table(
    catalog: Catalog,
    name: str = "t",
    *,
    partition: str | None = None,
    format_version: int = 2,
    sorted_by: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> Table:
    """An empty table ``db.NAME``.

    Args:
        catalog: From ``catalog``.
        name: Its name.
        partition: ``day`` or ``month`` (of ``at``), ``identity`` (``city``), ``bucket`` (``id``); none else.
        format_version: 1 or 2; see ``v3_table`` for 3.
        sorted_by: A column that its declared sort order is of.
        properties: Table properties.
    """
    order = SortOrder()
    if sorted_by is not None:
        order = SortOrder(SortField(SCHEMA.find_field(sorted_by).field_id, IdentityTransform()), order_id=1)
    return catalog.create_table(
        ("db", name),
        SCHEMA,
        partition_spec=PartitionSpec(_FIELDS[partition]) if partition else PartitionSpec(),
        sort_order=order,
        properties={"format-version": str(format_version), **(properties or {})},
    )


def append(
    table: Table,
    ids: Iterable[int],
    *,
    city: str | None = "NYC",
    at: dt.datetime | None = DAY0,
    branch: str | None = None,
    summary: Mapping[str, str] | None = None,
) -> list[str]:
    """Append rows in one commit: a file for each partition that they fall in. Gives the paths."""
    base = _base(table)
    files = write_files(base, list(ids), city, at)
    more = dict(summary or {})
    publish(base, lambda fresh: Change("append", added=files, branch=branch, summary=more))
    table.refresh()
    return [file.file_path for file in files]


def small_files(table: Table, count: int, *, rows: int = 10, first: int = 0, **given: Any) -> list[str]:
    """So many appends of so many rows each, ids from ``first`` on; takes what ``append`` takes."""
    paths = []
    for number in range(count):
        start = first + number * rows
        paths += append(table, range(start, start + rows), **given)
    return paths


def overwrite(table: Table, path: str, ids: Iterable[int], **given: Any) -> list[str]:
    """Put rows in the place of a data file of main, as a copy-on-write update does."""
    base = _base(table)
    old = _live(table)[path]
    files = write_files(base, list(ids), given.get("city", "NYC"), given.get("at", DAY0)) if ids else ()
    publish(base, lambda fresh: Change("overwrite", added=files, removed=(old,)))
    table.refresh()
    return [file.file_path for file in files]


def delete_positions(
    table: Table, by_path: Mapping[str, Sequence[int]], *, scoped: bool = True, apart: bool = False
) -> None:
    """Merge-on-read deletes of rows by their positions in data files, in one commit.

    Args:
        table: The table, format version 2.
        by_path: Positions of each data file.
        scoped: A delete file for each data file that says in its bounds which one; else one a partition.
        apart: A commit for each delete file.
    """
    known = _live(table)
    groups: dict[Any, dict[str, Sequence[int]]] = defaultdict(dict)
    for path, numbers in by_path.items():
        file = known[path]
        key = (file.spec_id, file.partition or Record(), path if scoped else None)
        groups[key][path] = numbers
    made = []
    for (spec_id, partition, path), held in groups.items():
        body = deletes.positions(*((name, n) for name, numbers in held.items() for n in numbers))
        file = deletes.delete_file(table, body, partition=partition, bounds=path)
        file.spec_id = spec_id
        made.append(file)
    for batch in [[file] for file in made] if apart else [made]:
        deletes.commit(table, *batch)


def delete_keys(table: Table, ids: Sequence[int], *, partition: Record | None = None) -> None:
    """An equality delete of ids, for a partition of the default spec, or everywhere if it has none."""
    body = deletes.keys(1, "id", pa.int64(), list(ids))
    deletes.commit(table, deletes.delete_file(table, body, equality=(1,), partition=partition))


def evolve_spec(table: Table, to: str | None) -> None:
    """Make the default spec one of ``table``'s, or unpartitioned."""
    with table.update_spec() as update:
        for field in table.spec().fields:
            update.remove_field(field.name)
        if to is not None:
            wanted = _FIELDS[to]
            column = SCHEMA.find_column_name(wanted.source_id)
            assert column is not None
            update.add_field(column, wanted.transform, f"{wanted.name}_{table.metadata.default_spec_id}")
    table.refresh()


def evolve_schema(table: Table, add: str = "note", rename: tuple[str, str] | None = None) -> None:
    """Add a string column, and rename another."""
    with table.update_schema() as update:
        update.add_column(add, StringType())
        if rename is not None:
            update.rename_column(*rename)
    table.refresh()


def branch(table: Table, name: str, snapshot_id: int | None = None) -> None:
    """A branch at a snapshot; the current one by default."""
    table.manage_snapshots().create_branch(snapshot_id or _head(table), name).commit()
    table.refresh()


def tag(table: Table, name: str, snapshot_id: int | None = None) -> None:
    """A tag of a snapshot; the current one by default."""
    table.manage_snapshots().create_tag(snapshot_id or _head(table), name).commit()
    table.refresh()


def rollback(table: Table, steps: int = 1) -> int:
    """Move main back; gives the snapshot that no ref names any more."""
    left = snapshot = table.current_snapshot()
    for _ in range(steps):
        assert snapshot is not None
        assert snapshot.parent_snapshot_id is not None
        snapshot = table.snapshot_by_id(snapshot.parent_snapshot_id)
    assert snapshot is not None
    assert left is not None
    table.manage_snapshots().rollback_to_snapshot(snapshot.snapshot_id).commit()
    table.refresh()
    return left.snapshot_id


def staged(table: Table, ids: Iterable[int], wap_id: str = "wap-1", **given: Any) -> int:
    """A snapshot written to be audited and then published: on no ref. Gives its id."""
    name = f"staged-{uuid.uuid4()}"
    branch(table, name)
    append(table, ids, branch=name, summary={"wap.id": wap_id}, **given)
    made = table.metadata.refs[name].snapshot_id
    table.manage_snapshots().remove_branch(name).commit()
    table.refresh()
    return made


def take(table: Table, paths: Iterable[Path]) -> None:
    """Append files that somebody else wrote to an unpartitioned table, without metrics."""
    files = []
    for path in paths:
        file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=str(path),
            file_format=FileFormat.PARQUET,
            partition=Record(),
            record_count=pq.read_metadata(path).num_rows,
            file_size_in_bytes=path.stat().st_size,
        )
        file.spec_id = 0
        files.append(file)
    publish(_base(table), lambda fresh: Change("append", added=tuple(files)))
    table.refresh()


def write_files(
    base: Base, ids: Sequence[int], city: str | None = "NYC", at: dt.datetime | None = DAY0
) -> tuple[DataFile, ...]:
    """Write rows of the current schema, a file for each partition; nothing is committed."""
    spec, schema = base.metadata.spec(), base.metadata.schema()
    groups: dict[Any, list[int]] = defaultdict(list)
    for item in ids:
        row = {1: item, 2: city, 3: at, 4: item / 2}
        groups[_partition(spec, schema, row)].append(item)
    return tuple(_write(base, held, city, at, partition) for partition, held in groups.items())


def _partition(spec: PartitionSpec, schema: Schema, row: Mapping[int, Any]) -> Record:
    from pyiceberg.utils.datetime import datetime_to_micros

    values = []
    for field in spec.fields:
        value = row.get(field.source_id)
        if isinstance(value, dt.datetime):
            value = datetime_to_micros(value)
        change = field.transform.transform(schema.find_type(field.source_id))
        values.append(change(value))
    return Record(*values)


def _write(
    base: Base, ids: Sequence[int], city: str | None, at: dt.datetime | None, partition: Record
) -> DataFile:
    from pyiceberg.io.pyarrow import (
        compute_statistics_plan,
        data_file_statistics_from_parquet_metadata,
        parquet_path_to_id_mapping,
        schema_to_pyarrow,
    )

    schema = base.metadata.schema()
    known = {1: list(ids), 2: [city] * len(ids), 3: [at] * len(ids), 4: [item / 2 for item in ids]}
    columns = [known.get(field.field_id, [None] * len(ids)) for field in schema.fields]
    arrow = schema_to_pyarrow(schema)
    body = pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, arrow, strict=True)], schema=arrow
    )
    path = f"{base.metadata.location}/data/{uuid.uuid4()}.parquet"
    place = local_path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(body, place)
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=pq.read_metadata(place),
        stats_columns=compute_statistics_plan(schema, base.metadata.properties),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=partition,
        file_size_in_bytes=place.stat().st_size,
        sort_order_id=None,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )
    file.spec_id = base.metadata.default_spec_id
    return file


def _base(table: Table) -> Base:
    *namespace, name = table.name()
    return load_base(table.catalog, (".".join(namespace), name))


def _head(table: Table) -> int:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.snapshot_id


def _live(table: Table) -> dict[str, DataFile]:
    from ldp_maintenance.testing.looks import live_files

    return live_files(table)
