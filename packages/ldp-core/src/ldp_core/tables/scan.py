"""Which files make up a table at one snapshot, and how they are read.

``plan_scan`` reads the manifests once; the ``Scan`` it returns is plain data that can be kept as JSON, so a
later read of the same snapshot needs no manifest and no pyiceberg. ``scan_sql`` turns it into SQL for DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata

FORMAT = 3
"""Version of the JSON form; another version is not read."""


@dataclass(frozen=True)
class ScanFile:
    """One live data file.

    Attributes:
        path: As the manifest has it.
        size: Bytes.
        rows: Records in it, deleted ones included.
        spec_id: The partition spec it was written with.
        partition: Partition field to value, as JSON.
        sequence: Data sequence number.
        deletes: Positions in ``Scan.deletes`` of the delete files that apply to it.
        names: None for a file with field ids; else its column names and the field ids they stand for.
        reason: Why DuckDB alone cannot read it right (pyiceberg reads it then), or None.
    """

    path: str
    size: int
    rows: int
    spec_id: int
    partition: Mapping[str, Any]
    sequence: int
    deletes: tuple[int, ...] = ()
    names: Mapping[str, int] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class DeleteFile:
    """One live delete file.

    Attributes:
        path: As the manifest has it.
        size: Bytes.
        rows: Deletes in it.
        kind: ``position``, ``equality`` or ``vector``.
        sequence: Data sequence number.
        equality_ids: Field ids that an equality delete compares.
        names: As for a ``ScanFile``, of an equality delete.
        reason: As for a ``ScanFile``, of an equality delete.
    """

    path: str
    size: int
    rows: int
    kind: str
    sequence: int
    equality_ids: tuple[int, ...] = ()
    names: Mapping[str, int] | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Scan:
    """A table at one snapshot, ready to be read.

    Attributes:
        table_uuid: Of the table.
        snapshot_id: None for a table without snapshots.
        schema: The Iceberg schema that rows are read in, as Iceberg writes it in JSON.
        files: Data files, in the order of the manifests.
        deletes: Delete files that apply to any of them.
        compared: Columns that equality deletes compare and the schema does not have, as it has its own.
        table: Metadata and file access, for files that pyiceberg must read; not part of the JSON form.
        entries: What the manifests say of those files, by path; not part of the JSON form.
        properties: How the object store is reached; secrets are in it, so not part of the JSON form.
    """

    table_uuid: str
    snapshot_id: int | None
    schema: Mapping[str, Any]
    files: tuple[ScanFile, ...]
    deletes: tuple[DeleteFile, ...] = ()
    compared: tuple[Mapping[str, Any], ...] = ()
    table: tuple[TableMetadata, FileIO] | None = field(default=None, compare=False, repr=False)
    entries: Mapping[str, DataFile] = field(default_factory=dict, compare=False, repr=False)
    properties: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def columns(self) -> list[str]:
        """Column names, in order."""
        return [column["name"] for column in self.schema["fields"]]

    @property
    def paths(self) -> list[str]:
        """Every file that a read opens: data and deletes."""
        return [*(file.path for file in self.files), *(file.path for file in self.deletes)]

    @property
    def needs_pyiceberg(self) -> bool:
        """Whether some file cannot be read by DuckDB alone."""
        return any(file.reason for file in self.files) or any(file.reason for file in self.deletes)

    def apart(self) -> Scan:
        """The scan with nested names that SQL can tell apart: ``X_1`` beside ``x`` where it was ``X``.

        For whoever asks in SQL, where ``s.X`` would be the first of the two.
        """
        from ldp_core.tables.scan_types import told_apart

        return replace(self, schema=told_apart(self.schema))

    def to_json(self) -> dict[str, Any]:
        """As JSON: no access properties, no open table."""
        return {
            "format": FORMAT,
            "table_uuid": self.table_uuid,
            "snapshot_id": None if self.snapshot_id is None else str(self.snapshot_id),
            "schema": dict(self.schema),
            "files": [asdict(file) for file in self.files],
            "deletes": [asdict(file) for file in self.deletes],
            "compared": [dict(column) for column in self.compared],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Scan:
        """Read the JSON form.

        Raises:
            ValueError: It is not a scan of this version.
        """
        if body.get("format") != FORMAT:
            raise ValueError(f"scan format {body.get('format')!r}, expected {FORMAT}")
        try:
            snapshot = body["snapshot_id"]
            return cls(
                table_uuid=body["table_uuid"],
                snapshot_id=None if snapshot is None else int(snapshot),
                schema=body["schema"],
                files=tuple(
                    ScanFile(**{**item, "deletes": tuple(item["deletes"])}) for item in body["files"]
                ),
                deletes=tuple(
                    DeleteFile(**{**item, "equality_ids": tuple(item["equality_ids"])})
                    for item in body["deletes"]
                ),
                compared=tuple(body["compared"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a scan: {error}") from error


def plan_scan(
    metadata: TableMetadata,
    io: FileIO,
    *,
    snapshot_id: int | None = None,
    keep: Callable[[DataFile], bool] | None = None,
    added: bool = False,
) -> Scan:
    """Plan a read from the manifests of a snapshot.

    Args:
        metadata: Of the table.
        io: Opens its files.
        snapshot_id: The snapshot; None is the current one, read in the current schema, else the schema is the
            one that the snapshot was written with.
        keep: Asked once for each data file; of a file that it leaves out nothing is opened.
        added: Only the files that the snapshot itself added; the manifests of others are not opened.

    Raises:
        SnapshotNotFound: The table has no such snapshot.
    """
    from ldp_core.tables.scan_plan import plan

    return plan(metadata, io, snapshot_id, keep, added)


def scan_sql(
    con: DuckDBPyConnection,
    scan: Scan,
    *,
    columns: Iterable[str] | None = None,
    files: Iterable[str] | None = None,
    position: bool = False,
) -> str:
    """A SELECT over ``con`` of the table's live rows.

    It may be run many times while ``con`` lives. Object stores are registered on ``con``; files that DuckDB
    cannot read right are read by pyiceberg, one file at a time, through a view of the connection.

    Args:
        con: Where the SQL will run.
        scan: From ``plan_scan``.
        columns: Column names, exactly, in the order wanted; all by default. Iceberg's names may differ only
            in case, SQL's may not: whoever wraps such a SELECT names its columns by position.
        files: Only these data files, by ``ScanFile.path``.
        position: Add ``__file`` (VARCHAR, ``ScanFile.path``) and ``__pos`` (BIGINT, from 0, deleted rows
            counted).

    Raises:
        QueryError: A column that is not there, or a table that cannot be read right.
    """
    from ldp_core.tables.scan_read import select

    return select(con, scan, columns, files, position)
