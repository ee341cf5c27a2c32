"""Opening SQL catalogs with pyiceberg: drivers, passwords, and making nothing unless that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from sqlalchemy import select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from ldp_core.catalogs._environment import catalog_name, from_environment, properties_of
from ldp_core.catalogs.sqlite import ClosingCatalog, folder_uri, need_tables, opened, sqlite_uri
from ldp_core.catalogs.tables import unreachable
from ldp_core.errors import EngineNotFound, TableNotFound
from ldp_core.fs import is_local, local_path
from ldp_core.spi import Spec


def open_sqlite(spec: Spec, path: Path, warehouse: str, *, create: bool) -> SqlCatalog:
    """A catalog in a SQLite file.

    Raises:
        TableNotFound: ``create`` is false and there is no such file.
    """
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():
        raise TableNotFound(f"there is no catalog at {path}", hint="run a config that loads into it first")
    return _open(spec, sqlite_uri(path), warehouse, str(path), create=create)


def open_postgres(spec: Spec, warehouse: str, *, create: bool) -> SqlCatalog:
    """A catalog in a PostgreSQL database.

    Raises:
        EngineNotFound: Neither psycopg nor psycopg2 is installed.
        TableNotFound: ``create`` is false and the database holds no catalog.
        CatalogError: It does not answer.
    """
    url = make_url(str(spec.get("uri")))
    password = from_environment(spec, "password_env")
    if password is not None:
        url = url.set(password=password)
    url = url.set(drivername=f"postgresql+{_driver(url)}")
    place = f"{url.host or 'localhost'}/{url.database}"
    return _open(spec, url.render_as_string(hide_password=False), warehouse, place, create=create)


def _driver(url: URL) -> str:
    asked = url.drivername.partition("+")[2]
    for driver in (asked,) if asked else ("psycopg", "psycopg2"):
        if find_spec(driver) is not None:
            return driver
    raise EngineNotFound(
        f"PostgreSQL needs {asked or 'psycopg'}, which is not installed",
        hint='pip install "ldp-core[postgres]"',
    )


def _open(spec: Spec, uri: str, warehouse: str, place: str, *, create: bool) -> SqlCatalog:
    if create and is_local(warehouse):
        local_path(warehouse).mkdir(parents=True, exist_ok=True)
    name = catalog_name(spec)
    properties: dict[str, Any] = {
        **properties_of(spec),
        "uri": uri,
        "warehouse": folder_uri(Path(warehouse)) if "://" not in warehouse else warehouse,
        "init_catalog_tables": "true" if create else "false",
    }
    make: Callable[[], SqlCatalog] = lambda: ClosingCatalog(name, **properties)  # noqa: E731
    try:
        catalog = opened(make, create=create)
        if not create:
            need_tables(catalog, place)
        if not spec.get("name"):
            _take_only_name(catalog)
    except DBAPIError as error:
        raise unreachable(name, error) from error
    return catalog


def _take_only_name(catalog: SqlCatalog) -> None:
    """Without a ``name``, the one catalog that the database holds is meant, whatever it is called."""
    with Session(catalog.engine) as session:
        names = list(session.scalars(select(IcebergTables.catalog_name).distinct()))
    if len(names) == 1:
        catalog.name = names[0]
