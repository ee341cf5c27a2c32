"""Rows opened for checks: those in memory on a private bounded connection, others where they lie."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from ldp_core import _duck
from ldp_core.errors import ConfigError

from ldp_quality.executor import DuckDBExecutor
from ldp_quality.executors.stored import stored
from ldp_quality.kinds import kind_of
from ldp_quality.plan import Executor


@contextmanager
def opened(df: Any, *, memory_limit: str | None = None) -> Iterator[Executor]:
    """Open rows for checks.

    Args:
        df: A pyarrow Table or RecordBatchReader, a pandas or polars frame, a DuckDB relation, a table or a
            file of ``ldp_core``, or another source (see ``ldp_quality.executors.source.Source``).
        memory_limit: The limit of an engine in this process, such as ``250MB``.

    Raises:
        ConfigError: It is none of these, two columns have one name, or Arrow has no type for one.
    """
    source = stored(df) or df
    if hasattr(type(source), "opened"):  # of the class: a frame may have a column of that name
        with source.opened(memory_limit) as there:
            yield there
        return
    rows = _arrow(df)
    names = rows.schema.names
    _refuse_twice(names)
    columns = {field.name: kind_of(field.type) for field in rows.schema}
    with tempfile.TemporaryDirectory(prefix="ldp-checks-") as folder:
        con = _duck.connect(memory_limit=memory_limit, temp_directory=Path(folder))
        try:
            con.register("frame", _readable(rows))
            if isinstance(rows, pa.RecordBatchReader):
                con.execute("CREATE TABLE kept AS SELECT * FROM frame")
            name = "kept" if isinstance(rows, pa.RecordBatchReader) else "frame"
            listed = ", ".join(_duck.ident(place) for place in _places(len(names))) or "NULL AS nothing"
            ordered = f"SELECT {listed}, row_number() OVER () - 1 AS __row FROM {name}"
            yield DuckDBExecutor(con, f"SELECT {listed} FROM {name}", ordered, columns)
        finally:
            con.close()


def _places(width: int) -> list[str]:
    return [f"c{at}" for at in range(width)]


def _arrow(df: Any) -> pa.Table | pa.RecordBatchReader:
    """The rows as Arrow, copied as little as the library allows."""
    if isinstance(df, pa.Table | pa.RecordBatchReader):
        return df
    if isinstance(df, pa.RecordBatch):
        return pa.Table.from_batches([df])
    library = type(df).__module__.partition(".")[0]
    frame = hasattr(type(df), "columns")  # a Series is none
    if library == "pandas" and frame:
        _refuse_twice([str(name) for name in df.columns])
        return _converted(lambda: pa.Table.from_pandas(df, preserve_index=False))
    if library == "polars" and frame and hasattr(df, "to_arrow"):
        return _plain_texts(_converted(df.to_arrow))
    if library in {"duckdb", "_duckdb"} and hasattr(df, "to_arrow_reader"):
        return df.to_arrow_reader()
    hint = "collect() it first" if type(df).__name__ == "LazyFrame" else None
    raise ConfigError(
        f"checks read a pyarrow Table or RecordBatchReader, a pandas or polars frame, a DuckDB relation, "
        "a table or a file of ldp_core, FileTable or PostgresTable, "
        f"not {type(df).__module__}.{type(df).__qualname__}",
        hint=hint,
    )


def _refuse_twice(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"two columns are called {twice[0]!r}; a check could mean either")


def _converted(convert: Callable[[], pa.Table]) -> pa.Table:
    """A frame as Arrow.

    Raises:
        ConfigError: It holds what Arrow has no type for, such as a column of numbers and texts.
    """
    try:
        return convert()
    except (pa.ArrowException, TypeError, ValueError) as error:
        told = "; ".join(str(part) for part in error.args)
        hint = "give each column values of one type, or leave it out"
        raise ConfigError(f"the frame cannot be read: {told}", hint=hint) from error


def _plain_texts(table: pa.Table) -> pa.Table:
    """Polars' large and viewed texts under the types that a schema check names."""
    plain = {
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
    }
    fields = [field.with_type(plain.get(field.type, field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _readable(rows: pa.Table | pa.RecordBatchReader) -> pa.Table | pa.RecordBatchReader:
    """The rows with columns called by position, in types that DuckDB reads; nothing changes its value."""
    names = _places(len(rows.schema.names)) or ["nothing"]
    if isinstance(rows, pa.Table):
        if not rows.schema.names:
            return pa.table({"nothing": pa.nulls(rows.num_rows)})
        return pa.table([_column(column) for column in rows.columns], names=names)
    fields = [pa.field(name, _type(field.type)) for name, field in zip(names, rows.schema, strict=False)]
    schema = pa.schema(fields)
    batches = (
        pa.RecordBatch.from_arrays([_column(column) for column in batch.columns], schema=schema)
        for batch in rows
    )
    return pa.RecordBatchReader.from_batches(schema, batches)


def _type(type_: pa.DataType) -> pa.DataType:
    """A type of the same values that DuckDB reads."""
    if pa.types.is_float16(type_):
        return pa.float32()
    if pa.types.is_duration(type_):
        return pa.int64()
    return pa.string() if pa.types.is_decimal256(type_) else type_


def _column(column: Any) -> Any:
    wanted = _type(column.type)
    return column if wanted == column.type else column.cast(wanted)
