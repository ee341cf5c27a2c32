"""Loading tables: a missing one is one clear error, and looking creates nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core.catalogs import access
from ldp_core.catalogs._moved import check_place
from ldp_core.errors import CatalogError, LDPError, TableNotFound
from ldp_core.fs import is_local, local_path
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table


def load_table(spec: Spec, name: str, *, namespace: str | None = None) -> Table:
    """Load the table of a config. Creates nothing.

    Args:
        spec: The ``catalog`` of the config.
        name: The table's name.
        namespace: Its namespace; the spec's own by default.

    Raises:
        TableNotFound: The catalog, the namespace or the table does not exist.
        CatalogError: The catalog does not answer, or the table's folder was moved.
    """
    owner = namespace if namespace is not None else access.namespace(spec)
    return load(access.open_catalog(spec), (owner, name))


def load(catalog: Catalog, identifier: tuple[str, str]) -> Table:
    """Load a table of an open catalog.

    Args:
        catalog: A pyiceberg catalog.
        identifier: ``(namespace, table)``; a namespace of several levels is dotted.

    Raises:
        TableNotFound: The namespace or the table does not exist.
        CatalogError: The catalog does not answer, or the table's files are not where it says.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, ValidationError

    from ldp_core._pyiceberg import remembered

    label = ".".join(identifier)
    try:
        with remembered(catalog):
            table = catalog.load_table(full_identifier(identifier))
    except (NoSuchTableError, NoSuchNamespaceError) as error:
        raise TableNotFound(
            f"table {label} does not exist in catalog {catalog.name}",
            hint="run the config that loads it, or list what is there with: ldp tables",
        ) from error
    except FileNotFoundError as error:
        location = recorded_location(catalog, identifier)
        if location and (root := warehouse_of(catalog)):
            check_place(label, location, root)
        raise CatalogError(f"the metadata of {label} is missing: {location or error}") from error
    except LDPError:
        raise
    except (ValueError, ValidationError) as error:  # a metadata file that is not whole
        location = recorded_location(catalog, identifier)
        if location is None:
            raise unreachable(catalog.name, error) from error
        raise CatalogError(f"the metadata of {label} is broken: {location}") from error
    except Exception as error:
        raise unreachable(catalog.name, error) from error
    if root := warehouse_of(catalog):
        check_place(label, table.metadata_location, root)
    return table


def full_identifier(identifier: tuple[str, str]) -> tuple[str, ...]:
    """``("a.b", "t")`` as pyiceberg wants it: ``("a", "b", "t")``."""
    return (*identifier[0].split("."), identifier[1])


def warehouse_of(catalog: Catalog) -> Path | None:
    """The local warehouse folder of a catalog, where it has one."""
    warehouse = catalog.properties.get("warehouse")
    return local_path(warehouse) if warehouse and is_local(warehouse) and "/" in warehouse else None


def recorded_location(catalog: Catalog, identifier: tuple[str, str]) -> str | None:
    """The metadata file that a SQL catalog's row names; None for other catalogs."""
    from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
    from sqlalchemy import select
    from sqlalchemy.orm import Session

    if not isinstance(catalog, SqlCatalog):
        return None
    row = select(IcebergTables.metadata_location).where(
        IcebergTables.catalog_name == catalog.name,
        IcebergTables.table_namespace == identifier[0],
        IcebergTables.table_name == identifier[1],
    )
    with Session(catalog.engine) as session:
        return session.scalar(row)


def is_rest(catalog: Catalog) -> bool:
    """Whether a catalog speaks the REST protocol; asking does not import its client."""
    client = sys.modules.get("pyiceberg.catalog.rest")
    return client is not None and isinstance(catalog, client.RestCatalog)


def drop_connections(catalog: Catalog) -> None:
    """Let a SQL catalog answer over new connections, and roll back whatever the old ones left open.

    A COMMIT that fails (``database is locked``) leaves its transaction open on the connection, and SQLAlchemy
    hands that connection out again: it would show rows that nobody else will ever see.
    """
    engine = getattr(catalog, "engine", None)
    if engine is not None:
        engine.dispose()


def unreachable(name: str, error: Exception) -> CatalogError:
    """One line about a catalog that does not answer, with secrets masked."""
    from ldp_core.config.secrets import mask

    text = " ".join(str(error).split())
    return CatalogError(
        f"catalog {name} does not answer: {type(error).__name__}: {mask(text)[:300]}",
        retriable=isinstance(error, OSError),
    )
