"""From what a person names (a config, a table of a catalog, a whole catalog) to tables to look after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import CatalogError, ConfigError, LDPError, TableNotFound, UsageError

from ldp_maintenance.catalogs import by_address, by_file, by_name
from ldp_maintenance.config.file import TableConfig, same_warehouse
from ldp_maintenance.config.resolve import resolve
from ldp_maintenance.errors import SafetyAbort
from ldp_maintenance.locations import told_by_rows
from ldp_maintenance.model import Target
from ldp_maintenance.places import Places, roots

if TYPE_CHECKING:
    from ldp_core.config import Config
    from pyiceberg.catalog import Catalog

_SUFFIXES = (".json", ".yaml", ".yml")


@dataclass(frozen=True)
class Address:
    """What a command line names.

    Attributes:
        word: A config, or ``namespace.table``; None with ``every``.
        every: All tables of the catalog.
        namespace: Only those of this namespace.
        catalog: A name, or a file that holds a catalog alone.
        uri: The address of a catalog.
        warehouse: Its warehouse.
        table_config: A table-config file of version 2.
        env: The environment of ``ldp.yaml``.
    """

    word: str | None = None
    every: bool = False
    namespace: str | None = None
    catalog: str | None = None
    uri: str | None = None
    warehouse: str | None = None
    table_config: str | None = None
    env: str | None = None


@dataclass(frozen=True)
class Addressed:
    """The tables that an address means.

    Attributes:
        catalog: Their catalog, open.
        identifiers: The tables, sorted.
        missing: Tables that were named and are not there.
        config: The config that was named.
        file: The table-config file that was named.
    """

    catalog: Catalog
    identifiers: tuple[tuple[str, str], ...]
    missing: tuple[tuple[str, str], ...] = ()
    config: Config | None = None
    file: TableConfig | None = None

    def target(self, identifier: tuple[str, str], command_line: Mapping[str, Any] | None = None) -> Target:
        """A table with the settings that hold for it.

        Raises:
            TableNotFound: It is not there.
            ConfigError: A property of the table is no fit setting.
        """
        from ldp_core.catalogs.tables import load

        properties = load(self.catalog, identifier).properties
        section = self.config.section("maintenance") if self.config is not None else None
        policy = resolve(
            table=self.file.section(identifier) if self.file is not None else None,
            section=section,
            properties=properties,
            defaults=self.file.defaults if self.file is not None else None,
            command_line=command_line,
            name=".".join(identifier),
        )
        return Target(self.catalog, identifier, policy)


def find(address: Address) -> Addressed:
    """The tables that an address means.

    Raises:
        UsageError: It names nothing, or two things.
        ConfigError: A file that it names is not right, or is for another warehouse.
        TableNotFound: The one table that it names is not there.
        CatalogError: The catalog does not answer.
    """
    file = TableConfig.from_file(address.table_config) if address.table_config else None
    if address.word is not None and _is_config(address):
        return _of_config(address, file)
    if address.word is not None and address.every:
        raise UsageError("name a table, or --all, not both")
    catalog = _catalog(address)
    if file is not None:
        file.assert_warehouse(catalog)
    if address.word is not None:
        identifier = _identifier(address.word)
        if not _exists(catalog, identifier):
            raise _absent(catalog, identifier)
        return Addressed(catalog, (identifier,), file=file)
    if not address.every and file is None:
        raise UsageError("name a config, a table (NS.TABLE --catalog NAME), or --all --catalog NAME")
    return _many(catalog, address, file)


def _of_config(address: Address, file: TableConfig | None) -> Addressed:
    from ldp_core.config import Config

    if address.catalog or address.uri or address.warehouse:
        raise UsageError("a config names its own catalog", hint="leave --catalog, --uri and --warehouse out")
    if address.every:
        raise UsageError("name a config, or --all with --catalog, not both")
    return of_config(Config.from_file(str(address.word), env=address.env), file)


def of_config(config: Config, file: TableConfig | None = None) -> Addressed:
    """The table of a config.

    Args:
        config: The config.
        file: A table-config file, whose section of the table beats the config's own.

    Raises:
        ConfigError: The config is not right, or the file is for another warehouse.
        TableNotFound: The table is not there.
        CatalogError: The catalog does not answer.
    """
    from ldp_core.catalogs.access import namespace, open_catalog

    config.validate("target")
    config.validate("maintenance")
    target = config.spec("target")
    if "catalog" not in target.values:
        raise ConfigError(
            f"the target is {config.target_kind()}, not an Iceberg table",
            file=config.name,
            key="metadata.target.format",
        )
    spec = target.sub("catalog")
    identifier = (namespace(spec), str(target.get("name")))
    try:
        catalog = open_catalog(spec)
    except TableNotFound as error:
        raise TableNotFound(
            f"table {'.'.join(identifier)} does not exist: {error.message}",
            hint="run the config that loads it first",
        ) from error
    if file is not None:
        file.assert_warehouse(catalog)
    if not _exists(catalog, identifier):
        raise _absent(catalog, identifier)
    return Addressed(catalog, (identifier,), config=config, file=file)


def _is_config(address: Address) -> bool:
    """Whether the word is a config: named as one, or a file where no catalog is named besides."""
    word = str(address.word)
    by_name = Path(word).suffix.lower() in _SUFFIXES and (Path(word).exists() or not address.catalog)
    return by_name or (Path(word).is_file() and not address.catalog)


def _identifier(word: str) -> tuple[str, str]:
    space, _, name = word.rpartition(".")
    if not space or not name or any(not part for part in space.split(".")):
        raise UsageError(f"{word!r} is no table", hint="write NAMESPACE.TABLE, or a config file that exists")
    return space, name


def _catalog(address: Address) -> Catalog:
    if address.uri is not None:
        return by_address(address.uri, address.warehouse, address.catalog)
    if address.catalog is None:
        raise UsageError(
            "the table's catalog is not named",
            hint="--catalog NAME (of ldp.yaml or pyiceberg's configuration), --catalog SPEC.json, or --uri",
        )
    path = Path(address.catalog)
    if path.suffix.lower() in _SUFFIXES or path.is_file():
        catalog = by_file(address.catalog, address.env)
    else:
        catalog = by_name(address.catalog, address.env)
    own = catalog.properties.get("warehouse")
    if address.warehouse is not None and not same_warehouse(address.warehouse, own or ""):
        told = own or "none that it tells"
        raise ConfigError(f"--warehouse is {address.warehouse}, and catalog {catalog.name} has {told}")
    return catalog


def _many(catalog: Catalog, address: Address, file: TableConfig | None) -> Addressed:
    """Every table, or those of a file; a table that a file names and that is not there is missing."""
    there = [one for one in tables(catalog) if address.namespace in (None, one[0])]
    named = [one for one in (file.tables if file else {}) if address.namespace in (None, one[0])]
    if address.namespace is not None and not there and not _namespace_exists(catalog, address.namespace):
        raise TableNotFound(f"namespace {address.namespace} does not exist in catalog {catalog.name}")
    # A file with defaults is for every table of its warehouse; one without is for those that it names.
    whole = address.every or (file is not None and file.defaults is not None)
    chosen = there if whole else [one for one in named if one in there]
    return Addressed(
        catalog,
        tuple(sorted(chosen)),
        tuple(sorted(one for one in named if one not in there)),
        file=file,
    )


def tables(catalog: Catalog) -> list[tuple[str, str]]:
    """Every table of a catalog, as ``(namespace, table)``.

    Raises:
        CatalogError: It does not list them.
    """
    from ldp_core.catalogs.tables import unreachable
    from ldp_core.commands._lookup import namespaces_of

    try:
        return sorted(
            {
                (".".join(identifier[:-1]), identifier[-1])
                for space in namespaces_of(catalog)
                for identifier in catalog.list_tables(space)
            }
        )
    except LDPError:
        raise
    except Exception as error:
        raise unreachable(catalog.name, error) from error


@dataclass
class Neighbours:
    """Where the tables of a catalog are: asked once, when somebody needs to know.

    Attributes:
        catalog: The catalog.
    """

    catalog: Catalog
    _known: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    _at: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _unknown: dict[tuple[str, str], CatalogError] = field(default_factory=dict)
    _listed: bool = False

    def of(self, identifier: tuple[str, str]) -> tuple[str, ...]:
        """The locations of all tables but this one, with the folders that their properties name.

        Raises:
            CatalogError: The catalog does not list its tables, or one of them cannot be read.
        """
        self._ask()
        for one, error in self._unknown.items():
            if one != identifier:
                raise error
        return tuple(where for one, places in self._known.items() if one != identifier for where in places)

    def refuse_other_names(self, identifier: tuple[str, str], location: str) -> tuple[str, ...]:
        """Make sure that no other table has this location: it would be the same table under another name.

        Args:
            identifier: The table.
            location: Its location.

        Returns:
            The tables of which nobody can tell where they are.

        Raises:
            SafetyAbort: One has it; names it.
            CatalogError: The catalog does not list its tables.
        """
        self._ask()
        others = [one for one in self._at.get(Places().folder_key(location), ()) if one != identifier]
        if others:
            raise SafetyAbort(
                f"{'.'.join(identifier)} and {'.'.join(others[0])} are two names of one table: "
                f"both lie at {location}",
                hint="the other name may need what this one lets go: drop one of the names and leave the "
                "files, or set gc.enabled=false",
            )
        return tuple(".".join(one) for one in self._unknown if one != identifier)

    def _ask(self) -> None:
        from ldp_core.catalogs.tables import unreachable

        if self._listed:
            return
        listed = tables(self.catalog)
        try:
            told = told_by_rows(self.catalog)
        except Exception as error:
            raise unreachable(self.catalog.name, error) from error
        places = Places()
        for one in listed:
            try:
                self._known[one] = told.get(one) or self._where(one)
            except CatalogError as error:
                self._unknown[one] = error
                continue
            for location in self._known[one][:1]:
                self._at.setdefault(places.folder_key(location), []).append(one)
        self._listed = True

    def _where(self, identifier: tuple[str, str]) -> tuple[str, ...]:
        """The folders of a table that is loaded for it; none where it was dropped since it was listed."""
        from ldp_core.catalogs.tables import load, recorded_location

        try:
            return roots(load(self.catalog, identifier).metadata)
        except TableNotFound:
            return ()
        except LDPError as error:
            found = recorded_location(self.catalog, identifier)
            if found is None or "/metadata/" not in found:
                raise CatalogError(
                    f"nobody can tell where table {'.'.join(identifier)} is: {error.message}"
                ) from error
            return (found[: found.rindex("/metadata/")],)


def _exists(catalog: Catalog, identifier: tuple[str, str]) -> bool:
    """Whether a table is there; one that is there and cannot be read is."""
    from ldp_core.catalogs.tables import load

    try:
        load(catalog, identifier)
    except TableNotFound:
        return False
    return True


def _namespace_exists(catalog: Catalog, namespace: str) -> bool:
    return bool(catalog.namespace_exists(tuple(namespace.split("."))))


def _absent(catalog: Catalog, identifier: tuple[str, str]) -> TableNotFound:
    return TableNotFound(
        f"table {'.'.join(identifier)} does not exist in catalog {catalog.name}",
        hint=_near(catalog, identifier),
    )


def _near(catalog: Catalog, identifier: tuple[str, str]) -> str | None:
    from ldp_core.config.names import nearest

    try:
        listed = [".".join(one) for one in tables(catalog)]
    except LDPError:
        return None
    near = nearest(".".join(identifier), listed)
    return f"did you mean {near}?" if near else None
