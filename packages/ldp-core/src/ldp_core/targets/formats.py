"""Files and tables as Python objects with ``get`` and ``put``; a put goes the way that a run goes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.errors import ConfigError, NoData, SnapshotNotFound, SourceError, SourceNotFound
from ldp_core.spi import Spec, WriteResult

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table import Table


class _File:
    """What file formats share."""

    format = ""

    def __init__(self, name: str, path: str | Path, base_dir: str | Path | None = None) -> None:
        self.name = name
        self.base_dir = Path(base_dir) if base_dir is not None else Path.cwd()
        self.path = Spec({}, self.base_dir).path(str(path))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.path!r})"

    def get(self) -> pa.Table:
        """The rows of the file.

        Raises:
            FileNotFoundError: It does not exist; the message has the resolved path.
            SourceError: It cannot be read.
        """
        import duckdb

        from ldp_core import _duck, registry
        from ldp_core.targets._context import context

        self._must_exist()
        spec = Spec({"name": self.name, "path": self.path}, self.base_dir, self.name)
        with context(self.base_dir) as ctx:
            extract = registry.load("ldp.sources", self.format).open(spec, ctx, None)
            while True:
                try:
                    return _duck.streamed(ctx.con, extract.sql).read_all()
                except duckdb.Error as error:
                    extract = extract.after(error)

    def put(self, df: Any, allow_empty: bool = False) -> int:
        """Replace the file by rows, in one step; folders are made.

        Args:
            df: A pyarrow Table or RecordBatchReader, or a data frame that exports Arrow.
            allow_empty: Write a file without rows rather than refuse.

        Returns:
            The rows written.

        Raises:
            ValueError: ``df`` is None, or has no rows and ``allow_empty`` is false.
        """
        from ldp_core import registry
        from ldp_core.targets._context import context
        from ldp_core.targets._frames import rows_of

        spec = Spec({"name": self.name, "path": self.path}, self.base_dir, self.name)
        with context(self.base_dir) as ctx:
            sql, schema = rows_of(ctx, df)
            session = registry.load("ldp.targets", self.format).open(spec, ctx)
            try:
                staged = session.stage(session.resolve(sql, schema, follows_values=False))
                if not staged.rows and not allow_empty:
                    raise NoData(f"No data to write to {self.path}: the table has no rows")
                session.put_in_place(staged)
                return int(staged.rows)
            finally:
                session.discard()

    def _must_exist(self) -> None:
        if fs.is_local(self.path) and not fs.local_path(self.path).exists():
            raise SourceNotFound(f"{type(self).__name__} file not found: {self.path}")


class CSV(_File):
    """A CSV file.

    Args:
        name: What it is called.
        path: Relative to ``base_dir``.
        base_dir: The working directory by default.
    """

    format = "CSV"


class Parquet(_File):
    """A Parquet file.

    Args:
        name: What it is called.
        path: Relative to ``base_dir``.
        base_dir: The working directory by default.
    """

    format = "PARQUET"

    def get(self) -> pa.Table:
        """The rows, in the types that the file has.

        Raises:
            FileNotFoundError: It does not exist; the message has the resolved path.
            SourceError: It cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._must_exist()
        filesystem, inner = fs.arrow_fs(self.path)
        try:
            return pq.read_table(inner, filesystem=filesystem, partitioning=None)
        except FileNotFoundError as error:
            raise SourceNotFound(f"Parquet file not found: {self.path}") from error
        except pa.ArrowInvalid as error:
            raise SourceError(f"not a Parquet file: {error}", file=self.path) from error


class Json(_File):
    """A JSON document: ``get`` parses it, ``put`` replaces it in one step.

    Args:
        name: What it is called.
        path: Relative to ``base_dir``.
        base_dir: The working directory by default.
    """

    def get(self) -> Any:
        """The parsed document.

        Raises:
            FileNotFoundError: It does not exist; the message has the resolved path.
            ConfigError: It is not JSON; names the line.
        """
        self._must_exist()
        try:
            return json.loads(fs.local_path(self.path).read_text(encoding="utf-8-sig"))
        except json.JSONDecodeError as error:
            raise ConfigError(f"not valid JSON: {error.msg}", file=self.path, line=error.lineno) from error

    def put(self, df: Any, allow_empty: bool = False) -> int:
        """Replace the document; returns how many items it has (1 for an object).

        Raises:
            ValueError: ``df`` is None, or empty and ``allow_empty`` is false.
        """
        from ldp_core.targets._files import replace_file, temporary_beside

        if df is None or (not allow_empty and df in ([], {}, "")):
            raise NoData(f"No data to write to {self.path}")
        target = fs.local_path(self.path).resolve()
        ready = temporary_beside(target)
        try:
            ready.write_text(json.dumps(df, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            replace_file(ready, target)
        finally:
            ready.unlink(missing_ok=True)
        return len(df) if isinstance(df, list) else 1


class Iceberg:
    """An Iceberg table.

    Args:
        name: The table.
        config: Its catalog: ``{"identifier", "warehouse_path"}`` for a local one, or any catalog of a config.
        catalog: The same under its older name.
        partition_by: Items of ``column``, ``transform`` and optionally ``name``, for a new table.
        write_mode: append, overwrite or upsert.
        join_cols: The key columns of an upsert.
        base_dir: What relative paths start from; the working directory by default.
        schema_evolution: Whether new columns and wider types change the table.
        dedupe: ``first`` or ``last``: which row of a batch wins when several have one key.
        order_by: The columns that say which is first and last.
    """

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        *,
        catalog: Mapping[str, Any] | None = None,
        partition_by: Sequence[Mapping[str, Any]] | None = None,
        write_mode: str = "append",
        join_cols: Sequence[str] | None = None,
        base_dir: str | Path | None = None,
        schema_evolution: bool = True,
        dedupe: str | None = None,
        order_by: Sequence[str] | None = None,
    ) -> None:
        from ldp_core.catalogs.access import namespace

        chosen = config if config is not None else catalog
        if not chosen:
            raise ConfigError(
                f"Iceberg table {name!r} needs a catalog",
                hint='config={"identifier": ..., "warehouse_path": ...}',
            )
        values: dict[str, Any] = {
            "name": name,
            "catalog": dict(chosen),
            "partition_by": list(partition_by or ()),
            "write_mode": write_mode,
            "join_cols": list(join_cols or ()),
            "schema_evolution": schema_evolution,
            "dedupe": dedupe,
            "order_by": list(order_by or ()),
        }
        self.name = name
        self.spec = Spec(values, Path(base_dir) if base_dir is not None else Path.cwd(), name)
        self.namespace = namespace(self.spec.sub("catalog"))
        self.identifier = f"{self.namespace}.{name}"

    def __repr__(self) -> str:
        return f"Iceberg({self.identifier!r})"

    def put(self, df: Any, mode: str | None = None) -> WriteResult:
        """Load rows in one commit.

        Args:
            df: A pyarrow Table or RecordBatchReader, or a data frame that exports Arrow.
            mode: Stands above ``write_mode``.

        Raises:
            ValueError: ``df`` is None or has no rows.
            ConfigError: An upsert without ``join_cols``, or partition fields that cannot be.
            DriftError: A type or a value does not fit the table.
        """
        from ldp_core.commit.retry import anew
        from ldp_core.targets._context import context
        from ldp_core.targets._frames import rows_of
        from ldp_core.targets.iceberg import TARGET

        def load() -> WriteResult:
            session = TARGET.open(self.spec, ctx, mode)
            try:
                staged = session.stage(session.resolve(sql, schema, follows_values=False))
                return session.publish(staged, {"ldp.run-id": ctx.run_id})
            finally:
                session.discard()

        with context(self.spec.base_dir) as ctx:
            sql, schema = rows_of(ctx, df)
            return anew(load)

    def get(
        self,
        snapshot_id: int | None = None,
        row_filter: Any = None,
        selected_fields: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> pa.Table:
        """Read rows.

        Args:
            snapshot_id: An older state.
            row_filter: A pyiceberg expression, or its text such as ``fare > 10``.
            selected_fields: Columns; all by default.
            limit: At most so many rows.

        Raises:
            TableNotFound: There is no such table.
            SnapshotNotFound: The table has no such snapshot.
        """
        from pyiceberg.expressions import AlwaysTrue

        from ldp_core.tables.types import arrow_schema

        table = self.table()
        if snapshot_id is not None and table.metadata.snapshot_by_id(snapshot_id) is None:
            raise SnapshotNotFound(f"table {self.identifier} has no snapshot {snapshot_id}")
        scan = table.scan(
            row_filter=AlwaysTrue() if row_filter is None else row_filter,
            selected_fields=tuple(selected_fields) if selected_fields is not None else ("*",),
            snapshot_id=snapshot_id,
            limit=limit,
        )
        target = arrow_schema(scan.projection())
        if any(str(column.type).count("<") > 1 for column in target):
            return _exact(table, scan).cast(target)
        return scan.to_arrow().cast(target)

    def snapshots(self) -> list[dict[str, Any]]:
        """Oldest first: ``snapshot_id``, ``parent_id``, ``timestamp_ms``, ``operation``, ``summary``."""
        return [
            {
                "snapshot_id": snapshot.snapshot_id,
                "parent_id": snapshot.parent_snapshot_id,
                "timestamp_ms": snapshot.timestamp_ms,
                "operation": snapshot.summary.operation.value if snapshot.summary else None,
                "summary": dict(snapshot.summary.additional_properties) if snapshot.summary else {},
            }
            for snapshot in self.table().metadata.snapshots
        ]

    def exists(self) -> bool:
        """Whether the table is there; creates nothing."""
        from ldp_core.catalogs.access import look

        return look(self.spec.sub("catalog"), self.namespace, self.name) is not None

    def table(self) -> Table:
        """The pyiceberg table.

        Raises:
            TableNotFound: There is none; nothing is created.
        """
        from ldp_core.catalogs.tables import load_table

        return load_table(self.spec.sub("catalog"), self.name)

    def row_count(self) -> int:
        """Rows in the table, from the metadata where it tells, else by reading."""
        from ldp_core.targets.iceberg import live_rows

        table = self.table()
        snapshot = table.metadata.current_snapshot()
        if snapshot is None:
            return 0
        rows = live_rows(snapshot.summary.additional_properties) if snapshot.summary else None
        return table.scan().count() if rows is None else rows


def _exact(table: Table, scan: Any) -> pa.Table:
    """A pyiceberg scan, read by our own: pyiceberg takes a missing list of structs for an empty one."""
    import pyarrow as pa
    from pyiceberg.expressions.visitors import bind
    from pyiceberg.io.pyarrow import expression_to_pyarrow

    from ldp_core import _duck
    from ldp_core.tables.scan import plan_scan, scan_sql
    from ldp_core.tables.types import arrow_schema

    con = _duck.connect()
    try:
        planned = plan_scan(table.metadata, table.io, snapshot_id=scan.snapshot_id)
        whole = table.scan(snapshot_id=scan.snapshot_id).projection()
        keep = expression_to_pyarrow(bind(whole, scan.row_filter, case_sensitive=True))
        names = [column.name for column in scan.projection().fields]
        found, left = [], scan.limit
        con.execute("SET arrow_lossless_conversion=true")
        for batch in _duck.streamed(con, scan_sql(con, planned)):
            rows = pa.Table.from_batches([batch]).cast(arrow_schema(whole)).filter(keep).slice(0, left)
            found.append(rows.select(names))
            left = None if left is None else left - rows.num_rows
            if left == 0:
                break
        return pa.concat_tables(found) if found else arrow_schema(scan.projection()).empty_table()
    finally:
        con.close()
