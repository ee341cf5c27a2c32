"""Table-config files of version 2: the settings of the tables of one warehouse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.config.load import Document, load_document
from ldp_core.config.validate import check
from ldp_core.errors import ConfigError, Problem
from ldp_core.fs import is_local, local_path

from ldp_maintenance.config.problems import setting_problems
from ldp_maintenance.config.shapes import TABLE_CONFIG

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


@dataclass(frozen=True)
class TableConfig:
    """A table-config file.

    Attributes:
        warehouse: The warehouse that it is for.
        defaults: The settings of tables without a section; None where it has none.
        tables: The sections by ``(namespace, table)``.
        path: The file.
        name: The file as the user named it.
    """

    warehouse: str
    defaults: Mapping[str, Any] | None = None
    tables: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    path: Path | None = None
    name: str | None = None

    @classmethod
    def from_file(cls, path: str | Path) -> TableConfig:
        """Read a JSON or YAML file.

        Raises:
            ConfigError: It cannot be read or is not right; carries every problem, with its line.
        """
        document = load_document(path)
        problems = tuple(find_problems(document))
        if problems:
            raise ConfigError.from_problems(problems)
        return cls.from_dict(document.data, document.path, document.name)

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], path: Path | None = None, name: str | None = None
    ) -> TableConfig:
        """From plain data that is right."""
        tables = {
            (space, table): settings
            for space, inner in (data.get("namespaces") or {}).items()
            for table, settings in (inner.get("tables") or {}).items()
        }
        return cls(str(data["warehouse"]), data.get("defaults"), tables, path, name)

    def section(self, identifier: tuple[str, str]) -> Mapping[str, Any] | None:
        """A table's own section, which replaces the defaults whole; None where it has none."""
        return self.tables.get(identifier)

    def assert_warehouse(self, catalog: Catalog) -> None:
        """Refuse a catalog of another warehouse than the one that the file is for.

        Raises:
            ConfigError: They differ; names both.
        """
        own = catalog.properties.get("warehouse")
        if own is None or not same_warehouse(self.warehouse, own, self.path.parent if self.path else None):
            raise ConfigError(
                f"the file is for the warehouse {self.warehouse}, and catalog {catalog.name} has "
                f"{own or 'none that it tells'}",
                file=self.name,
                key="warehouse",
                hint="name the catalog of that warehouse, or mend the file",
            )


def same_warehouse(named: str, own: str, folder: Path | None = None) -> bool:
    """Whether a warehouse that somebody named is a catalog's own: by name, by address, or as one folder.

    Args:
        named: As it was written.
        own: The catalog's.
        folder: What a relative path starts from; the working folder by default.
    """
    if named.rstrip("/") == own.rstrip("/"):
        return True
    if not (is_local(named) and is_local(own)):
        return False
    return Path(folder or Path.cwd(), local_path(named).expanduser()).resolve() == local_path(own).resolve()


def find_problems(document: Document) -> Iterator[Problem]:
    """Everything that is wrong with a file, with its lines."""
    for problem in (*check(TABLE_CONFIG, document.data), *_inside(document.data)):
        yield replace(problem, file=document.name, line=document.line_of(problem.key))


def _inside(data: Mapping[str, Any]) -> Iterator[Problem]:
    defaults = data.get("defaults")
    if isinstance(defaults, Mapping):
        yield from _keyed(setting_problems(defaults), "defaults")
    spaces = data.get("namespaces")
    for space, inner in spaces.items() if isinstance(spaces, Mapping) else ():
        tables = inner.get("tables") if isinstance(inner, Mapping) else None
        if not str(space).strip() or any(not part.strip() for part in str(space).split(".")):
            yield Problem(f"{space!r} is no namespace: a part of it is empty", key=f"namespaces.{space}")
        for table, settings in tables.items() if isinstance(tables, Mapping) else ():
            key = f"namespaces.{space}.tables.{table}"
            if "." in str(table) or not str(table).strip():
                yield Problem(
                    f"{table!r} is no table name: it has a dot"
                    if str(table).strip()
                    else "a table has no name",
                    key=key,
                    hint="write the namespace above it: namespaces.<namespace>.tables.<table>",
                )
            if isinstance(settings, Mapping):
                yield from _keyed(setting_problems(settings), key)


def _keyed(problems: list[Problem], key: str) -> Iterator[Problem]:
    for problem in problems:
        yield replace(problem, key=f"{key}.{problem.key}")
