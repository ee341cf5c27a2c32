"""Each setting, its value, and where it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from ldp_maintenance.addressing import Address, find
from ldp_maintenance.config.file import TableConfig
from ldp_maintenance.config.resolve import resolve
from ldp_maintenance.config.show import shown

Rows: TypeAlias = list[tuple[str, Any, str]]


def explained(address: Address) -> dict[str, Rows]:
    """The settings by table; a table-config file alone is explained without asking a catalog."""
    if address.word is not None and _is_table_config(address.word):
        return _of_file(TableConfig.from_file(address.word))
    from ldp_core.catalogs.tables import load

    found = find(address)
    return {
        ".".join(one): list(shown(found.target(one).policy, load(found.catalog, one).properties))
        for one in found.identifiers
    }


def _of_file(file: TableConfig) -> dict[str, Rows]:
    rows: dict[str, Rows] = {"defaults": list(shown(resolve(defaults=file.defaults)))}
    for identifier, section in file.tables.items():
        rows[".".join(identifier)] = list(shown(resolve(table=section, defaults=file.defaults)))
    return rows


def _is_table_config(word: str) -> bool:
    """Whether a file is a table-config and not the config of a pipeline."""
    from ldp_core.config.load import load_document

    return Path(word).is_file() and "metadata" not in load_document(word).data
