"""What a source or a target is, so that two tasks can be seen to be about the same table or file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ldp_core.catalogs.access import namespace, place
from ldp_core.fs import is_local, local_path
from ldp_core.spi import Spec, TableName

FILE = ""
"""The place of a ``TableName`` that is a file or a folder: its name is the path."""


def table_name(catalog: Spec, name: str, space: str | None = None) -> TableName:
    """A table of a catalog.

    Args:
        catalog: The spec of the catalog.
        name: The table.
        space: Its namespace; that of the catalog's spec by default.
    """
    found = place(catalog)
    where = found if not found or "://" in found else str(Path(found).resolve())
    return TableName(where, f"{space or namespace(catalog)}.{name}")


def file_name(path: str) -> TableName:
    """A file of this machine."""
    return TableName(FILE, str(Path(local_path(path)).resolve()))


def names(spec: Spec) -> Iterator[TableName]:
    """The table, or the files of this machine, that ``metadata.source`` or ``metadata.target`` means."""
    if isinstance(spec.get("catalog"), Mapping):
        yield table_name(spec.sub("catalog"), str(spec.get("name")))
        return
    path = spec.get("path")
    for one in path if isinstance(path, list | tuple) else [path]:
        if isinstance(one, str) and is_local(one):
            yield file_name(spec.path(one))
