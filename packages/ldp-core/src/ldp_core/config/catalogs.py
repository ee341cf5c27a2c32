"""Catalogs that ``ldp.yaml`` names, and the environments that swap them.

``ldp.yaml`` stands in the config's folder or in any folder above it, else in the home folder::

    catalogs:
      lake: {type: local, identifier: nyc, warehouse_path: warehouse}
    environments:
      prod:
        catalogs:
          lake: {type: rest, uri: "https://catalog.example", token_env: LAKE_TOKEN, namespace: nyc}

A relative path in it starts at its own folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ldp_core.config.load import Document, child, load_document
from ldp_core.config.names import entry_of, nearest
from ldp_core.config.normal import normalise
from ldp_core.config.secrets import find_secrets
from ldp_core.config.validate import check
from ldp_core.errors import ConfigError, Problem
from ldp_core.fs import is_local, local_path
from ldp_core.shape import Anything, Key, MapOf, Named, Shape

FILE = "ldp.yaml"
CATALOG = Named(
    group="ldp.catalogs",
    by="type",
    default="local",
    aliases={"LocalIceberg": "local", "sqlite": "sql"},
)
"""What a ``catalog`` may be: an object, or the name of one in ``ldp.yaml``."""

_CATALOGS = Key("catalogs", MapOf(Anything()), "Catalogs by name.")
PROJECT = Shape(
    keys=(
        _CATALOGS,
        Key(
            "environments",
            MapOf(Shape(keys=(_CATALOGS,), doc="What differs in one environment.")),
            "Environments by name; `--env` chooses one.",
        ),
    ),
    doc="The project file `ldp.yaml`.",
)


@dataclass(frozen=True)
class NamedCatalog:
    """A catalog of ``ldp.yaml``.

    Attributes:
        spec: The full object: ``type`` filled in, paths absolute.
        written: The object as the file has it.
        key: Its place in the file: ``environments.prod.catalogs.lake``.
        document: The file.
    """

    spec: dict[str, Any]
    written: Mapping[str, Any]
    key: str
    document: Document

    def problems(self) -> list[Problem]:
        """What is wrong with it, with file and line."""
        secrets = find_secrets(self.written, self.key)
        hidden = {problem.key for problem in secrets}
        found = [problem for problem in check(CATALOG, self.written, self.key) if problem.key not in hidden]
        return [self.placed(problem) for problem in (*secrets, *found)]

    def placed(self, problem: Problem) -> Problem:
        """A problem of this catalog with the file and line it stands on."""
        return replace(problem, file=self.document.name, line=self.document.line_of(problem.key))


def find_catalog(name: str, base_dir: Path, env: str | None = None) -> dict[str, Any]:
    """The catalog that a name in a config means.

    Args:
        name: As in ``catalog: lake``.
        base_dir: The config's folder.
        env: The environment; its catalogs come before those outside environments.

    Returns:
        The full object: ``type`` filled in and in canonical spelling, paths absolute.

    Raises:
        ConfigError: No ``ldp.yaml`` names it, or its entry is wrong.
    """
    found = lookup(name, base_dir, env)
    problems = tuple(found.problems())
    if problems:
        raise ConfigError.from_problems(problems)
    return found.spec


def lookup(name: str, base_dir: Path, env: str | None = None) -> NamedCatalog:
    """Find a catalog without checking its keys.

    Raises:
        ConfigError: No ``ldp.yaml`` names it, the environment is unknown, or a file cannot be read.
    """
    documents = list(project_files(base_dir))
    _known_env(documents, env)
    seen: list[str] = []
    for document in documents:
        for key, catalogs in _places(document, env):
            if isinstance(catalogs.get(name), Mapping):
                spec = _absolute(normalise(CATALOG, catalogs[name]), document)
                return NamedCatalog(spec, catalogs[name], child(key, name), document)
            seen += catalogs
    near = nearest(name, seen)
    if not documents:
        raise ConfigError(f"catalog {name!r} is a name, and there is no {FILE}", hint=_where(base_dir))
    listed = ", ".join(sorted(set(seen))) or "none"
    files = ", ".join(str(document.name) for document in documents)
    raise ConfigError(
        f"no catalog is called {name!r} in {files}; known: {listed}",
        hint=f"did you mean {near}?" if near else None,
    )


def _where(base_dir: Path) -> str:
    return f"name it under catalogs: in {FILE} beside the config or above it, or write the catalog out"


def _known_env(documents: list[Document], env: str | None) -> None:
    if env is None:
        return
    known = sorted({name for document in documents for name in _mapping(document.data, "environments")})
    if env not in known:
        near = nearest(env, known)
        listed = ", ".join(known) or "none"
        raise ConfigError(
            f"unknown environment {env!r}; known in {FILE}: {listed}",
            hint=f"did you mean {near}?" if near else None,
        )


def check_env(base_dir: Path, env: str | None) -> None:
    """Refuse an environment that no ``ldp.yaml`` knows.

    Raises:
        ConfigError: The environment is unknown.
    """
    if env is not None:
        _known_env(list(project_files(base_dir)), env)


def project_files(base_dir: Path) -> Iterator[Document]:
    """Every ``ldp.yaml`` that counts for a folder, the nearest first, that of the home folder last.

    Raises:
        ConfigError: One cannot be read or has keys that it may not have.
    """
    start = base_dir.resolve()
    folders = [start, *start.parents]
    home = Path.home()
    if home not in folders:
        folders.append(home)
    for folder in folders:
        file = folder / FILE
        if file.is_file():
            document = load_document(_shown(file))
            problems = tuple(
                replace(problem, file=document.name, line=document.line_of(problem.key))
                for problem in check(PROJECT, document.data)
            )
            if problems:
                raise ConfigError.from_problems(problems)
            yield document


def _shown(file: Path) -> Path:
    """A file as messages name it: from the working folder where it is below that."""
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def _places(document: Document, env: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if env is not None:
        environment = _mapping(_mapping(document.data, "environments"), env)
        yield f"environments.{env}.catalogs", _mapping(environment, "catalogs")
    yield "catalogs", _mapping(document.data, "catalogs")


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def _absolute(spec: dict[str, Any], document: Document) -> dict[str, Any]:
    """The catalog with its relative paths made absolute, from the folder of its file."""
    folder = document.path.resolve().parent if document.path else Path.cwd()
    body = dict(spec)
    names = ("warehouse_path", "warehouse") if entry_of(CATALOG, spec) in ("local", "sql") else ()
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and is_local(value):
            body[name] = str(Path(folder, local_path(value).expanduser()))
    uri = body.get("uri")
    local = re.fullmatch(r"(sqlite(?:\+\w+)?:///)(?!/)(.+)", uri) if isinstance(uri, str) else None
    if local and not local.group(2).startswith(":memory:"):
        body["uri"] = f"{local.group(1)}{folder / local.group(2)}"
    return body
