"""A query's rows as a table, JSON, CSV or Parquet, streamed; a file appears whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from ldp_core._duck import streamed
from ldp_core._trouble import REMEDIES, file_error
from ldp_core.errors import QueryError, UsageError
from ldp_core.query.session import Query, unique_names

FORMATS = ("table", "json", "csv", "parquet")
_BATCH = 50_000
_BYTES = "unhex(replace(CAST({column} AS VARCHAR), '-', ''))"


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A name to write to, in the same folder; the file takes its place only when the block ends well.

    Raises:
        UsageError: The folder does not exist or cannot be written.
    """
    target = Path(path)
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder, or its folder does not exist")
    partial = target.absolute().parent / f".{target.name}.{uuid4().hex[:8]}.partial"
    try:
        yield partial
        partial.replace(target)
    except OSError as error:
        known = file_error(error.errno) if error.errno in REMEDIES else None
        why = known.message if known else error.strerror or error
        raise UsageError(f"{path} cannot be written: {why}", hint=known.hint if known else None) from error
    finally:
        partial.unlink(missing_ok=True)


def write_json(query: Query, out: IO[str], limit: int | None = None) -> int:
    """A list of objects, one a line.

    Integers and decimals are numbers with all their digits, NaN and the infinities null, dates and times ISO
    8601 text, UUIDs text, binary values hexadecimal text. Names that meet are told apart: ``n``, ``n_1``.

    Returns:
        Rows written.
    """
    names, chunks = query.rows()
    keys = [json.dumps(name, ensure_ascii=False) for name in unique_names(names)]
    count = 0
    for row in _limited(chunks, limit):
        body = ", ".join(f"{key}: {json_text(value)}" for key, value in zip(keys, row, strict=True))
        out.write(f"{',' if count else '['}\n  {{{body}}}")
        count += 1
    out.write("\n]\n" if count else "[]\n")
    return count


def write_jsonl(query: Query, out: IO[str], limit: int | None = None) -> int:
    """One JSON object a line, with the values of ``write_json``.

    Returns:
        Rows written.
    """
    names, chunks = query.rows()
    keys = unique_names(names)
    count = 0
    for row in _limited(chunks, limit):
        out.write(json_text(dict(zip(keys, row, strict=True))) + "\n")
        count += 1
    return count


def json_text(value: Any) -> str:
    """One value as JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else "null"
    if isinstance(value, dict):
        pairs = (f"{json.dumps(_key(key), ensure_ascii=False)}: {json_text(v)}" for key, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(json_text(item) for item in value)}]"
    return json.dumps(_key(value), ensure_ascii=False)


def write_csv(query: Query, out: IO[str], limit: int | None = None) -> int:
    """CSV by RFC 4180: comma, CRLF, quotes where needed. NULL is empty, the empty string is ``""``.

    Returns:
        Rows written.
    """
    names, chunks = query.rows()
    out.write(",".join(_csv_field(name) for name in names) + "\r\n")
    count = 0
    for row in _limited(chunks, limit):
        out.write(",".join(_csv_field(value) for value in row) + "\r\n")
        count += 1
    return count


def write_parquet(query: Query, path: Path, limit: int | None = None) -> int:
    """One Parquet file, row group by row group. An interval is text, and so is a UUID inside of a column.

    Returns:
        Rows written.

    Raises:
        QueryError: The query fails while it runs, or a type has no place in Parquet.
    """
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    sql = query.cast({"UUID": _BYTES, "INTERVAL": "VARCHAR"})
    uuids = [str(type) == "UUID" for type in query.con.sql(query.sql).types]
    sql = sql if limit is None else f"SELECT * FROM (\n{sql}\n) LIMIT {limit}"
    count = 0
    try:
        reader = streamed(query.con, sql, _BATCH)
        names = unique_names(reader.schema.names)
        types = [
            pa.uuid() if is_uuid else type for is_uuid, type in zip(uuids, reader.schema.types, strict=True)
        ]
        schema = pa.schema(list(zip(names, types, strict=True)))
        with pq.ParquetWriter(path, schema) as writer:
            for batch in reader:
                columns = [
                    column.cast(pa.binary(16)).cast(type) if is_uuid else column
                    for is_uuid, column, type in zip(uuids, batch.columns, types, strict=True)
                ]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                count += batch.num_rows
    except pa.ArrowNotImplementedError as error:
        raise QueryError(f"Parquet cannot hold a column of this query: {error}", hint="cast it") from error
    except duckdb.Error as error:
        from ldp_core._sql import query_error

        raise query_error(error) from error
    return count


def table_rows(query: Query, limit: int) -> tuple[list[str], list[tuple[Any, ...]], int]:
    """The first rows for a table, and how many there are in all.

    Returns:
        Column names, at most ``limit`` rows, and the count of every row.
    """
    names, chunks = query.rows()
    shown: list[tuple[Any, ...]] = []
    total = 0
    for rows in chunks:
        shown += rows[: limit - len(shown)]
        total += len(rows)
    return names, shown, total


def _limited(chunks: Iterator[list[tuple[Any, ...]]], limit: int | None) -> Iterator[tuple[Any, ...]]:
    return islice((row for rows in chunks for row in rows), limit)


def _csv_field(value: Any) -> str:
    if value is None:
        return ""
    text = _csv_text(value)
    if text == "" or any(char in text for char in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def _csv_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dict | list | tuple):
        return json_text(value)
    return _key(value)


def _key(value: Any) -> str:
    """A value as text, as JSON has no type for it."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return str(value)


def format_of(word: str | None, output: str | None, as_json: bool) -> str:
    """The format that the options mean: ``--format``, ``--json``, or the ending of ``--output``.

    Raises:
        UsageError: Parquet without a file, or two formats.
    """
    if as_json and word not in (None, "json"):
        raise UsageError(f"--json and --format {word} exclude each other")
    ending = Path(output).suffix.lower().lstrip(".") if output else ""
    chosen = "json" if as_json else word or (ending if ending in FORMATS[1:] else "table")
    if chosen == "parquet" and output is None:
        raise UsageError("--format parquet needs --output FILE")
    return chosen


def check_limit(limit: int | None) -> None:
    """Refuse a negative ``--max-rows``.

    Raises:
        UsageError: It is negative.
    """
    if limit is not None and limit < 0:
        raise UsageError(f"--max-rows must be 0 or more, not {limit}")
