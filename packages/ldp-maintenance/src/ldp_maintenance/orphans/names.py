"""Which files may be orphans by their names: those that Iceberg writes, outside of hidden folders."""

from __future__ import annotations

import re
from collections.abc import Collection

_ICEBERG = re.compile(
    r".+\.(parquet|avro|orc|puffin|stats)$|.*\.metadata\.json(\.gz)?$|.+\.gz\.metadata\.json$|version-hint\.text$"
)
_OURS = re.compile(r"(^|/)(_ldp/|\.half-|\.probe-)")


def is_iceberg(name: str) -> bool:
    """Whether a file is called as Iceberg, or what writes Iceberg tables, calls files."""
    return _ICEBERG.fullmatch(name) is not None


def is_hidden(relative: str, fields: Collection[str]) -> bool:
    """Whether a part of a path begins with ``_`` or ``.``, as engines hide what is not data.

    Args:
        relative: The path below the table's folder.
        fields: Names of partition fields: the folder ``_day=1`` is one of a field that is called so.
    """
    for part in relative.split("/"):
        if part[:1] in ("_", ".") and not any(part.startswith(f"{name}=") for name in fields):
            return True
    return False


def is_ours(relative: str) -> bool:
    """Whether a file belongs to the project's own upkeep: staged manifests, files half written."""
    return _OURS.search(relative) is not None
