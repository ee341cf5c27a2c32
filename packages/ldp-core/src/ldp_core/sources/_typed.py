"""Extracts of sources that know their types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core._duck import text
from ldp_core.errors import SourceError

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.spi import Extract, Loss


@dataclass(frozen=True)
class TypedExtract:
    """An ``Extract`` whose source knows its types.

    Attributes:
        sql: A SELECT over the run's connection, re-readable.
        schema: The source's Arrow types.
        rows: Rows, where known without reading.
        files: The files behind it.
        explain: Turns an error met while reading into a clear one; None leaves it as it is.
        follows_values: False: the table's types follow the source's.
    """

    sql: str
    schema: pa.Schema
    rows: int | None = None
    files: tuple[str, ...] = ()
    explain: Callable[[Exception], Exception | None] | None = None
    follows_values: bool = False

    @property
    def rejects(self) -> str | None:
        """None: every row is read, or the run ends."""
        return None

    def losses(self) -> tuple[Loss, ...]:
        """None: the target counts what it changes."""
        return ()

    def after(self, error: Exception) -> Extract:
        """Nothing can be typed better: the error, explained where the source can."""
        raise (self.explain(error) if self.explain else None) or error from error


def named(schema: pa.Schema, source: str) -> None:
    """Check that SQL can tell the columns apart.

    Raises:
        SourceError: Two names are the same, or differ only in case.
    """
    seen: dict[str, str] = {}
    for name in schema.names:
        other = seen.setdefault(name.casefold(), name)
        if other is not name:
            what = (
                f"column {name!r} twice"
                if other == name
                else f"columns {other!r} and {name!r}, which differ only in case"
            )
            raise SourceError(f"has {what}", file=source)


def spilled(path: Path, schema: pa.Schema, files: tuple[str, ...] = ()) -> TypedExtract:
    """An extract over a spill."""
    import pyarrow.parquet as pq

    sql = f"SELECT * FROM read_parquet({text(str(path))}, hive_partitioning=false)"
    return TypedExtract(sql, schema, pq.read_metadata(path).num_rows, files)
