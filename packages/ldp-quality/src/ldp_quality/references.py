"""Another table that a check looks into, and how it is found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError

if TYPE_CHECKING:
    from ldp_core.query.handle import TableHandle
    from ldp_core.spi import Spec


@dataclass(frozen=True)
class Reference:
    """The name of another table.

    Attributes:
        config: The config that loads it.
        table: Its name, or ``namespace.name``, in the catalog of the run's own target.
        columns: The columns that are looked into.

    Raises:
        ConfigError: Neither or both of ``config`` and ``table`` are given, or one is no name.
    """

    config: str | None = None
    table: str | None = None
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given: list[Any] = [word for word in (self.config, self.table) if word is not None]
        if len(given) != 1 or not isinstance(given[0], str) or not given[0].strip():
            raise ConfigError("to must have exactly one of config and table, a name", key="to")

    @property
    def label(self) -> str:
        """The name as the user wrote it."""
        return str(self.config or self.table)

    def handle(self, base_dir: Path | None = None, catalog: Spec | None = None) -> TableHandle:
        """The table.

        Args:
            base_dir: Where a relative path of a config starts; the working folder by default.
            catalog: The catalog for a table's name.

        Raises:
            ConfigError: The config is none, or there is no catalog for a name.
        """
        from ldp_core.query.handle import TableHandle
        from ldp_core.query.refs import TableRef, find_tables

        if self.config is not None:
            return TableHandle(find_tables([Path(base_dir or Path(), self.config)])[0])
        if catalog is None:
            raise ConfigError(
                f"to.table {self.table!r} needs the catalog of a run; name a config instead", key="to"
            )
        from ldp_core.catalogs.access import namespace

        space, _, name = str(self.table).rpartition(".")
        return TableHandle(TableRef(catalog, space or namespace(catalog), name, "the quality section"))
