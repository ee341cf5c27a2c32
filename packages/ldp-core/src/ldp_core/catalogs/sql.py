"""A catalog in a SQL database: SQLite or PostgreSQL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ldp_core.catalogs._environment import catalog_name, namespace_of, namespace_problems
from ldp_core.catalogs._peek import PeekedCatalog, only_name
from ldp_core.catalogs._shapes import IDENTIFIER, NAME, NAMESPACE, PROPERTIES, PROPERTIES_ENV, type_key
from ldp_core.errors import Problem
from ldp_core.fs import is_local, local_path
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

SHAPE = Shape(
    keys=(
        type_key("sql", "sqlite"),
        Key(
            "uri", Text(), "sqlite:///file.db or postgresql://user@host/database; no password.", required=True
        ),
        Key("warehouse", Text(), "The folder or URI below which tables are made.", required=True),
        NAME,
        NAMESPACE,
        IDENTIFIER,
        Key("password_env", Text(), "The environment variable that holds the database's password."),
        PROPERTIES,
        PROPERTIES_ENV,
    ),
    doc="A catalog in a SQLite file or a PostgreSQL database.",
)
_SQLITE = re.compile(r"^sqlite(?:\+\w+)?://(?P<rest>.*)$", re.DOTALL)
_POSTGRES = re.compile(r"^postgres(?:ql)?(?:\+(?P<driver>\w+))?://", re.DOTALL)


class SqlProvider:
    """``type: sql``."""

    shape = SHAPE

    def problems(self, spec: Spec) -> list[Problem]:
        """A database that is neither SQLite nor PostgreSQL, a SQLite catalog in memory, no namespace."""
        found = namespace_problems(spec)
        namespace = spec.get("namespace") or spec.get("identifier")
        if isinstance(namespace, str) and re.search(r"[/\\\0]", namespace):
            found.append(Problem(f"{namespace!r} names a folder, too: no slashes", key="namespace"))
        uri = spec.get("uri")
        if not isinstance(uri, str):
            return found
        sqlite = _SQLITE.match(uri)
        if sqlite is None and not _POSTGRES.match(uri):
            found.append(
                Problem(
                    "a SQL catalog is sqlite:///file.db or postgresql://user@host/database",
                    key="uri",
                )
            )
        elif sqlite and (sqlite["rest"] in ("", "/") or ":memory:" in sqlite["rest"]):
            found.append(Problem("a catalog in memory is lost when the command ends; name a file", key="uri"))
        return found

    def namespace(self, spec: Spec) -> str:
        """``namespace``, else ``identifier``."""
        return namespace_of(spec)

    def open(self, spec: Spec, *, create: bool) -> Catalog:
        """Open the catalog; makes its file and tables only when it may.

        Raises:
            TableNotFound: ``create`` is false and there is no catalog.
            EngineNotFound: No PostgreSQL driver is installed.
            CatalogError: The database does not answer.
        """
        from ldp_core.catalogs._environment import refuse
        from ldp_core.catalogs._sql_open import open_postgres, open_sqlite

        refuse(self.problems(spec), spec)
        path = sqlite_file(spec)
        if path is not None:
            return open_sqlite(spec, path, _warehouse(spec), create=create)
        return open_postgres(spec, _warehouse(spec), create=create)

    def peek(self, spec: Spec) -> PeekedCatalog | None:
        """Read the catalog without pyiceberg, where it is a SQLite file and its tables are local."""
        path = sqlite_file(spec)
        warehouse = str(spec.get("warehouse") or "")
        if path is None or not is_local(warehouse):
            return None
        name = spec.get("name") or only_name(path) or catalog_name(spec)

        def remote(namespace: str, table: str) -> object:
            from ldp_core.catalogs.access import load_peeked

            return load_peeked(spec, namespace, table)

        folder = local_path(_warehouse(spec)).absolute()
        return PeekedCatalog(path, str(name), folder, remote)  # type: ignore[arg-type]


def sqlite_file(spec: Spec) -> Path | None:
    """The file of a SQLite catalog, a relative one from the config's folder; None for other databases."""
    match = _SQLITE.match(str(spec.get("uri") or ""))
    if match is None:
        return None
    path = unquote(match["rest"].removeprefix("/").partition("?")[0])
    return Path(spec.path(path)).absolute()


def _warehouse(spec: Spec) -> str:
    """The warehouse: the URI of an object store as it is written, or an absolute path."""
    text = str(spec.get("warehouse"))
    return str(Path(spec.path(str(local_path(text)))).absolute()) if is_local(text) else text


PROVIDER = SqlProvider()
