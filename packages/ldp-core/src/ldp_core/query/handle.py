"""A table in Python: ``ldp_core.table("nyc.rides").to_arrow()``, ``.to_polars()``, ``.to_duckdb()``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ldp_core._duck import connect, ident, streamed
from ldp_core.errors import EngineNotFound
from ldp_core.query.open import open_scan
from ldp_core.query.refs import TableRef
from ldp_core.query.session import unique_names
from ldp_core.query.travel import NOW, Travel
from ldp_core.tables.scan import Scan, scan_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


@dataclass(frozen=True)
class TableHandle:
    """An Iceberg table at one moment. Each call reads the table as it is then; nothing is kept open.

    Attributes:
        ref: The table.
        travel: The snapshot.
    """

    ref: TableRef
    travel: Travel = NOW

    def scan(self) -> Scan:
        """The files that a read opens.

        Raises:
            TableNotFound: The table does not exist.
            SnapshotNotFound: It has no such snapshot.
        """
        return open_scan(self.ref, self.travel)

    def to_duckdb(
        self, columns: Iterable[str] | None = None, *, con: DuckDBPyConnection | None = None
    ) -> DuckDBPyRelation:
        """A lazy DuckDB relation: filter, aggregate and join it before anything is read.

        Args:
            columns: Only these, in this order.
            con: A connection to use; a bounded one of its own by default.
        """
        con = connect() if con is None else con
        scan = self.scan()
        names = list(scan.columns if columns is None else columns)
        aliases = ", ".join(ident(name) for name in unique_names(names))
        return con.sql(f"SELECT * FROM ({scan_sql(con, scan.apart(), columns=names)}) AS t({aliases})")

    def to_arrow(self, columns: Iterable[str] | None = None) -> pa.Table:
        """Every row as an Arrow table, in Iceberg's own Arrow types."""
        return self.to_reader(columns).read_all()

    def to_reader(self, columns: Iterable[str] | None = None) -> pa.RecordBatchReader:
        """The rows as a stream of Arrow record batches."""
        import pyarrow as pa

        from ldp_core.tables.types import scanned_schema

        con = connect()
        con.execute("SET arrow_lossless_conversion=true")  # a UUID as a UUID, not as text
        scan = self.scan()
        names = list(scan.columns if columns is None else columns)
        reader = streamed(con, scan_sql(con, scan, columns=names))
        full = scanned_schema(scan.schema)
        schema = pa.schema([full.field(name) for name in names])
        return pa.RecordBatchReader.from_batches(schema, _typed(reader, schema))

    def to_polars(self, columns: Iterable[str] | None = None) -> Any:
        """Every row as a polars DataFrame.

        Raises:
            EngineNotFound: polars is not installed.
        """
        try:
            polars = import_module("polars")
        except ImportError as error:
            raise EngineNotFound("polars is not installed", hint="pip install polars") from error
        return polars.from_arrow(self.to_arrow(columns))


def _typed(reader: pa.RecordBatchReader, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Batches with Iceberg's Arrow types (DuckDB gives a fixed as plain bytes)."""
    import pyarrow as pa

    for batch in reader:
        arrays = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)
