"""Which table comes first where there is a budget: the one that most is won on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldp_core.errors import LDPError

from ldp_maintenance.policy import TARGET_FILE_SIZE

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

    from ldp_maintenance.addressing import Addressed


def best_first(found: Addressed) -> list[tuple[str, str]]:
    """The tables, those with the most files too many first.

    Told by the summary of the newest snapshot, so that no manifest is read. A table that was looked after has
    few files too many: the next run begins with others.
    """
    return sorted(found.identifiers, key=lambda one: (-_won(found, one), one))


def _won(found: Addressed, identifier: tuple[str, str]) -> float:
    from ldp_core.catalogs.tables import load

    try:
        return files_too_many(load(found.catalog, identifier).metadata)
    except LDPError:
        return float("inf")  # it says what is wrong with it at once, and costs nothing


def files_too_many(metadata: TableMetadata) -> int:
    """Data files and delete files beyond those that the rows need in files of the target size."""
    snapshot = metadata.current_snapshot()
    summary = snapshot.summary if snapshot is not None else None
    if summary is None:
        return 0
    files, deletes, size = (
        _number(summary.get(name)) for name in ("total-data-files", "total-delete-files", "total-files-size")
    )
    target = _number(metadata.properties.get("write.target-file-size-bytes")) or TARGET_FILE_SIZE
    return max(files + deletes - -(-size // target), 0)


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0
