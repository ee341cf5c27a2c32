"""Which files may be orphans by their names: those that Iceberg writes, outside of hidden folders."""

from __future__ import annotations

import re
from collections.abc import Collection

_ICEBERG = re.compile(
    r".+\.(parquet|avro|orc|puffin|stats)$|.*\.metadata\.json(\.gz)?$|.+\.gz\.metadata\.json$|version-hint\.text$"
)
_STAGED = re.compile(r"ldp_[0-9a-f]{32}_a\d+_[0-9a-f]+")
_PARTITION = re.compile(r"_+p\d+=.*")
_OURS = re.compile(r"(^|/)(_ldp/|\.half-|\.probe-)")


def is_iceberg(name: str) -> bool:
    """Whether a file is called as Iceberg, or what writes Iceberg tables, calls files."""
    return _ICEBERG.fullmatch(name) is not None


def is_hidden(relative: str, fields: Collection[str]) -> bool:
    """Whether a part of a path begins with ``_`` or ``.``, as engines hide what is not data.

    The folders ``__p0=...`` that a load of the project makes in its own, one a partition, hide nothing.

    Args:
        relative: The path below the table's folder.
        fields: Names of partition fields: the folder ``_day=1`` is one of a field that is called so.
    """
    staged = False
    for part in relative.split("/"):
        ours = staged and _PARTITION.fullmatch(part) is not None
        staged = staged or _STAGED.fullmatch(part) is not None
        if part[:1] in ("_", ".") and not ours and not any(part.startswith(f"{name}=") for name in fields):
            return True
    return False


def is_ours(relative: str) -> bool:
    """Whether a file belongs to the project's own upkeep: staged manifests, files half written."""
    return _OURS.search(relative) is not None
