"""``DuckDBEngine``: tables and Arrow data under names, SQL over them, Arrow back."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from ldp_core._duck import connect, ident
from ldp_core._sql import query_error
from ldp_core.query.open import scan_of
from ldp_core.query.session import unique_names
from ldp_core.query.travel import Travel
from ldp_core.tables.scan import scan_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection


class DuckDBEngine:
    """SQL over Iceberg tables and Arrow data in one process; a context manager.

    It is the caller's own connection, so nothing is refused here: ``ldp query`` is the sandboxed way.

    Args:
        connection: A DuckDB connection to use and leave open; one of its own by default.
    """

    def __init__(self, connection: DuckDBPyConnection | None = None) -> None:
        self._own = connection is None
        self.connection = connect() if connection is None else connection

    def register_iceberg(
        self, table: Any, alias: str, snapshot_id: int | None = None, row_filter: Any = None
    ) -> None:
        """Make an Iceberg table known under a name; nothing is read before a query does.

        Args:
            table: A pyiceberg table, or an object whose ``table()`` gives one (``ldp_core.Iceberg``).
            alias: The name in SQL; an earlier one of that name is replaced.
            snapshot_id: A snapshot; the current one by default.
            row_filter: A pyiceberg expression or its text. pyiceberg reads the table then.

        Raises:
            SnapshotNotFound: The table has no such snapshot.
        """
        opened = table.table() if callable(getattr(table, "table", None)) else table
        if row_filter is not None:
            self.register_arrow(_Filtered(opened, snapshot_id, row_filter), alias)
            return
        scan = scan_of(opened, Travel(snapshot_id=snapshot_id))
        columns = ", ".join(ident(name) for name in unique_names(scan.columns))
        body = scan_sql(self.connection, scan.apart())
        self.connection.unregister(alias)
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {ident(alias)} ({columns}) AS {body}")

    def register_arrow(self, df: Any, alias: str) -> None:
        """Make Arrow data (a table, a dataset, anything with an Arrow stream) known under a name."""
        self.connection.execute(f"DROP VIEW IF EXISTS temp.{ident(alias)}")
        self.connection.register(alias, df)

    def query(self, sql: str) -> pa.Table:
        """Run SQL and return every row.

        Raises:
            QueryError: It does not run; one line.
        """
        import duckdb

        try:
            return self.connection.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise query_error(error) from error

    def close(self) -> None:
        """Close the connection, unless it was given."""
        if self._own:
            self.connection.close()

    def __enter__(self) -> DuckDBEngine:
        """The engine itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()


class _Filtered:
    """A filtered pyiceberg scan as an Arrow stream that can be opened for every query."""

    def __init__(self, table: Any, snapshot_id: int | None, row_filter: Any) -> None:
        self._scan = table.scan(row_filter=row_filter, snapshot_id=snapshot_id)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A fresh stream (the PyCapsule protocol)."""
        return self._scan.to_arrow_batch_reader().__arrow_c_stream__(requested_schema)
