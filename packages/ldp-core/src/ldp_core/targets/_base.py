"""The table a load stands on, without creating a catalog before something is published."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core import fs
from ldp_core.catalogs.access import namespace, open_catalog, provider_of
from ldp_core.catalogs.tables import full_identifier
from ldp_core.commit.base import NewTable, load_base, make_namespace
from ldp_core.commit.change import Base
from ldp_core.errors import TableNotFound
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


class Place:
    """The catalog and name of a target table; remembers what did not exist before.

    Args:
        catalog: The ``catalog`` of a config.
        name: The table.
        scratch: A folder of the run: a SQLite catalog that does not exist yet is stood in for by one in here,
            so that a run that fails leaves none behind.
    """

    def __init__(self, catalog: Spec, name: str, scratch: Path) -> None:
        self.spec = catalog
        self.identifier = (namespace(catalog), name)
        self.scratch = scratch
        self._made_namespace: Catalog | None = None
        self._made_folders: list[Path] = []

    @property
    def label(self) -> str:
        """``namespace.table``."""
        return ".".join(self.identifier)

    def existing(self) -> Base | None:
        """The table as it is, or None; creates nothing."""
        try:
            return load_base(open_catalog(self.spec), self.identifier)
        except TableNotFound:
            return None

    def staged(self, new: NewTable) -> Base:
        """The table that the first publish will create (or the one somebody made meanwhile)."""
        try:
            catalog = open_catalog(self.spec)
        except TableNotFound:
            return load_base(self._stand_in(), self.identifier, new)
        owner = full_identifier(self.identifier)[:-1]
        if not catalog.namespace_exists(owner):
            self._made_namespace = catalog
        return load_base(catalog, self.identifier, new)

    def real(self, base: Base) -> Base:
        """The base with the real catalog, which is created where there was none."""
        self._made_namespace = None
        self._made_folders = []
        if base.exists:
            return base
        catalog = open_catalog(self.spec, create=True)
        make_namespace(catalog, self.identifier[0])
        return replace(base, catalog=catalog)

    def remember(self, location: str) -> None:
        """Note which folders of a local table location do not exist yet."""
        if fs.is_local(location):
            path = fs.local_path(location)
            self._made_folders = [folder for folder in (path, *path.parents) if not folder.exists()]

    def forget(self) -> None:
        """Remove the namespace and the empty folders that this run made and nothing was published into."""
        if self._made_namespace is not None:
            with contextlib.suppress(Exception):
                self._made_namespace.drop_namespace(full_identifier(self.identifier)[:-1])
            self._made_namespace = None
        for folder in self._made_folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._made_folders = []

    def _stand_in(self) -> Catalog:
        from ldp_core.catalogs.local import LocalProvider
        from ldp_core.catalogs.sqlite import ClosingCatalog, folder_uri, opened, sqlite_uri

        uri = sqlite_uri(self.scratch / "stand_in_catalog.db")
        provider = provider_of(self.spec)
        if isinstance(provider, LocalProvider):
            warehouse = folder_uri(provider.warehouse(self.spec))
            name = provider.namespace(self.spec)
            return opened(lambda: ClosingCatalog(name, uri=uri, warehouse=warehouse), create=True)
        values = {**self.spec.values, "uri": uri}
        return provider.open(replace(self.spec, values=values), create=True)
