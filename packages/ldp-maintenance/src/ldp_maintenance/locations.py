"""Where the tables of a SQL catalog lie, told by its rows and the JSON that they name; no table is loaded.

Making objects of a metadata file costs ten times as much as reading it, and more the longer its history is.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from ldp_core.fs import is_local, local_path
from ldp_core.tables.manifests import side_by_side

from ldp_maintenance.places import folders

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

_AT_ONCE = 16


def told_by_rows(catalog: Catalog) -> dict[tuple[str, str], tuple[str, ...]]:
    """The folders of each table, its location first; empty for catalogs of other kinds.

    A table whose metadata file cannot be read is left out.

    Args:
        catalog: Any catalog.

    Raises:
        SQLAlchemyError: The database does not answer.
    """
    rows = _rows(catalog)
    paths = list(rows.values())
    found = side_by_side(paths, lambda number: _told(catalog, paths[number]), _AT_ONCE)
    return {one: places for one, places in zip(rows, found, strict=True) if places}


def _rows(catalog: Catalog) -> dict[tuple[str, str], str]:
    """The metadata file of each table, as ``(namespace, table)``."""
    if getattr(catalog, "engine", None) is None:
        return {}
    from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
    from sqlalchemy import select
    from sqlalchemy.orm import Session

    if not isinstance(catalog, SqlCatalog):
        return {}
    wanted = (IcebergTables.table_namespace, IcebergTables.table_name, IcebergTables.metadata_location)
    with Session(catalog.engine) as session:
        rows = session.execute(select(*wanted).where(IcebergTables.catalog_name == catalog.name))
        return {(space, name): path for space, name, path in rows if path}


def _told(catalog: Catalog, path: str) -> tuple[str, ...]:
    """The folders that a metadata file names; none where it cannot be read."""
    try:
        raw = _read(catalog, path)
        body: Any = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        return folders(body["location"], body.get("properties") or {})
    except Exception:
        return ()  # who needs to know loads the table, and is told what is wrong with it


def _read(catalog: Catalog, path: str) -> bytes:
    from pyiceberg.io import load_file_io

    if is_local(path):
        return local_path(path).read_bytes()
    with load_file_io(catalog.properties, path).new_input(path).open() as stream:
        return stream.read()
