"""Rows of text that a source puts aside: where they stand, what they say, and why they cannot be read.

They are written to Parquet in the run's scratch folder, so that their number does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ldp_core._duck import text
from ldp_core.errors import SourceError
from ldp_core.tables.quarantine import FILE, LINE, RAW, REASON, RULES

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import RunContext

CAST, MISSING, BROKEN = "cast", "not_null", "parse"
"""The rules that a row may break: a type, NOT NULL, the format of the file."""

_BATCH = 1000
_numbers = count()


class Reject(NamedTuple):
    """A row that is put aside.

    Attributes:
        file: Its file, for messages.
        line: The line that it begins at, from 1; None where nobody knows.
        raw: Its text.
        rules: What it breaks.
        reason: Why it cannot be read.
    """

    file: str
    line: int | None
    raw: str
    rules: list[str]
    reason: str


def schema() -> pa.Schema:
    """The columns of ``Extract.rejects``."""
    import pyarrow as pa

    kinds = {LINE: pa.int64(), RULES: pa.list_(pa.string())}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in (FILE, LINE, RAW, RULES, REASON)])


def write(rejects: Iterable[Reject], ctx: RunContext) -> str | None:
    """Write rows that are put aside; bounded memory.

    Returns:
        The Parquet file, or None when there is no row.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = ctx.scratch / f"rejects-{next(_numbers)}.parquet"
    wanted, rows = schema(), 0
    with pq.ParquetWriter(path, wanted) as out:
        for batch in _batches(rejects):
            columns = [
                pa.array(values, field.type)
                for values, field in zip(zip(*batch, strict=True), wanted, strict=True)
            ]
            out.write_batch(pa.record_batch(columns, schema=wanted))
            rows += len(batch)
    return str(path) if rows else None


def read_sql(files: Iterable[str | None]) -> str | None:
    """A SELECT of what ``write`` wrote; None when that is nothing."""
    found = [text(file) for file in files if file]
    return f"SELECT * FROM read_parquet([{', '.join(found)}], hive_partitioning=false)" if found else None


def matched(
    bad_sql: str, records: Iterator[tuple[int | None, str]], total: int, file: str, ctx: RunContext
) -> Iterator[Reject]:
    """Rows that the engine found to be bad, with the places and the texts of a second reading.

    Args:
        bad_sql: A SELECT of the number of a row (from 1, ascending), its rules and its reason.
        records: The line and the text of every row of the file.
        total: How many rows the engine counts.
        file: The file, for messages.
        ctx: The run.

    Raises:
        SourceError: The second reading found other rows than the engine.
    """
    import pyarrow.parquet as pq

    found = Path(ctx.scratch, f"bad-{next(_numbers)}.parquet")
    ctx.con.execute(f"COPY ({bad_sql}) TO {text(str(found))} (FORMAT parquet)")
    with pq.ParquetFile(found) as bad:
        rows = (
            row for batch in bad.iter_batches(_BATCH) for row in zip(*batch.to_pydict().values(), strict=True)
        )
        wanted = next(rows, None)
        number = 0
        for number, (line, raw) in enumerate(records, 1):
            if wanted is not None and wanted[0] == number:
                yield Reject(file, line, raw, wanted[1], wanted[2])
                wanted = next(rows, None)
    if wanted is not None or number != total:
        raise SourceError(
            f"{total} rows were read and {number} found again, so that bad ones cannot be put aside",
            file=file,
            hint="write it with one kind of line end, or load without on_bad_rows",
        )


def _batches(rejects: Iterable[Reject]) -> Iterator[list[Reject]]:
    batch: list[Reject] = []
    for reject in rejects:
        batch.append(reject)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
