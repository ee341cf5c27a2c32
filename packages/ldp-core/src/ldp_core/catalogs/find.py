"""Catalogs below a folder, for commands that take one."""

from __future__ import annotations

from pathlib import Path

from ldp_core.spi import Spec

_DEPTH = 3
_SUFFIX = "_catalog.db"


def catalogs_below(folder: Path) -> list[Spec]:
    """A spec for each local catalog in a folder or up to three levels below it, sorted by path.

    Hidden folders are left out. Looks at names only.
    """
    folder = folder.absolute()
    found = sorted(_files(folder, _DEPTH))
    return [
        Spec(
            {
                "type": "local",
                "identifier": path.name.removesuffix(_SUFFIX),
                "warehouse_path": str(path.parent),
            },
            folder,
            "catalog",
        )
        for path in found
    ]


def _files(folder: Path, depth: int) -> list[Path]:
    found: list[Path] = []
    try:
        children = list(folder.iterdir())
    except (PermissionError, NotADirectoryError, FileNotFoundError):
        return found
    for child in children:
        if child.name.startswith("."):
            continue
        if child.name.endswith(_SUFFIX) and child.is_file():
            found.append(child)
        elif depth and child.is_dir() and not child.is_symlink():
            found += _files(child, depth - 1)
    return found
