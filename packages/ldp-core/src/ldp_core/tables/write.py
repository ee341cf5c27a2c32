"""Write the rows of a SELECT as data files: Parquet with field ids, in one bounded pass, uncommitted."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core._duck import ident, text
from ldp_core.tables import partition_sql
from ldp_core.tables.metrics import data_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.types import IcebergType

DEFAULT_FILE_SIZE = 128 * 1024 * 1024
_PARTITIONS = 100
"""Partitions of which the rows that threads keep, before they write them, fit in half of the engine's memory.

Of 10M rows in 90 days under 400 MB: 1.3 times an unpartitioned load; with four times as many rows kept, 1.7
times, for then they spill.
"""
_FEWEST, _MOST = 2_048, 131_072
_CODECS = {"zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed"}


@dataclass(frozen=True)
class Written:
    """Data files on disk that no snapshot has yet.

    Attributes:
        files: As a commit adds them.
        rows: Rows in them.
        bytes: Their size.
    """

    files: tuple[DataFile, ...]
    rows: int
    bytes: int


@dataclass(frozen=True)
class Layout:
    """What the files of a table look like.

    Attributes:
        schema: The Iceberg schema they are written with.
        spec: The partition spec.
        properties: The table's properties.
        io_properties: How its object store is reached, in pyiceberg's names.
    """

    schema: Schema
    spec: PartitionSpec
    properties: Mapping[str, str]
    io_properties: Mapping[str, str]

    @property
    def target_size(self) -> int:
        """Bytes a file should have: ``write.target-file-size-bytes``, 128 MiB by default."""
        return int(self.properties.get("write.target-file-size-bytes", DEFAULT_FILE_SIZE))

    @property
    def codec(self) -> str:
        """The compression of pages: ``write.parquet.compression-codec``, zstd by default."""
        codec = self.properties.get("write.parquet.compression-codec", "zstd").lower()
        return codec if codec in _CODECS else "zstd"


def write_files(
    con: DuckDBPyConnection, sql: str, layout: Layout, folder: str, flag: str | None = None
) -> Written:
    """Write a batch.

    Args:
        con: The run's connection; its memory limit bounds the pass.
        sql: A SELECT that yields exactly the columns of ``layout.schema``, in their types.
        layout: How files look.
        folder: Where they go: a path or URI of this run alone. Each call makes a folder of its own inside.
        flag: A BOOLEAN column that the SELECT yields besides: no file holds rows of which it is true and
            others. It is not written.

    Raises:
        duckdb.Error: The SELECT failed; files that were begun stay for ``Stage.discard``.
    """
    place = f"{folder.rstrip('/')}/{uuid.uuid4().hex[:12]}"
    keys = key_columns(layout)
    if fs.is_local(place) and not has_fixed(layout.schema.as_struct()) and (keys or flag is None):
        return _copy(con, sql, layout, place, [*keys, *([] if flag is None else [(flag, None)])])
    from ldp_core.tables.write_arrow import write_batches

    # A copy that keeps two kinds of rows apart costs 1.4 times one that does not; two writers cost nothing.
    return write_batches(con, sql, layout, place, flag)


def field_ids(schema: Schema) -> str:
    """The FIELD_IDS option of a DuckDB copy: every field of a schema, nested ones too."""
    return "{" + ", ".join(f"{text(f.name)}: {_ids(f.field_id, f.field_type)}" for f in schema.fields) + "}"


def _ids(field_id: int, kind: IcebergType) -> str:
    from pyiceberg import types as ice

    inner: list[tuple[str, int, IcebergType]] = []
    if isinstance(kind, ice.StructType):
        inner = [(f.name, f.field_id, f.field_type) for f in kind.fields]
    elif isinstance(kind, ice.ListType):
        inner = [("element", kind.element_id, kind.element_type)]
    elif isinstance(kind, ice.MapType):
        inner = [("key", kind.key_id, kind.key_type), ("value", kind.value_id, kind.value_type)]
    if not inner:
        return str(field_id)
    parts = [f"{text(name)}: {_ids(number, own)}" for name, number, own in inner]
    return "{" + ", ".join([f"__duckdb_field_id: {field_id}", *parts]) + "}"


def key_columns(layout: Layout) -> list[tuple[str, str]]:
    """(name, SQL) of the partition keys; the names are none of the table's."""
    found = partition_sql.keys(layout.spec, layout.schema)
    return [(unused(layout, f"__p{number}"), key) for number, key in enumerate(found)]


def unused(layout: Layout, name: str) -> str:
    """The name with underscores before it until no column has it."""
    taken = {field.name.casefold() for field in layout.schema.fields}
    while name in taken:
        name = "_" + name
    return name


def _copy(
    con: DuckDBPyConnection, sql: str, layout: Layout, place: str, keys: list[tuple[str, str | None]]
) -> Written:
    """One ``COPY``: the fastest way to local files, parted by (name, SQL); without SQL the rows have it."""
    folder = fs.local_path(place)
    folder.parent.mkdir(parents=True, exist_ok=True)
    options = [
        "FORMAT parquet",
        f"COMPRESSION {layout.codec}",
        f"FIELD_IDS {field_ids(layout.schema)}",
        "RETURN_STATS",
    ]
    if keys:
        more = "".join(f", {expr} AS {ident(name)}" for name, expr in keys if expr is not None)
        sql = f"SELECT *{more} FROM ({sql}) AS b"
        names = ", ".join(ident(name) for name, _ in keys)
        options += [f"PARTITION_BY ({names})", "FILENAME_PATTERN '{uuid}'"]
    else:
        options += [
            "WRITE_EMPTY_FILE false",
            f"FILE_SIZE_BYTES {layout.target_size}",
            "FILENAME_PATTERN '{uuid}'",
        ]
    con.execute(f"SET partitioned_write_flush_threshold={_kept_rows(con, layout.schema)}")
    try:
        con.execute(f"COPY ({sql}) TO {text(str(folder))} ({', '.join(options)})")
        columns = [column[0] for column in con.description or []]
        at = columns.index("filename")
        paths = sorted(str(row[at]) for row in con.fetchall())
    finally:
        con.execute("RESET partitioned_write_flush_threshold")
    return described(paths, layout, "file://" if place.startswith("file://") else "")


def _kept_rows(con: DuckDBPyConnection, schema: Schema) -> int:
    """Rows that a thread keeps for one partition before it writes them."""
    memory, threads = con.execute(
        "SELECT parse_formatted_bytes(current_setting('memory_limit')), current_setting('threads')"
    ).fetchall()[0]
    room = int(memory) // 2 // (int(threads) * _PARTITIONS) // max(_width(schema.as_struct()), 1)
    return max(_FEWEST, min(_MOST, room // _FEWEST * _FEWEST))


def _width(kind: IcebergType) -> int:
    """About how many bytes DuckDB keeps for a value; a text is taken to be short."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.StructType):
        return sum(_width(f.field_type) for f in kind.fields)
    if isinstance(kind, ice.ListType):
        return 16 + 4 * _width(kind.element_type)
    if isinstance(kind, ice.MapType):
        return 16 + 4 * (_width(kind.key_type) + _width(kind.value_type))
    if isinstance(kind, ice.DecimalType):
        return 8 if kind.precision <= 18 else 16
    if isinstance(kind, ice.StringType | ice.BinaryType | ice.FixedType):
        return 32
    if isinstance(kind, ice.BooleanType):
        return 1
    return 4 if isinstance(kind, ice.IntegerType | ice.FloatType | ice.DateType) else 8


def described(paths: list[str], layout: Layout, prefix: str) -> Written:
    """Read the footers (and one row, where the table is partitioned) of local files written for a layout."""
    import pyarrow.parquet as pq

    files = []
    for path in paths:
        with pq.ParquetFile(path) as opened:
            footer = opened.metadata
            if footer.num_rows == 0:
                continue
            partition = _partition(opened, layout)
        size = fs.size(path)
        files.append(
            data_file(
                prefix + path, size, footer, layout.schema, layout.spec.spec_id, partition, layout.properties
            )
        )
    return Written(tuple(files), sum(f.record_count for f in files), sum(f.file_size_in_bytes for f in files))


def _partition(opened: Any, layout: Layout) -> Any:
    from pyiceberg.typedef import Record

    paths = [partition_sql.path_of(layout.schema, f.source_id) for f in layout.spec.fields]
    columns = sorted({".".join(path) for path in paths if path})
    if not columns:
        return Record(*[None for _ in paths])
    row = next(opened.iter_batches(batch_size=1, columns=columns))
    return partition_sql.record(layout.spec, layout.schema, row)


def has_fixed(kind: IcebergType) -> bool:
    """Whether a type holds ``fixed[n]`` anywhere, which only Arrow can write as such."""
    from pyiceberg import types as ice

    if isinstance(kind, ice.StructType):
        return any(has_fixed(f.field_type) for f in kind.fields)
    if isinstance(kind, ice.ListType):
        return has_fixed(kind.element_type)
    if isinstance(kind, ice.MapType):
        return has_fixed(kind.key_type) or has_fixed(kind.value_type)
    return isinstance(kind, ice.FixedType)
