"""From what a command line names (configs, folders, tables) to catalogs and tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ldp_core.errors import ConfigError, LDPError, TableNotFound, UsageError
from ldp_core.fs import is_local

if TYPE_CHECKING:
    from ldp_core.catalogs._peek import Peeked
    from ldp_core.spi import Spec

CONFIG_SUFFIXES = {".json", ".yaml", ".yml"}


@dataclass(frozen=True)
class Found:
    """A table in a catalog.

    Attributes:
        catalog: The catalog's spec.
        namespace: Its namespace.
        name: Its name.
    """

    catalog: Spec
    namespace: str
    name: str

    @property
    def label(self) -> str:
        """``namespace.table``."""
        return f"{self.namespace}.{self.name}"

    def metadata(self) -> Peeked:
        """Its present metadata.

        Raises:
            TableNotFound: It does not exist (yet).
            CatalogError: It cannot be read.
        """
        from ldp_core.catalogs.access import look

        peeked = look(self.catalog, self.namespace, self.name)
        if peeked is None:
            raise TableNotFound(
                f"table {self.label} does not exist", hint="run the config that loads it first"
            )
        return peeked


def catalogs_of(places: Iterable[str], env: str | None) -> list[Spec]:
    """The catalogs that configs and folders name, each once.

    A config stands for its catalog; a folder for the catalogs of the configs directly in it and for the local
    catalogs up to three levels below it.

    Raises:
        ConfigError: A file is no config or names no catalog.
        UsageError: A place does not exist.
    """
    found: list[Spec] = []
    for place in places:
        path = Path(place)
        if path.is_dir():
            found += _below(path, env)
        elif path.exists():
            found.append(config_table(place, env).catalog)
        else:
            raise UsageError(f"there is no config or folder {place}")
    unique: dict[str, Spec] = {}
    for spec in found:
        unique.setdefault(_identity(spec), spec)
    return list(unique.values())


def tables_of(catalog: Spec) -> list[Found]:
    """Every table of a catalog, sorted.

    Raises:
        TableNotFound: There is no catalog.
    """
    from ldp_core.catalogs.access import open_catalog, peek

    peeked = peek(catalog)
    if peeked is not None:
        return [Found(catalog, space, name) for space, name in peeked.tables()]
    opened = open_catalog(catalog)
    return sorted(
        (
            Found(catalog, ".".join(identifier[:-1]), identifier[-1])
            for space in namespaces_of(opened)
            for identifier in opened.list_tables(space)
        ),
        key=lambda item: item.label,
    )


def namespaces_of(catalog: object, parent: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The namespaces of an open catalog, nested ones after their parents."""
    from typing import Any

    client: Any = catalog
    found: list[tuple[str, ...]] = []
    for space in sorted(client.list_namespaces(parent)):
        found.append(tuple(space))
        if len(space) > len(parent):
            found += namespaces_of(catalog, tuple(space))
    return found


def config_table(file: str, env: str | None) -> Found:
    """The Iceberg table of a config.

    Raises:
        ConfigError: It is no valid config, or its target is no Iceberg table.
    """
    from ldp_core.catalogs.access import namespace
    from ldp_core.config import Config

    config = Config.from_file(file, env=env)
    config.validate("target")
    target = config.spec("target")
    if "catalog" not in target.values:
        raise ConfigError(
            f"the target is {config.target_kind()}, not an Iceberg table",
            file=file,
            key="metadata.target.format",
        )
    catalog = target.sub("catalog")
    return Found(catalog, namespace(catalog), str(target.get("name")))


def find_table(word: str, places: Iterable[str], env: str | None) -> Found:
    """The table that a word means: a config file, ``namespace.table``, or a bare name that is unique.

    Args:
        word: What the user wrote.
        places: Configs and folders whose catalogs are searched.
        env: The environment of ``ldp.yaml``.

    Raises:
        TableNotFound: No catalog there has such a table.
        UsageError: Several have.
    """
    if Path(word).suffix in CONFIG_SUFFIXES or Path(word).is_file():
        return config_table(word, env)
    known: list[Found] = []
    for catalog in catalogs_of(places, env):
        try:
            known += tables_of(catalog)
        except TableNotFound:
            continue
    matches = [item for item in known if word in (item.label, item.name)]
    exact = [item for item in matches if item.label == word]
    chosen = exact or matches
    if not chosen:
        shown = ", ".join(sorted(item.label for item in known)[:10]) or "none"
        raise TableNotFound(
            f"no table is called {word}; there are: {shown}", hint="name a config, or --in FOLDER"
        )
    if len(chosen) > 1:
        labels = ", ".join(f"{item.label} in {item.catalog.get('warehouse_path')}" for item in chosen)
        raise UsageError(f"{word} is more than one table: {labels}", hint="name a config, or --in FOLDER")
    return chosen[0]


def _below(folder: Path, env: str | None) -> list[Spec]:
    from ldp_core.catalogs.find import catalogs_below

    found: list[Spec] = []
    for path in sorted(folder.iterdir()):
        if path.suffix in CONFIG_SUFFIXES and path.is_file() and not path.name.startswith("."):
            try:
                found.append(config_table(str(path), env).catalog)
            except LDPError:
                continue
    return [*found, *catalogs_below(folder)]


def _identity(spec: Spec) -> str:
    import json

    values = {key: value for key, value in spec.values.items() if key != "namespace"}
    values.setdefault("type", "local")
    for key in ("warehouse_path", "warehouse"):
        if isinstance(values.get(key), str) and is_local(values[key]):
            values[key] = str(Path(spec.path(values[key])).resolve())
    return json.dumps(values, sort_keys=True, default=str)
