"""What one commit does to a table, and what it stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile, ManifestFile
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.update import TableUpdate

    from ldp_core.commit._manifests import Manifests


@dataclass(frozen=True)
class Base:
    """The state of a table that a change is built on.

    Attributes:
        catalog: Its catalog.
        identifier: ``(namespace, table)``.
        metadata: Current metadata; of a table that does not exist yet, the staged one (ids and location are
            final).
        io: Opens its files.
        exists: Whether the table is in the catalog.
        creation: For a table that does not exist: the updates that create it, to be committed under
            AssertCreate.
        metadata_location: The metadata file it was read from; empty for a table that does not exist.
        config: What the catalog says about reaching the table (a REST catalog's token for it).
    """

    catalog: Catalog
    identifier: tuple[str, str]
    metadata: TableMetadata
    io: FileIO
    exists: bool
    creation: tuple[TableUpdate, ...] = ()
    metadata_location: str = ""
    config: Mapping[str, str] = field(default_factory=dict)


Regroup = Callable[["Manifests", "TableMetadata", "list[ManifestFile]"], "list[ManifestFile]"]


@dataclass(frozen=True)
class Change:
    """One snapshot to be published.

    Attributes:
        operation: ``append``, ``overwrite``, ``delete`` or ``replace``, as Iceberg names them.
        added: Data files and delete files already written, uncommitted.
        removed: Data files and delete files of the base that the snapshot drops.
        updates: Metadata updates of the same commit, before the snapshot (schema evolution).
        schema_id: The schema the snapshot is written with; None for the base's current one.
        summary: More keys for the snapshot summary.
        properties: Table properties set in the same commit.
        onto: The snapshot that main goes back to, to be the parent; None for main's head.
        branch: The branch that the snapshot goes to; None for main. One that is there is built on its own
            head, a new one on main's.
        sequence: The data sequence number of the added data files: deletes that are younger than it apply to
            them. None gives them that of the snapshot. Tables of format version 1 have none.
        regroup: Gives other manifests for the live ones that are left of the base: the same entries in them.
        info: The builder's own; handed back with the result.
    """

    operation: str
    added: tuple[DataFile, ...] = ()
    removed: tuple[DataFile, ...] = ()
    updates: tuple[TableUpdate, ...] = ()
    schema_id: int | None = None
    summary: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    onto: int | None = None
    branch: str | None = None
    sequence: int | None = None
    regroup: Regroup | None = None
    info: Any = None


@dataclass(frozen=True)
class Published:
    """A change that took effect.

    Attributes:
        base: What it was built on in the end.
        change: As it was committed.
        snapshot_id: The new snapshot.
        attempts: Commits sent, lost races included.
        metadata_location: The metadata file that holds it.
    """

    base: Base
    change: Change
    snapshot_id: int
    attempts: int
    metadata_location: str
