"""An Iceberg table as a source, at its current or at a named snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldp_core.errors import Problem, SnapshotNotFound, TableNotFound
from ldp_core.shape import Int, Key, Named, OneOf, Shape, Text
from ldp_core.sources.csv import LOSSES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

    from ldp_core.spi import Extract, Keyed, RunContext, Spec
    from ldp_core.tables.scan import Scan

CATALOG = Named(
    group="ldp.catalogs", by="type", default="local", aliases={"LocalIceberg": "local", "sqlite": "sql"}
)

SHAPE = Shape(
    doc="A table of a catalog.",
    keys=(
        Key("name", Text(), "The table.", required=True),
        Key(
            "catalog", OneOf((Text(), CATALOG)), "The catalog, or the name of one in ldp.yaml.", required=True
        ),
        Key("snapshot", OneOf((Int(min=0), Text())), "A snapshot id; the current one by default."),
        LOSSES,
    ),
)


class _IcebergSource:
    """The source named ``ICEBERG``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """A snapshot that is no number."""
        snapshot = spec.get("snapshot")
        if isinstance(snapshot, str) and not snapshot.isdigit():
            return [Problem(f"must be a snapshot id, not {snapshot!r}", key="snapshot")]
        return []

    def describe(self, spec: Spec) -> str:
        """``namespace.table``."""
        from ldp_core.catalogs import namespace

        return f"{namespace(spec.sub('catalog'))}.{spec.get('name')}"

    def missing(self, spec: Spec) -> str | None:
        """Whether the table is not in a catalog that can be peeked at."""
        from ldp_core.catalogs import namespace, peek

        catalog = spec.sub("catalog")
        peeked = peek(catalog)
        if peeked is None or (namespace(catalog), spec.get("name")) in peeked.tables():
            return None
        return self._absent(spec)

    def open(self, spec: Spec, ctx: RunContext, wanted: pa.Schema | None) -> Extract:
        """Plan a scan of the table; see ``Source.open``.

        Files whose metrics say that they hold no row of the run's window are not opened.

        Raises:
            TableNotFound: The table or its catalog does not exist.
            SnapshotNotFound: The table has no such snapshot.
        """
        from ldp_core._duck import ident
        from ldp_core.catalogs import load_table
        from ldp_core.sources._typed import TypedExtract, named
        from ldp_core.tables.scan import scan_sql
        from ldp_core.tables.window_rows import has_filter

        try:
            table = load_table(spec.sub("catalog"), str(spec.get("name")))
        except TableNotFound as error:
            raise TableNotFound(self._absent(spec)) from error
        snapshot = None if spec.get("snapshot") is None else int(spec.get("snapshot"))
        schema = _schema(table, snapshot)
        named(schema, self.describe(spec))
        if ctx.keyed is not None and has_filter(ctx.keyed):
            scan, rows = _of_window(ctx, table, snapshot, schema, ctx.keyed)
        else:
            scan, rows = _whole(table, snapshot)
        fields = ", ".join(ident(name) for name in schema.names)
        sql = f"SELECT {fields} FROM ({scan_sql(ctx.con, scan)})"
        return TypedExtract(sql, schema, rows, tuple(scan.paths))

    def _absent(self, spec: Spec) -> str:
        catalog = spec.sub("catalog")
        place = next(
            (str(catalog.get(key)) for key in ("warehouse_path", "warehouse", "uri") if catalog.get(key)),
            "its catalog",
        )
        if catalog.get("warehouse_path") or catalog.get("warehouse"):
            place = catalog.path(place)
        return f"Iceberg table {self.describe(spec)} does not exist in {place}"


def _whole(table: Table, snapshot_id: int | None) -> tuple[Scan, int | None]:
    """A scan of all files, and its rows where metadata tells."""
    from ldp_core.tables.scan import plan_scan

    scan = plan_scan(table.metadata, table.io, snapshot_id=snapshot_id)
    return scan, None if scan.deletes else sum(file.rows for file in scan.files)


def _of_window(
    ctx: RunContext, table: Table, snapshot_id: int | None, schema: pa.Schema, keyed: Keyed
) -> tuple[Scan, int | None]:
    """A scan of the files that may hold a row of the window, and the rows that all files have."""
    from pyiceberg.manifest import ManifestContent

    from ldp_core.tables.scan import plan_scan
    from ldp_core.tables.scan_count import live_count
    from ldp_core.tables.window_rows import bounds, reach

    window = bounds(keyed, schema)
    snapshot = table.current_snapshot() if snapshot_id is None else table.snapshot_by_id(snapshot_id)
    past = snapshot.schema_id if snapshot_id is not None and snapshot else None
    own = table.schema() if past is None else table.schemas().get(past, table.schema())
    column = own.find_field(str(keyed.column))
    rows = 0

    def keep(file: DataFile) -> bool:
        nonlocal rows
        rows += file.record_count
        return reach(file, column, window) != "outside"

    scan = plan_scan(table.metadata, table.io, snapshot_id=snapshot_id, keep=keep)
    manifests = snapshot.manifests(table.io) if snapshot else []
    if any(manifest.content == ManifestContent.DELETES for manifest in manifests):
        whole = plan_scan(table.metadata, table.io, snapshot_id=snapshot_id)
        rows = live_count(ctx.con, whole)
    return scan, rows


def _schema(table: Any, snapshot_id: int | None) -> pa.Schema:
    """The Arrow schema of a table, or of one of its snapshots."""
    from ldp_core.tables.types import arrow_schema

    if snapshot_id is None:
        return arrow_schema(table.schema())
    snapshot = table.snapshot_by_id(snapshot_id)
    if snapshot is None:
        raise SnapshotNotFound(f"table {'.'.join(table.name())} has no snapshot {snapshot_id}")
    return arrow_schema(table.schemas().get(snapshot.schema_id, table.schema()))


SOURCE = _IcebergSource()
