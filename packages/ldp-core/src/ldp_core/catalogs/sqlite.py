"""pyiceberg's SQL catalog on a SQLite file, made only when that is asked for."""

from __future__ import annotations

import random
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pyiceberg.catalog.sql import SqlCatalog, SqlCatalogBaseTable
from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError

from ldp_core.catalogs.tables import drop_connections
from ldp_core.errors import CatalogError, TableNotFound
from ldp_core.fs import local_path

C = TypeVar("C", bound=SqlCatalog)

_BUSY_SECONDS = 60


class ClosingCatalog(SqlCatalog):
    """Nobody closes a catalog: its connections go when it does, and at once where it cannot be opened."""

    def __init__(self, name: str, **properties: Any) -> None:
        try:
            super().__init__(name, **properties)
        except BaseException:
            drop_connections(self)
            raise
        closed_with(self)


def closed_with(catalog: SqlCatalog) -> None:
    """Let the connections of a catalog go when it does."""
    weakref.finalize(catalog, catalog.engine.dispose)


class LocalIcebergCatalog(ClosingCatalog):
    """An Iceberg catalog in ``<path>/<name>_catalog.db`` with its tables below ``path``.

    Makes the folder and the file.

    Args:
        name: Names the catalog, its file and the namespace of its tables.
        path: The warehouse folder.
        properties: Further properties of the catalog.
    """

    def __init__(self, name: str, path: str | Path, **properties: Any) -> None:
        warehouse = local_path(str(path)).expanduser().absolute()
        if str(properties.get("init_catalog_tables", "true")).lower() != "false":
            warehouse.mkdir(parents=True, exist_ok=True)
        self.path = warehouse
        super().__init__(
            name,
            **{
                "uri": sqlite_uri(warehouse / f"{name}_catalog.db"),
                "warehouse": folder_uri(warehouse),
                **properties,
            },
        )

    def get_dbs(self) -> list[str]:
        """Its namespaces, dotted, sorted."""
        return sorted(".".join(namespace) for namespace in self.list_namespaces())

    def get_tables(self, namespace: str) -> list[str]:
        """The tables of a namespace as ``namespace.name``, sorted."""
        return sorted(".".join(identifier) for identifier in self.list_tables(namespace))


def open_local(name: str, warehouse: Path, *, create: bool) -> LocalIcebergCatalog:
    """Open a local catalog; without ``create`` nothing is made, neither folder nor file nor tables.

    Raises:
        TableNotFound: ``create`` is false and the file holds no catalog.
        CatalogError: It is no SQLite file, or cannot be opened.
    """
    flag = "true" if create else "false"
    place = warehouse / f"{name}_catalog.db"
    try:
        catalog = opened(
            lambda: LocalIcebergCatalog(name, warehouse, init_catalog_tables=flag), create=create
        )
        if not create:
            need_tables(catalog, str(place))
    except DBAPIError as error:
        raise CatalogError(f"{place} cannot be opened as a catalog: {error.orig}") from error
    return catalog


def need_tables(catalog: SqlCatalog, place: str) -> None:
    """Make sure that a database is a catalog.

    One that another run is making has a file first, then one table, then both; and its maker may be killed.

    Raises:
        TableNotFound: It does not hold the tables of a catalog, or not all of them.
    """
    found = inspect(catalog.engine)
    if not all(found.has_table(name) for name in SqlCatalogBaseTable.metadata.tables):
        raise TableNotFound(f"there is no catalog in {place}", hint="run a config that loads into it first")


def opened(make: Callable[[], C], *, create: bool) -> C:
    """Make a SQL catalog, again where another process makes its tables at the same moment."""
    for _ in range(4):
        try:
            return make()
        except (OperationalError, ProgrammingError, IntegrityError):
            if not create:
                raise
            time.sleep(random.uniform(0.05, 0.3))
    return make()


def sqlite_uri(path: Path) -> str:
    """A SQLAlchemy URI of a SQLite file that waits for other writers."""
    return f"sqlite:///{quote(str(path))}?timeout={_BUSY_SECONDS}"


def folder_uri(folder: Path) -> str:
    """``file://<abs path>`` of a folder.

    pyiceberg neither quotes nor unquotes the path of a URI and cuts it at ``?`` and ``#``: a folder with one
    of these, or with ``%``, stays a plain path.
    """
    text = folder.as_posix()
    return text if any(char in text for char in "%?#") else f"file://{text}"
