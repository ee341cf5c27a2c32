"""A project folder that was moved or copied: Iceberg metadata holds absolute locations."""

from __future__ import annotations

from pathlib import Path

from ldp_core.errors import CatalogError
from ldp_core.fs import is_local, local_path


def check_place(table: str, location: str, warehouse: Path) -> None:
    """Refuse a table whose files are recorded at a place that the warehouse has left.

    A table outside the warehouse is fine unless the same file is also below the present warehouse: then the
    folder was moved or copied, and reading or writing would go to the old place. A link at the old place that
    leads to the new one is fine, too.

    Args:
        table: Its name, for the message.
        location: The metadata file that the catalog names.
        warehouse: The present warehouse folder.

    Raises:
        CatalogError: The folder was moved or copied.
    """
    if not is_local(location):
        return
    recorded = local_path(location)
    if recorded.is_relative_to(warehouse):
        return
    here = _relative_twin(recorded, warehouse)
    if here is None or (recorded.exists() and recorded.samefile(here)):
        return
    depth = len(here.relative_to(warehouse).parts)
    old = recorded.parents[depth - 1]
    word = "copied" if recorded.exists() else "moved"
    raise CatalogError(
        f"{table} was written below {old} and its folder was {word} to {warehouse}: "
        "Iceberg metadata holds absolute paths, so its files are looked for at the old place",
        hint=_remedy(old, warehouse, word),
    )


def _remedy(old: Path, new: Path, word: str) -> str:
    if word == "moved":
        return f"move it back to {old}, or link the old place to the new one: ln -s '{new}' '{old}'"
    return f"use the tables at {old}, or load them again into {new} from their sources"


def _relative_twin(recorded: Path, warehouse: Path) -> Path | None:
    """The same file below the warehouse: found by the longest tail of its path that exists there."""
    parts = recorded.parts[1:]
    for start in range(len(parts) - 1):
        candidate = warehouse.joinpath(*parts[start:])
        if candidate.is_file():
            return candidate
    return None
