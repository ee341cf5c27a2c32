"""The local catalog: a SQLite file beside a warehouse folder; needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core.catalogs._peek import PeekedCatalog
from ldp_core.catalogs._shapes import type_key
from ldp_core.errors import Problem, TableNotFound
from ldp_core.fs import is_local, local_path
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SHAPE = Shape(
    keys=(
        type_key("local", "LocalIceberg", default=True),
        Key(
            "identifier",
            Text(),
            "Names the catalog, its file and the namespace of its tables.",
            required=True,
        ),
        Key("warehouse_path", Text(), "The folder of the tables and of the catalog's file.", required=True),
    ),
    doc="A catalog in a SQLite file: <warehouse_path>/<identifier>_catalog.db.",
)


def catalog_file(warehouse: Path, identifier: str) -> Path:
    """The SQLite file of a local catalog."""
    return warehouse / f"{identifier}_catalog.db"


class LocalProvider:
    """``type: local``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """An identifier that cannot name a file and a namespace, a warehouse that is no folder."""
        identifier, warehouse = spec.get("identifier"), spec.get("warehouse_path")
        if isinstance(warehouse, str) and not is_local(warehouse):
            message = f"{warehouse} is no local folder, and a local catalog keeps its tables in one"
            hint = "name a folder, or use type: sql or rest"
            return [Problem(message, key="warehouse_path", hint=hint)]
        if not isinstance(identifier, str):
            return []
        if not identifier.strip() or any(not part.strip() for part in identifier.split(".")):
            return [Problem("the identifier of a catalog may not be empty", key="identifier")]
        if "/" in identifier or "\\" in identifier or "\0" in identifier:
            return [Problem(f"{identifier!r} names a file and a namespace: no slashes", key="identifier")]
        return []

    def namespace(self, spec: Spec) -> str:
        """The identifier."""
        return str(spec.get("identifier"))

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """Open the catalog; makes its folder and file only when it may.

        Raises:
            TableNotFound: ``create`` is false and there is no catalog.
        """
        from ldp_core.catalogs._environment import refuse
        from ldp_core.catalogs.sqlite import open_local

        refuse(self.problems(spec), spec)
        warehouse = self.warehouse(spec)
        path = catalog_file(warehouse, self.namespace(spec))
        if not create and not path.is_file():
            raise TableNotFound(
                f"there is no catalog at {path}", hint="run a config that loads into it first"
            )
        return open_local(self.namespace(spec), warehouse, create=create)

    def peek(self, spec: Spec) -> PeekedCatalog:
        """Read the catalog without pyiceberg."""
        warehouse = self.warehouse(spec)
        name = self.namespace(spec)

        def remote(namespace: str, table: str) -> object:
            from ldp_core.catalogs.access import load_peeked

            return load_peeked(spec, namespace, table)

        return PeekedCatalog(catalog_file(warehouse, name), name, warehouse, remote)  # type: ignore[arg-type]

    def warehouse(self, spec: Spec) -> Path:
        """The absolute warehouse folder."""
        return Path(spec.path(str(local_path(str(spec.get("warehouse_path")))))).absolute()


PROVIDER = LocalProvider()
