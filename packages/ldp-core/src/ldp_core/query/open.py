"""From a table to its planned scan, the cheapest way that is right.

A peeked catalog with a cached plan needs the standard library alone; without the plan, pyiceberg reads the
manifests but no catalog is opened; only catalogs that need a client are opened with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.errors import TableNotFound
from ldp_core.query import cache
from ldp_core.query.refs import TableRef
from ldp_core.query.travel import NOW, Travel, pick
from ldp_core.tables.scan import Scan, plan_scan

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata


def open_scan(ref: TableRef, travel: Travel = NOW) -> Scan:
    """Plan a read of a table.

    Args:
        ref: The table.
        travel: The snapshot.

    Raises:
        TableNotFound: It does not exist; the message says what does.
        SnapshotNotFound: It has no such snapshot.
    """
    from ldp_core.catalogs.access import peek

    catalog = peek(ref.catalog)
    if catalog is None:
        return _through_client(ref, travel)
    peeked = catalog.metadata(ref.namespace, ref.name)
    if peeked is None:
        known = ", ".join(".".join(item) for item in catalog.tables()) or "none"
        raise TableNotFound(f"table {ref.label} does not exist; tables: {known}", file=ref.origin)
    properties = access_properties(ref.catalog.get("properties"))
    snapshot_id = pick(peeked.data, travel, ref.label)
    scan = cache.load(peeked.location, str(peeked.data["table-uuid"]), snapshot_id)
    if scan is not None:
        return replace(scan, properties=properties)
    metadata, io = parse(peeked.data, peeked.location, properties)
    scan = plan_scan(metadata, io, snapshot_id=snapshot_id)
    cache.store(peeked.location, snapshot_id, scan)
    return scan


def scan_of(table: Table, travel: Travel = NOW, *, label: str | None = None) -> Scan:
    """Plan a read of a pyiceberg table, or take the plan from the cache.

    Raises:
        SnapshotNotFound: It has no such snapshot.
    """
    import json

    data = {} if travel.is_now else json.loads(table.metadata.model_dump_json(by_alias=True))
    snapshot_id = pick(data, travel, label or ".".join(table.name()))
    location, io = table.metadata_location, table.io
    scan = cache.load(location, str(table.metadata.table_uuid), snapshot_id)
    if scan is not None:
        return replace(scan, table=(table.metadata, io), properties=dict(io.properties))
    scan = plan_scan(table.metadata, io, snapshot_id=snapshot_id)
    cache.store(location, snapshot_id, scan)
    return scan


def access_properties(properties: object) -> dict[str, str]:
    """How object stores are reached: a catalog's own properties, filled in from the environment."""
    return fs.with_environment(properties if isinstance(properties, Mapping) else None)


def parse(
    data: Mapping[str, Any], location: str, properties: Mapping[str, str]
) -> tuple[TableMetadata, FileIO]:
    """A table's metadata and file access, without opening its catalog."""
    from pyiceberg.io import load_file_io
    from pyiceberg.table.metadata import TableMetadataUtil

    return TableMetadataUtil.parse_obj(dict(data)), load_file_io(dict(properties), location)


def _through_client(ref: TableRef, travel: Travel) -> Scan:
    from ldp_core.catalogs import load_table

    return scan_of(load_table(ref.catalog, ref.name, namespace=ref.namespace), travel, label=ref.label)
