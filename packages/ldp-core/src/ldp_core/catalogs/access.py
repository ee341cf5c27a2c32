"""From a ``catalog`` spec to a catalog, by the provider that its ``type`` names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ldp_core import registry
from ldp_core.catalogs._peek import Peeked, PeekedCatalog
from ldp_core.spi import CatalogProvider, Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

GROUP = "ldp.catalogs"
ALIASES = {"localiceberg": "local", "sqlite": "sql"}
"""Other spellings of ``type``, lower-cased."""


def type_of(spec: Spec) -> str:
    """The entry name of the catalog's provider; ``local`` where nothing is said."""
    word = str(spec.get("type") or "local").lower()
    return ALIASES.get(word, word)


def provider_of(spec: Spec) -> CatalogProvider:
    """The provider that a spec's ``type`` names.

    Raises:
        PipelineNotFound: None is called that.
    """
    return cast("CatalogProvider", registry.load(GROUP, type_of(spec)))


def open_catalog(spec: Spec, *, create: bool = False) -> Catalog:
    """Open the catalog of a spec.

    Args:
        spec: The ``catalog`` of a config.
        create: Whether folders, the SQLite file and its tables may be made.

    Raises:
        TableNotFound: ``create`` is false and there is no catalog.
        CatalogError: It cannot be reached.
    """
    return provider_of(spec).open(spec, create=create)


def namespace(spec: Spec) -> str:
    """The namespace of the config's table."""
    return provider_of(spec).namespace(spec)


def place(spec: Spec) -> str:
    """Where a catalog is: its folder or its address, absolute; empty where its spec does not say."""
    found = next((spec.get(name) for name in ("warehouse_path", "uri", "warehouse") if spec.get(name)), None)
    if found is None:
        return ""
    full = spec.path(str(found))
    return full if "://" in full else str(Path(full).absolute())


def peek(spec: Spec) -> PeekedCatalog | None:
    """The catalog read by the standard library alone; None for those that need a client.

    Only looks: a catalog that is not there yet is returned, too, and says so when it is asked.
    """
    peeker: Any = getattr(provider_of(spec), "peek", None)
    return cast("PeekedCatalog | None", peeker(spec)) if peeker else None


def look(spec: Spec, namespace: str, name: str) -> Peeked | None:
    """A table's metadata JSON the cheapest way: peeked where it can be, else through the client.

    Returns:
        None where the catalog, the namespace or the table does not exist.
    """
    from ldp_core.errors import TableNotFound

    peeked = peek(spec)
    try:
        if peeked is not None:
            return peeked.metadata(namespace, name)
        return load_peeked(spec, namespace, name)
    except TableNotFound:
        return None


def load_peeked(spec: Spec, namespace: str, name: str) -> Peeked:
    """A table's metadata JSON through the client.

    Raises:
        TableNotFound: It does not exist.
    """
    import json

    from ldp_core.catalogs.tables import load_table

    table = load_table(spec, name, namespace=namespace)
    return Peeked(table.metadata_location, json.loads(table.metadata.model_dump_json(by_alias=True)))
