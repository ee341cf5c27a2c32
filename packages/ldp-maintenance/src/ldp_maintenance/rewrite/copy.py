"""The live rows of a group, written anew: streamed through DuckDB, in the order that they had, or sorted."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core._duck import ident, text
from ldp_core.tables.scan import Scan, ScanFile, scan_sql
from ldp_core.tables.write import Layout, described, field_ids, has_fixed, write_files

from ldp_maintenance.policy import Rewrite
from ldp_maintenance.rewrite import zorder
from ldp_maintenance.rewrite.candidates import TARGET_PROPERTY
from ldp_maintenance.rewrite.groups import outputs
from ldp_maintenance.rewrite.order import Order, expression, order_by

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.typedef import Record

_ROW_GROUP = 122_880
_VECTOR = 2_048
_WHOLE = 1.4
"""Of the target: rows that are expected to take less are written as one file, with all threads."""
_GROUPS_A_FILE = 8
"""A file ends with a row group, so its size is right to an eighth where it has that many."""


@dataclass(frozen=True)
class Rows:
    """How rows are read and written.

    Iceberg's names may differ in case only, SQL's may not: in between, columns are ``c1`` to ``cn``.

    Attributes:
        schema: The table's.
        io: Opens its files.
        properties: The table's.
        target: Bytes of a file.
        policy: When files are too small and too large.
    """

    schema: Schema
    io: FileIO
    properties: dict[str, str]
    target: int
    policy: Rewrite

    @property
    def columns(self) -> list[str]:
        """``c1`` to ``cn``."""
        return [f"c{number}" for number, _ in enumerate(self.schema.fields, 1)]

    @property
    def plain(self) -> Schema:
        """The schema with ``c1`` to ``cn`` as the names at its top; ids and all below stay."""
        from pyiceberg.schema import Schema

        pairs = zip(self.columns, self.schema.fields, strict=True)
        return Schema(*(field.model_copy(update={"name": name}) for name, field in pairs))

    @property
    def collide(self) -> bool:
        """Whether two columns differ in case only."""
        return len({field.name.casefold() for field in self.schema.fields}) < len(self.schema.fields)

    def of(self, con: DuckDBPyConnection, scan: Scan, files: Iterable[str] | None = None) -> str:
        """A SELECT of the rows of a scan, with ``c1`` to ``cn``."""
        return f"SELECT * FROM ({scan_sql(con, scan, files=files)}) AS b({', '.join(self.columns)})"

    def named(self, sql: str) -> tuple[str, Schema]:
        """What is written, and under which names: the table's, unless SQL cannot tell them apart."""
        if self.collide:
            return sql, self.plain
        pairs = zip(self.columns, self.schema.fields, strict=True)
        return (
            f"SELECT {', '.join(f'{c} AS {ident(f.name)}' for c, f in pairs)} FROM ({sql}) AS b",
            self.schema,
        )

    def layout(self, schema: Schema, spec: PartitionSpec) -> Layout:
        """How files look."""
        wanted = {**self.properties, TARGET_PROPERTY: str(self.target)}
        return Layout(schema, spec, wanted, dict(self.io.properties))


def arranged(con: DuckDBPyConnection, rows: Rows, sql: str, order: Order) -> str:
    """The rows in an order."""
    if order.kind == "none":
        return sql
    if order.kind == "zorder":
        values = [expression(key, rows.plain) for key in order.keys]
        return zorder.ordered(con, sql, rows.columns, values, order.bits)
    return f"SELECT * FROM ({sql}) AS b ORDER BY {order_by(order, rows.plain)}"


def write(
    con: DuckDBPyConnection,
    rows: Rows,
    sql: str,
    spec: PartitionSpec,
    folder: str,
    estimate: tuple[float, int],
) -> list[DataFile]:
    """Write rows of one partition, in the order in which the SELECT yields them.

    Args:
        con: The group's own connection.
        rows: How they are written.
        sql: The SELECT, from ``Rows.of`` or ``arranged``.
        spec: The partition spec of the files; what they are noted with is up to the caller.
        folder: Where they go.
        estimate: About how many bytes and rows they are.
    """
    written = _written(con, rows, sql, spec.spec_id, folder, estimate)
    low, high = rows.policy.min_file_size_ratio * rows.target, rows.policy.max_file_size_ratio * rows.target
    sizes = [file.file_size_in_bytes for file in written]
    found: list[DataFile] = []
    at = 0
    for first, last in uneven(sizes, low, high):
        found += written[at:first]
        found += _cut(con, rows, written[first:last], spec.spec_id, folder)
        at = last
    return found + written[at:]


def repartitioned(
    con: DuckDBPyConnection, rows: Rows, sql: str, spec: PartitionSpec, folder: str
) -> list[DataFile]:
    """Write rows into the partitions of another spec."""
    query, schema = rows.named(sql)
    return list(write_files(con, query, rows.layout(schema, spec), folder).files)


def uneven(sizes: Sequence[int], low: float, high: float) -> list[tuple[int, int]]:
    """Runs (from, to) of neighbours to be written again so that each file has a fitting size.

    Args:
        sizes: Of the files, in order.
        low: A smaller file goes to its neighbour.
        high: A larger file is cut.
    """
    runs: list[tuple[int, int]] = []
    for place, size in enumerate(sizes):
        if size < low and len(sizes) > 1:
            first, last = (place - 1, place + 1) if place else (0, 2)
        elif size > high:
            first, last = place, place + 1
        else:
            continue
        if runs and first < runs[-1][1]:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return runs


def scan_of(rows: Rows, files: Sequence[DataFile]) -> Scan:
    """A scan of files that no snapshot has yet."""
    import json

    listed = tuple(ScanFile(f.file_path, f.file_size_in_bytes, f.record_count, 0, {}, 0) for f in files)
    schema = json.loads(rows.schema.model_dump_json())
    return Scan("", None, schema, listed, properties=dict(rows.io.properties))


def noted(file: DataFile, spec_id: int, partition: Record, sort_order_id: int | None) -> DataFile:
    """A data file with its place in the table."""
    from pyiceberg.manifest import DataFile as Made

    made = Made.from_args(
        content=file.content,
        file_path=file.file_path,
        file_format=file.file_format,
        partition=partition,
        record_count=file.record_count,
        file_size_in_bytes=file.file_size_in_bytes,
        column_sizes=file.column_sizes,
        value_counts=file.value_counts,
        null_value_counts=file.null_value_counts,
        nan_value_counts=file.nan_value_counts,
        lower_bounds=file.lower_bounds,
        upper_bounds=file.upper_bounds,
        split_offsets=file.split_offsets,
        sort_order_id=sort_order_id,
    )
    made.spec_id = spec_id
    return made


def at_head(metadata: TableMetadata, snapshot_id: int) -> TableMetadata:
    """The metadata with another snapshot as its current one: what is read is read in the current schema."""
    return metadata.model_copy(update={"current_snapshot_id": snapshot_id})


def _cut(
    con: DuckDBPyConnection, rows: Rows, files: Sequence[DataFile], spec_id: int, folder: str
) -> list[DataFile]:
    """Neighbours as so many files as their bytes make, with the same number of rows each."""
    size, count = sum(f.file_size_in_bytes for f in files), sum(f.record_count for f in files)
    number = min(outputs(size, rows.target, rows.policy), count)
    sql = rows.of(con, scan_of(rows, files))
    whole = replace(rows, target=max(size * 2, rows.target))
    found: list[DataFile] = []
    for part in range(number):
        first, last = count * part // number, count * (part + 1) // number
        piece = f"SELECT * FROM ({sql}) AS b LIMIT {last - first} OFFSET {first}"
        found += _written(con, whole, piece, spec_id, folder, (size / number, last - first))
    return found


def _written(
    con: DuckDBPyConnection, rows: Rows, sql: str, spec_id: int, folder: str, estimate: tuple[float, int]
) -> list[DataFile]:
    from pyiceberg.partitioning import PartitionSpec

    query, schema = rows.named(sql)
    # The group is of one partition, so nothing has to be kept apart, and the order stays.
    layout = rows.layout(schema, PartitionSpec(spec_id=spec_id))
    if not fs.is_local(folder) or has_fixed(schema.as_struct()):
        return list(write_files(con, query, layout, folder).files)
    place = f"{folder.rstrip('/')}/{uuid.uuid4().hex[:12]}"
    local = fs.local_path(place)
    local.mkdir(parents=True, exist_ok=True)
    size, count = estimate
    paths = _copied(con, query, layout, local, size, count)
    return list(_described(paths, layout, "file://" if place.startswith("file://") else ""))


def _copied(
    con: DuckDBPyConnection, query: str, layout: Layout, local: Path, size: float, count: int
) -> list[str]:
    """One COPY; where it makes several files it runs on one thread, for else they share each other's rows."""
    options = [
        "FORMAT parquet",
        f"COMPRESSION {layout.codec}",
        f"FIELD_IDS {field_ids(layout.schema)}",
        f"ROW_GROUP_SIZE {_row_group(layout.target_size, size, count)}",
        "RETURN_STATS",
    ]
    if size < layout.target_size * _WHOLE:
        path = local / f"{uuid.uuid4()}.parquet"
        con.execute(f"COPY ({query}) TO {text(str(path))} ({', '.join(options)})")
        return [str(path)]
    options += [
        f"FILE_SIZE_BYTES {layout.target_size}",
        "FILENAME_PATTERN '{i}_{uuid}'",
        "WRITE_EMPTY_FILE false",
    ]
    threads = con.execute("SELECT current_setting('threads')").fetchall()[0][0]
    con.execute("SET threads=1")
    try:
        con.execute(f"COPY ({query}) TO {text(str(local))} ({', '.join(options)})")
        at = [column[0] for column in con.description or []].index("filename")
        paths = [str(row[at]) for row in con.fetchall()]
    finally:
        con.execute(f"SET threads={int(threads)}")
    return sorted(paths, key=lambda path: int(Path(path).name.split("_", 1)[0]))


def _row_group(target: int, size: float, count: int) -> int:
    wide = max(size / max(count, 1), 1)
    fitting = int(target / _GROUPS_A_FILE / wide) // _VECTOR * _VECTOR
    return max(_VECTOR, min(_ROW_GROUP, fitting))


def _described(paths: Sequence[str], layout: Layout, prefix: str) -> Iterable[DataFile]:
    """In the order of the paths."""
    return described(list(paths), layout, prefix).files
