"""Files that DuckDB cannot read right, read by pyiceberg: one file at a time, as often as the SQL is run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.manifest import FileFormat
from pyiceberg.schema import Schema
from pyiceberg.table import FileScanTask
from pyiceberg.types import NestedField

from ldp_core.errors import QueryError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ldp_core.tables.scan import Scan, ScanFile

_NUMBERS = itertools.count(1)


class _Rows:
    """An Arrow stream that DuckDB can open again for every query (the PyCapsule protocol)."""

    def __init__(self, scan: Scan, files: Sequence[ScanFile], columns: Sequence[Mapping[str, Any]]) -> None:
        named = [{**column, "name": f"f{column['id']}"} for column in columns]
        self._scan = scan
        self._files = files
        self._projected = Schema(*(NestedField.model_validate(column) for column in named))
        self._target = schema_to_pyarrow(self._projected, include_field_ids=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A fresh stream; nothing is read before its first batch is asked for."""
        schema = pa.schema(
            [
                *self._target,
                pa.field("file_index", pa.int64()),
                pa.field("file_row_number", pa.int64()),
            ]
        )
        reader = pa.RecordBatchReader.from_batches(schema, self._batches(schema))
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        assert self._scan.table is not None
        metadata, io = self._scan.table
        tasks = self._tasks()
        reader = ArrowScan(metadata, io, self._projected, AlwaysTrue())
        for index, file in enumerate(self._files):
            row = 0
            for batch in reader.to_record_batches([tasks[file.path]]):
                table = pa.Table.from_batches([batch]).cast(self._target)
                count = table.num_rows
                table = table.append_column("file_index", pa.array([index] * count, pa.int64()))
                table = table.append_column("file_row_number", pa.array(range(row, row + count), pa.int64()))
                row += count
                yield from table.cast(schema).to_batches()

    def _tasks(self) -> dict[str, FileScanTask]:
        """pyiceberg's own view of the files; position and equality deletes are left to the SQL."""
        entries, deletes = self._scan.entries, self._scan.deletes
        return {
            file.path: FileScanTask(
                entries[file.path],
                delete_files={
                    entries[deletes[number].path]
                    for number in file.deletes
                    if deletes[number].kind == "vector"
                },
            )
            for file in self._files
        }


def register(
    con: DuckDBPyConnection, scan: Scan, files: Sequence[ScanFile], columns: Sequence[Mapping[str, Any]]
) -> str:
    """Register these files on a connection.

    Args:
        con: Where the SQL will run.
        scan: What they are of.
        files: Data files, or equality deletes in their shape.
        columns: What is read of them, as a schema's JSON has it.

    Returns:
        The name of a view with ``f<id>``, ``file_index`` (the place in ``files``) and ``file_row_number``.

    Raises:
        QueryError: The scan came from JSON, so the open table that pyiceberg needs is not there; or a file's
            format is Avro.
    """
    if scan.table is None:
        raise QueryError(f"{files[0].path} must be read by pyiceberg: {files[0].reason}; plan the scan again")
    for file in files:
        if scan.entries[file.path].file_format == FileFormat.AVRO:
            raise QueryError(
                f"{file.path} is an Avro file, which cannot be read here",
                hint="rewrite it as Parquet with the engine that wrote it",
            )
    name = f"__ldp_scan_{next(_NUMBERS)}"
    con.register(name, _Rows(scan, files, columns))
    return name
