"""From a table to its planned scan, the cheapest way that is right.

A peeked catalog with a cached plan needs the standard library alone; without the plan, pyiceberg reads the
manifests but no catalog is opened; only catalogs that need a client are opened with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core import fs
from ldp_core.errors import CatalogError, LDPError, TableNotFound
from ldp_core.query import cache
from ldp_core.query.refs import TableRef
from ldp_core.query.travel import NOW, Travel, pick
from ldp_core.tables.scan import Scan, plan_scan

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata

    from ldp_core.catalogs._peek import Peeked, PeekedCatalog


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
    peeked = _peeked(catalog, ref)
    properties = access_properties(ref.catalog.get("properties"))
    snapshot_id = pick(peeked.data, travel, ref.label)
    scan = cache.load(peeked.location, str(peeked.data["table-uuid"]), snapshot_id)
    if scan is not None:
        return replace(scan, properties=properties)
    metadata, io = parse(peeked.data, peeked.location, properties)
    scan = planned(metadata, io, snapshot_id, ref.label)
    cache.store(peeked.location, snapshot_id, scan)
    return scan


def scan_of(table: Table, travel: Travel = NOW, *, label: str | None = None) -> Scan:
    """Plan a read of a pyiceberg table, or take the plan from the cache.

    Raises:
        SnapshotNotFound: It has no such snapshot.
    """
    import json

    data = {} if travel.is_now else json.loads(table.metadata.model_dump_json(by_alias=True))
    label = label or ".".join(table.name())
    snapshot_id = pick(data, travel, label)
    location, io = table.metadata_location, table.io
    scan = cache.load(location, str(table.metadata.table_uuid), snapshot_id)
    if scan is not None:
        return replace(scan, table=(table.metadata, io), properties=dict(io.properties))
    scan = planned(table.metadata, io, snapshot_id, label)
    cache.store(location, snapshot_id, scan)
    return scan


def open_table(ref: TableRef) -> tuple[TableMetadata, FileIO]:
    """A table's metadata and file access; a catalog that can be peeked at is not opened.

    Raises:
        TableNotFound: It does not exist.
    """
    from ldp_core.catalogs.access import peek

    catalog = peek(ref.catalog)
    if catalog is None:
        from ldp_core.catalogs import load_table

        table = load_table(ref.catalog, ref.name, namespace=ref.namespace)
        return table.metadata, table.io
    found = _peeked(catalog, ref)
    return parse(found.data, found.location, access_properties(ref.catalog.get("properties")))


def planned(
    metadata: TableMetadata, io: FileIO, snapshot_id: int | None, label: str, *, added: bool = False
) -> Scan:
    """Plan a scan.

    Args:
        metadata: Of the table.
        io: Opens its files.
        snapshot_id: As for ``plan_scan``.
        label: The table, for messages.
        added: As for ``plan_scan``.

    Raises:
        CatalogError: A manifest or a data file that the metadata names is missing or broken.
    """
    try:
        return plan_scan(metadata, io, snapshot_id=snapshot_id, added=added)
    except LDPError:
        raise
    except (OSError, ValueError) as error:
        text = " ".join(str(error).split())
        raise CatalogError(
            f"a file of {label} cannot be read: {text}",
            hint="its metadata names the file: put it back, or read another snapshot",
            retriable=isinstance(error, OSError) and not isinstance(error, FileNotFoundError),
        ) from error


def _peeked(catalog: PeekedCatalog, ref: TableRef) -> Peeked:
    found = catalog.metadata(ref.namespace, ref.name)
    if found is None:
        known = ", ".join(".".join(item) for item in catalog.tables()) or "none"
        raise TableNotFound(f"table {ref.label} does not exist; tables: {known}", file=ref.origin)
    return found


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
