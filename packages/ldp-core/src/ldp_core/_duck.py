"""The only place that opens a DuckDB connection: memory, threads, spill folder, no extension downloads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

DEFAULT_MEMORY_LIMIT = "400MB"

_SIZE = re.compile(
    r"\s*((?:\d+(?:\.\d*)?|\.\d+)(?:e\d+)?)\s*(b|bytes?|[kmgt]i?b?|(kilo|mega|giga|tera)bytes?|%)\s*",
    re.IGNORECASE,
)
_GLOB = str.maketrans({char: f"[{char}]" for char in "*?["})
_SAME = {
    "s3a": ("s3",),
    "s3n": ("s3",),
    "gcs": ("gs",),
    "gs": ("gcs",),
    "abfss": ("abfs", "abfss"),
    "abfs": ("abfs", "abfss"),
    "memory": ("memory",),
}
"""Schemes under which an fsspec file system lists files that were asked for under another."""


def connect(
    *,
    memory_limit: str | None = None,
    temp_directory: Path | None = None,
    threads: int | None = None,
    database: str = ":memory:",
    read_only: bool = False,
) -> DuckDBPyConnection:
    """Open a bounded DuckDB connection.

    Args:
        memory_limit: The engine's limit such as ``400MB``; ``LDP_MEMORY_LIMIT``, then 400 MB, by default.
        temp_directory: Where it spills.
        threads: Worker threads; the number of CPUs this process may use by default.
        database: A file, or memory.
        read_only: For a file.

    Raises:
        UsageError: The limit is no size.
    """
    import tempfile

    import duckdb

    limit = memory_limit or os.environ.get("LDP_MEMORY_LIMIT") or DEFAULT_MEMORY_LIMIT
    config: dict[str, Any] = {
        "memory_limit": limit,
        "temp_directory": str(temp_directory or tempfile.gettempdir()),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": threads or _cpus(),
    }
    try:
        con = duckdb.connect(database, read_only=read_only, config=config)
    except duckdb.ParserException as error:
        raise _no_size(limit, "--memory-limit" if memory_limit else "LDP_MEMORY_LIMIT") from error
    con.execute("SET TimeZone='UTC'")
    return con


def set_memory_limit(con: DuckDBPyConnection, memory_limit: str) -> None:
    """Set the memory that a connection may use.

    Raises:
        UsageError: It is no size.
    """
    import duckdb

    try:
        con.execute(f"SET memory_limit={text(memory_limit)}")
    except duckdb.ParserException as error:
        raise _no_size(memory_limit, "--memory-limit") from error


def refuse_no_size(limit: str) -> None:
    """Refuse a memory limit that no engine takes, without one: ``400MB``, ``2 GiB`` and ``80%`` are sizes.

    Raises:
        UsageError: It is no size, or zero.
    """
    found = _SIZE.fullmatch(limit)
    if found is None or float(found[1]) == 0:
        raise _no_size(limit, "--memory-limit")


def _no_size(limit: str, said: str) -> UsageError:
    return UsageError(f"{said}: {limit!r} is no size", hint="write one such as 400MB or 2GB")


@contextmanager
def private(*, memory_limit: str | None = None) -> Iterator[DuckDBPyConnection]:
    """A connection that spills into a folder of its own, removed with it.

    A sandbox needs this: DuckDB lets a locked connection read and write everything in its spill folder.
    """
    import tempfile

    with (
        tempfile.TemporaryDirectory(prefix="ldp-") as folder,
        closing(connect(memory_limit=memory_limit, temp_directory=Path(folder))) as con,
    ):
        yield con


@contextmanager
def at_most(con: DuckDBPyConnection, memory_limit: str) -> Iterator[None]:
    """Bound the memory of a connection more tightly for a while."""
    query = "SELECT current_setting('memory_limit'), parse_formatted_bytes(current_setting('memory_limit'))"
    before, now = con.execute(query).fetchall()[0]
    con.execute(f"SET memory_limit={text(memory_limit)}")
    if con.execute(query).fetchall()[0][1] > now:
        con.execute(f"SET memory_limit={text(before)}")
    try:
        yield
    finally:
        con.execute(f"SET memory_limit={text(before)}")


def sandbox(con: DuckDBPyConnection, paths: Iterable[str] = ()) -> None:
    """Lock a connection for good: it may open these files and nothing else, and no setting can be changed.

    ``allowed_paths`` alone would let a statement write to those files: run only what ``ldp_core._sql.guard``
    has passed. Views and file systems that the queries need are made before.

    Args:
        con: From ``private``.
        paths: Files, as they are given to ``read_parquet`` by way of ``file_path`` or not.
    """
    allowed = sorted({form for path in paths for form in _forms(path)})
    con.execute("SET python_enable_replacements=false")
    if allowed:
        con.execute(f"SET allowed_paths=[{', '.join(text(path) for path in allowed)}]")
    con.execute("SET enable_external_access=false; SET lock_configuration=true")


def file_path(path: str) -> str:
    """A file's path as DuckDB is to be given it: a local one without its scheme, and never a pattern."""
    return _plain(path).translate(_GLOB)


def _plain(path: str) -> str:
    for prefix in ("file://", "file:"):
        if path.startswith(prefix):
            return path.removeprefix(prefix)
    return path


def _forms(path: str) -> set[str]:
    """The spellings under which DuckDB asks for one file: escaped, plain, and as fsspec gives it back."""
    forms = {path, _plain(path), file_path(path)}
    if "://" in path:
        scheme, rest = path.split("://", 1)
        forms.update(f"{other}://{rest}" for other in _SAME.get(scheme, ()))
        container, _, key = rest.partition("/")
        forms.update(f"{other}://{container.split('@')[0]}/{key}" for other in _SAME.get(scheme, ()))
    return forms


def streamed(con: DuckDBPyConnection, sql: str, rows: int = 1_000_000) -> pa.RecordBatchReader:
    """The rows of a SELECT as a stream of Arrow batches.

    Of an error in a row that is not among the first, DuckDB's own reader keeps only the text, as an OSError.

    Args:
        con: The connection.
        sql: The SELECT.
        rows: The most rows of a batch.

    Raises:
        duckdb.Error: The SELECT fails, also while the stream is read.
    """
    import duckdb
    import pyarrow as pa

    reader = con.sql(sql).to_arrow_reader(rows)

    def batches() -> Iterator[pa.RecordBatch]:
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except OSError as error:
                raise duckdb.Error(str(error)) from error
            yield batch

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def ident(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def free_name(word: str, taken: Iterable[str]) -> str:
    """A column's name that no other has, whatever its case: with underscores before it until none has it."""
    names = {name.casefold() for name in taken}
    while word.casefold() in names:
        word = f"_{word}"
    return word


def text(value: str) -> str:
    """A quoted SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def _cpus() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
