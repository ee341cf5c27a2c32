"""Catalogs by name, by file and by address; secrets come from the environment alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import CatalogError, ConfigError
from ldp_core.spi import Spec

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.catalog.rest import RestCatalog

TOKEN, CREDENTIAL = "LDP_CATALOG_TOKEN", "LDP_CATALOG_CREDENTIAL"
"""Variables that hold a token, or client id and secret (``id:secret``), of a catalog named by its address."""
_UNNAMED = "name it under catalogs: in ldp.yaml, or in pyiceberg's configuration"
_DELEGATION = "header.X-Iceberg-Access-Delegation"


def by_name(name: str, env: str | None = None) -> Catalog:
    """A catalog that ``ldp.yaml`` or pyiceberg's own configuration names; the first of them wins.

    Args:
        name: Its name.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: Nobody names it.
        CatalogError: It does not answer.
    """
    from ldp_core.catalogs.access import open_catalog
    from ldp_core.config.catalogs import find_catalog, lookup

    try:
        lookup(name, Path.cwd(), env)
    except ConfigError as error:
        own = _of_pyiceberg(name) if error.file is None else None
        if own is None:
            hint = error.hint if error.hint and error.hint.startswith("did you mean") else _UNNAMED
            raise ConfigError(error.message, file=error.file, line=error.line, hint=hint) from error
        return own
    values = find_catalog(name, Path.cwd(), env)
    found = open_catalog(Spec({"namespace": name, **values}, Path.cwd(), f"catalogs.{name}"))
    return _known_by_its_name(found, f"add its name to catalogs.{name} in ldp.yaml")


def _of_pyiceberg(name: str) -> Catalog | None:
    """The catalog of that name in ``.pyiceberg.yaml`` or ``PYICEBERG_CATALOG__<NAME>__...``."""
    from ldp_core.catalogs.sqlite import closed_with
    from ldp_core.catalogs.tables import unreachable
    from pyiceberg.catalog import load_catalog
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.utils.config import Config

    try:
        found = Config().get_catalog_config(name)
        if found is None:
            return None
        # Given along, because pyiceberg itself reads its configuration once, when it is imported.
        made = load_catalog(name, **{key: str(value) for key, value in found.items() if key != "name"})
    except Exception as error:
        raise unreachable(name, error) from error
    if isinstance(made, SqlCatalog):
        closed_with(made)
    return _known_by_its_name(made, "pyiceberg's configuration has to call it by that name")


def by_file(path: str, env: str | None = None) -> Catalog:
    """The catalog that a file holds alone, or that a config names.

    Raises:
        ConfigError: The file is not right.
        CatalogError: It does not answer.
    """
    from ldp_core.catalogs.access import open_catalog
    from ldp_core.config import Config
    from ldp_core.config.catalogs import CATALOG
    from ldp_core.config.load import load_document
    from ldp_core.config.normal import normalise
    from ldp_core.config.secrets import find_secrets
    from ldp_core.config.validate import check

    document = load_document(path)
    if "metadata" in document.data:
        config = Config.from_document(document, env)
        config.validate("target")
        return open_catalog(config.spec("target").sub("catalog"))
    problems = (*find_secrets(document.data), *check(CATALOG, document.data))
    if problems:
        from dataclasses import replace

        raise ConfigError.from_problems(
            tuple(replace(p, file=document.name, line=document.line_of(p.key)) for p in problems)
        )
    values = normalise(CATALOG, document.data)
    found = open_catalog(Spec({"namespace": "default", **values}, Path(path).parent, "", path))
    return _known_by_its_name(found, f"add its name to {path}")


def by_address(uri: str, warehouse: str | None = None, name: str | None = None) -> Catalog:
    """A REST catalog (http, https) or a SQL catalog by its address.

    Args:
        uri: Its address, without a password.
        warehouse: Its warehouse.
        name: Its name, under which a SQL catalog keeps its tables; that of the only one in the database
            otherwise.

    Raises:
        ConfigError: The address holds a secret, a SQL catalog has no warehouse, or its database holds only
            catalogs of other names.
        CatalogError: It does not answer.
    """
    from ldp_core.catalogs.access import open_catalog

    kind = "rest" if uri.lower().startswith(("http://", "https://")) else "sql"
    values: dict[str, Any] = {"type": kind, "uri": uri, "namespace": "default"}
    if name is not None or kind == "rest":
        values["name"] = name or "default"
    if warehouse is not None:
        values["warehouse"] = warehouse
    elif kind == "sql":
        raise ConfigError("a SQL catalog needs its warehouse", hint="--warehouse PATH")
    if kind == "rest":
        for key, variable in (("token_env", TOKEN), ("credential_env", CREDENTIAL)):
            if os.environ.get(variable):
                values[key] = variable
                break
    return _known_by_its_name(open_catalog(Spec(values, Path.cwd())), "say which: --catalog NAME")


def _known_by_its_name(catalog: Catalog, hint: str) -> Catalog:
    """A SQL database keeps the tables of several catalogs: one of a name that it does not know is empty.

    Raises:
        ConfigError: The database holds catalogs, and none of that name.
    """
    names = _names(catalog)
    if names and catalog.name not in names:
        raise ConfigError(
            f"the database holds no catalog {catalog.name!r}; known: {', '.join(names)}", hint=hint
        )
    return catalog


def _names(catalog: Catalog) -> list[str]:
    """The names of the catalogs in a SQL database."""
    from ldp_core.catalogs.tables import unreachable

    if getattr(catalog, "engine", None) is None:
        return []
    from pyiceberg.catalog.sql import IcebergNamespaceProperties, IcebergTables, SqlCatalog
    from sqlalchemy import select
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.orm import Session

    if not isinstance(catalog, SqlCatalog):
        return []
    try:
        with Session(catalog.engine) as session:
            kept = [
                session.scalars(select(rows.catalog_name).distinct())
                for rows in (IcebergTables, IcebergNamespaceProperties)
            ]
            return sorted({str(name) for names in kept for name in names})
    except SQLAlchemyError as error:
        raise unreachable(catalog.name, error) from error


def open_rest(
    uri: str,
    warehouse: str | None = None,
    *,
    name: str = "rest",
    token: str | None = None,
    credential: str | None = None,
    oauth2_server_uri: str | None = None,
    scope: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> RestCatalog:
    """Open a REST catalog that hands out credentials of the object store for each table.

    It is asked for vended credentials, never for remote signing: with those, a store can be listed and files
    can be deleted.

    Args:
        uri: Its address.
        warehouse: Its warehouse.
        name: What messages call it.
        token: A bearer token; ``LDP_CATALOG_TOKEN`` by default.
        credential: Client id and secret, ``id:secret``; ``LDP_CATALOG_CREDENTIAL`` by default.
        oauth2_server_uri: Where tokens come from, if not from the catalog itself.
        scope: The scope of the token.
        properties: What else pyiceberg shall know.

    Raises:
        CatalogError: It does not answer.
    """
    from ldp_core.catalogs.tables import unreachable
    from ldp_core.config.secrets import mask
    from pyiceberg.catalog.rest import RestCatalog

    given = {
        "uri": uri,
        "warehouse": warehouse,
        "token": token or (None if credential else os.environ.get(TOKEN)),
        "credential": credential or (None if token else os.environ.get(CREDENTIAL)),
        "oauth2-server-uri": oauth2_server_uri,
        "scope": scope,
        _DELEGATION: "vended-credentials",
    }
    wanted = {**(properties or {}), **{key: value for key, value in given.items() if value is not None}}
    try:
        return RestCatalog(name, **wanted)
    except Exception as error:
        found = unreachable(f"{name} at {mask(uri)}", error)
        hint = f"look at its address and its secret ({TOKEN}, {CREDENTIAL})"
        raise CatalogError(found.message, hint=hint, retriable=found.retriable) from error
