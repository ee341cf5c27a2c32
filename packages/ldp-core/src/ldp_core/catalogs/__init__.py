"""Catalogs: where tables are registered. ``local``, ``sql``, ``rest`` and ``glue`` come with ldp-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldp_core.catalogs._peek import Peeked, PeekedCatalog
    from ldp_core.catalogs.access import look, namespace, open_catalog, peek
    from ldp_core.catalogs.find import catalogs_below
    from ldp_core.catalogs.sqlite import LocalIcebergCatalog
    from ldp_core.catalogs.tables import load_table

__all__ = [
    "LocalIcebergCatalog",
    "Peeked",
    "PeekedCatalog",
    "catalogs_below",
    "load_table",
    "look",
    "namespace",
    "open_catalog",
    "peek",
]

_HOMES = {
    "LocalIcebergCatalog": "sqlite",
    "Peeked": "_peek",
    "PeekedCatalog": "_peek",
    "catalogs_below": "find",
    "load_table": "tables",
    "look": "access",
    "namespace": "access",
    "open_catalog": "access",
    "peek": "access",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{home}"), name)
