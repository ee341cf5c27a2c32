"""The tables that a command line names: configs, folders of configs, folders with catalogs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ldp_core.errors import ConfigError, QueryError, TableNotFound
from ldp_core.spi import Spec

_SUFFIXES = {".json", ".yaml", ".yml"}


@dataclass(frozen=True)
class TableRef:
    """A table in a catalog.

    Attributes:
        catalog: The catalog's spec.
        namespace: Its namespace.
        name: Its name.
        origin: The file or folder that named it.
    """

    catalog: Spec
    namespace: str
    name: str
    origin: str

    @property
    def label(self) -> str:
        """``namespace.table``."""
        return f"{self.namespace}.{self.name}"


def find_tables(places: Sequence[str | Path], env: str | None = None) -> list[TableRef]:
    """The Iceberg tables of configs and folders, each once.

    A folder stands for the configs directly in it that load into Iceberg; a folder without any stands for the
    tables of the local catalogs in it.

    Args:
        places: Config files and folders.
        env: The environment of ``ldp.yaml``.

    Raises:
        ConfigError: A file is no config, or its target is no Iceberg table.
        QueryError: Two different catalogs have a table of the same full name.
        TableNotFound: A folder holds neither configs nor catalogs.
    """
    found: list[TableRef] = []
    for place in places:
        found += _of_folder(Path(place), env) if Path(place).is_dir() else [_of_config(str(place), env)]
    return _unique(found)


def _of_config(file: str, env: str | None) -> TableRef:
    from ldp_core.config import Config

    config = Config.from_file(file, env=env)
    config.validate("target")
    if config.target_kind() != "ICEBERG":
        raise ConfigError(
            f"the target is {config.target_kind()}, and a query reads Iceberg tables",
            file=file,
            key="metadata.target.format",
        )
    target = config.spec("target")
    return _ref(target.sub("catalog"), str(target.get("name")), file)


def _ref(catalog: Spec, name: str, origin: str) -> TableRef:
    from ldp_core.catalogs.access import namespace

    return TableRef(catalog, namespace(catalog), name, origin)


def _of_folder(folder: Path, env: str | None) -> list[TableRef]:
    files = sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file())
    found = [_of_config(str(path), env) for path in files if _loads_iceberg(path, env)]
    return found or _of_catalogs(folder)


def _loads_iceberg(path: Path, env: str | None) -> bool:
    """Whether a file of a folder is a config with an Iceberg target; any other file is left out."""
    from ldp_core.config import Config

    if path.name.startswith(".") or path.name.endswith(".metadata.json"):
        return False
    try:
        config = Config.from_file(path, env=env)
    except ConfigError:
        return False
    return str(config.target.get("format", "")).upper() == "ICEBERG" and bool(config.source)


def _of_catalogs(folder: Path) -> list[TableRef]:
    from ldp_core.catalogs.access import peek
    from ldp_core.catalogs.find import catalogs_below

    found = []
    for catalog in catalogs_below(folder):
        peeked = peek(catalog)
        if peeked is not None:
            found += [TableRef(catalog, space, name, str(folder)) for space, name in peeked.tables()]
    if not found:
        raise TableNotFound(
            f"{folder} holds no config that loads into Iceberg and no catalog with tables",
            hint="name a config, or a folder of configs",
        )
    return found


def _unique(found: Iterable[TableRef]) -> list[TableRef]:
    kept: dict[str, TableRef] = {}
    for ref in found:
        other = kept.setdefault(ref.label.casefold(), ref)
        if other is ref or _home(other) == _home(ref):
            continue
        raise QueryError(
            f"{other.origin} and {ref.origin} both have a table {ref.label}, in different catalogs",
            hint="query them one at a time",
        )
    return list(kept.values())


def _home(ref: TableRef) -> tuple[object, ...]:
    values = dict(ref.catalog.values)
    for key in ("warehouse_path", "warehouse"):
        if isinstance(values.get(key), str):
            values[key] = str(Path(ref.catalog.path(values[key])).resolve())
    return ref.label, sorted(values.items(), key=lambda item: item[0])
