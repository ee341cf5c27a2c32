"""Parquet files: types and row counts from the footers, rows read in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core._duck import ident
from ldp_core.errors import Problem, SourceError
from ldp_core.shape import Key, Shape, Text
from ldp_core.sources import _files
from ldp_core.sources.csv import FILES, LOSSES

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, RunContext, Spec

SHAPE = Shape(
    doc="Parquet files: one, a glob or a folder, local or in an object store.",
    keys=(
        Key("name", Text(), "What the source is called.", required=True),
        Key("path", Text(), "A file, a glob, a folder, or an s3://, gs:// or abfss:// URI.", required=True),
        Key("files", FILES, "How several files make one table."),
        LOSSES,
    ),
)


class _ParquetSource:
    """The source named ``PARQUET``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """Nothing beyond the shape."""
        return []

    def describe(self, spec: Spec) -> str:
        """The path."""
        return _files.describe_path(spec)

    def missing(self, spec: Spec) -> str | None:
        """Whether no file is there."""
        return _files.missing_path(spec, "Parquet")

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Open for reading; see ``Source.open``.

        Raises:
            SourceNotFound: There is no file.
            SourceError: A file is no Parquet file, or the files do not have the same columns.
        """
        from ldp_core.sources._typed import TypedExtract, named, spilled
        from ldp_core.tables.spill import spill

        files = _files.resolve(spec, "Parquet")
        _files.attach_stores(ctx.con, files)
        names = [_files.shown(file, spec.base_dir) for file in files]
        footers = [_footer(file, name) for file, name in zip(files, names, strict=True)]
        by_name = (spec.get("files") or {}).get("union") == "by_name"
        schema = _common([footer.schema for footer in footers], names, by_name)
        named(schema, names[0])
        if any(footer.int96 for footer in footers):
            # DuckDB cuts the nanoseconds of INT96 in silence; Arrow keeps them to be counted.
            path = spill(ctx.scratch, schema, _batches(files, schema))
            return spilled(path, schema, tuple(files))
        fields = ", ".join(ident(name) for name in schema.names)
        union = ", union_by_name=true" if by_name else ""
        sql = f"SELECT {fields} FROM read_parquet({_files.duck_list(files)}, hive_partitioning=false{union})"
        return TypedExtract(sql, schema, sum(footer.rows for footer in footers), tuple(files))


class _Footer:
    """What the end of a file tells."""

    def __init__(self, metadata: Any) -> None:
        self.schema: pa.Schema = metadata.schema.to_arrow_schema().remove_metadata()
        self.rows: int = metadata.num_rows
        columns = (metadata.schema.column(at) for at in range(metadata.num_columns))
        self.int96 = any(column.physical_type == "INT96" for column in columns)


def _footer(file: str, name: str) -> _Footer:
    import pyarrow as pa
    import pyarrow.parquet as pq

    filesystem, inner = fs.arrow_fs(file)
    try:
        with filesystem.open_input_file(inner) as handle:
            return _Footer(pq.read_metadata(handle))
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"is no Parquet file: {str(error).splitlines()[0]}", file=name) from error


def _common(schemas: list[pa.Schema], names: list[str], by_name: bool) -> pa.Schema:
    """The one schema of all files.

    Raises:
        SourceError: A file has other columns (unless they are put together by name), or another type.
    """
    import pyarrow as pa

    first = schemas[0]
    fields = {field.name: field for field in first}
    for schema, name in zip(schemas[1:], names[1:], strict=True):
        for field in schema:
            known = fields.get(field.name)
            if known is not None and _read_as(known.type) != _read_as(field.type):
                raise SourceError(
                    f"column {field.name!r} is {field.type} here and {known.type} in {names[0]}", file=name
                )
            if known is None or not known.nullable:
                fields[field.name] = field if known is None else known.with_nullable(field.nullable)
        differs = set(schema.names) ^ set(first.names)
        if differs and not by_name:
            raise SourceError(
                f"does not have the same columns as {names[0]}: {', '.join(map(repr, sorted(differs)))}",
                file=name,
                hint='set files: {"union": "by_name"} to load files with different columns',
            )
    everywhere = set(first.names).intersection(*(schema.names for schema in schemas))
    return pa.schema(
        [field if name in everywhere else field.with_nullable(True) for name, field in fields.items()]
    )


def _read_as(kind: pa.DataType) -> pa.DataType:
    """The type as the engine reads it: texts and bytes are one type each, however Arrow kept them."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    one = {
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
    }
    return one.get(kind, kind)


def _batches(files: list[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of all files in one schema; a column that a file lacks is NULL."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        filesystem, inner = fs.arrow_fs(file)
        with filesystem.open_input_file(inner) as handle:
            for batch in pq.ParquetFile(handle).iter_batches(batch_size=65536):
                arrays = [
                    batch.column(field.name).cast(field.type)
                    if field.name in batch.schema.names
                    else pa.nulls(batch.num_rows, field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


SOURCE = _ParquetSource()
