"""Files and Iceberg tables, answered by DuckDB where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import registry
from ldp_core._duck import ident, private, set_memory_limit, text
from ldp_core.errors import ConfigError
from ldp_core.spi import Spec

from ldp_quality.executor import DuckDBExecutor
from ldp_quality.kinds import kind_of

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from ldp_core.tables.scan import Scan

_ENDINGS = {".parquet": "PARQUET", ".pq": "PARQUET", ".csv": "CSV", ".tsv": "CSV", ".jsonl": "JSONL"}
_PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class FileTable:
    """The rows of files, for ``run_checks``; Parquet is read in place, texts are read once with their types.

    Attributes:
        path: A file, a glob, a folder or a URI, as the ``path`` of a source.
        format: A source's ``format`` such as ``PARQUET`` or ``CSV``; from the ending of the path by default.
        base_dir: What a relative path starts from; the working directory by default.
        options: More keys of a source of that format, such as ``encoding``.

    Raises:
        ConfigError: No format is given and the path does not tell, or there is no such format.
    """

    path: str | Path
    format: str | None = None
    base_dir: str | Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        word = self.format or _ending(str(self.path))
        known = registry.find("ldp.sources", word, ignore_case=True) if word else None
        if known is None:
            formats = ", ".join(registry.names("ldp.sources"))
            said = f"no source has the format {word!r}" if word else f"what is in {str(self.path)!r}"
            raise ConfigError(f"{said}? give format, one of {formats}", key="format")
        object.__setattr__(self, "format", known)

    @contextmanager
    def opened(self, memory_limit: str | None = None) -> Iterator[DuckDBExecutor]:
        """Open the files for checks.

        Args:
            memory_limit: The engine's limit such as ``250MB``.

        Raises:
            SourceNotFound: There is no such file.
            SourceError: It cannot be read as what it is said to be.
        """
        from ldp_core.targets._context import context

        base = Path(self.base_dir) if self.base_dir is not None else Path.cwd()
        spec = Spec({**self.options, "name": "checked", "path": str(self.path)}, base, str(self.path))
        with context(base) as ctx:
            if memory_limit:
                set_memory_limit(ctx.con, memory_limit)
            extract = registry.load("ldp.sources", str(self.format)).open(spec, ctx, None)
            if self.format == "PARQUET":
                yield over(ctx.con, extract.sql, extract.schema)
            else:
                yield _kept(ctx.con, extract, ctx.scratch / "checked.parquet")


@dataclass(frozen=True)
class IcebergTable:
    """The rows of an Iceberg table, for ``run_checks``, which takes ``ldp_core.table(...)`` as it is.

    Attributes:
        scan: From ``ldp_core.table(...).scan()``.
    """

    scan: Scan

    @contextmanager
    def opened(self, memory_limit: str | None = None) -> Iterator[DuckDBExecutor]:
        """Open the table for checks.

        Args:
            memory_limit: The engine's limit such as ``250MB``.
        """
        from ldp_core.tables.scan import scan_sql
        from ldp_core.tables.types import scanned_schema

        with private(memory_limit=memory_limit) as con:
            yield over(con, scan_sql(con, self.scan), scanned_schema(self.scan.schema))


def over(con: DuckDBPyConnection, sql: str, schema: pa.Schema) -> DuckDBExecutor:
    """The rows of a SELECT that gives them in one order each time.

    Args:
        con: A connection that can read them.
        sql: The SELECT.
        schema: Names and Arrow types of its columns.
    """
    ordered = f"SELECT *, row_number() OVER () - 1 FROM (\n{sql}\n)"
    return DuckDBExecutor(con, sql, ordered, {field.name: kind_of(field.type) for field in schema})


def stored(rows: Any) -> FileTable | IcebergTable | None:
    """The source that one of core's own objects stands for: a file format, an Iceberg table; else None."""
    if not type(rows).__module__.startswith("ldp_core."):
        return None
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.open import scan_of
    from ldp_core.targets.formats import CSV, Iceberg, Parquet

    if isinstance(rows, CSV | Parquet):
        return FileTable(rows.path, rows.format, rows.base_dir)
    if isinstance(rows, TableHandle):
        return IcebergTable(rows.scan())
    return IcebergTable(scan_of(rows.table())) if isinstance(rows, Iceberg) else None


def _kept(con: DuckDBPyConnection, extract: Any, path: Path) -> DuckDBExecutor:
    """Texts with their types in a file of the scratch folder, so that they are parsed once."""
    import duckdb

    while True:
        places = ", ".join(ident(f"c{at}") for at in range(len(extract.schema.names)))
        rows = f"SELECT * FROM (\n{extract.sql}\n) AS rows_({places})"
        try:
            con.execute(f"COPY ({rows}) TO {text(str(path))} (FORMAT parquet, COMPRESSION zstd)")
        except duckdb.Error as error:
            extract = extract.after(error)
        else:
            return over(con, f"SELECT * FROM read_parquet({text(str(path))})", extract.schema)


def _ending(path: str) -> str | None:
    name = path.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return next((word for ending, word in _ENDINGS.items() if name.endswith(ending)), None)
