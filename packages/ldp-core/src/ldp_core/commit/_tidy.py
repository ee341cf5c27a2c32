"""Cleaning up metadata files after a commit; a failure here never fails the publish."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ldp_core.commit._store import Store
from ldp_core.commit.change import Base
from ldp_core.fs import is_local

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

logger = logging.getLogger(__name__)


def delete_quietly(io: FileIO, paths: Iterable[str]) -> int:
    """Delete files; those that cannot be deleted are left. Returns how many were left."""
    left = 0
    store = Store(dict(io.properties))
    for path in paths:
        try:
            if is_local(path):
                io.delete(path)
            else:
                store.delete(path)
        except FileNotFoundError:
            continue
        except Exception as error:
            logger.warning("left behind %s: %s", path, error)
            left += 1
    return left


def trims(metadata: TableMetadata) -> bool:
    """Whether a table wants metadata files deleted that fell out of its log."""
    return metadata.properties.get("write.metadata.delete-after-commit.enabled", "false").lower() == "true"


def trim_metadata(base: Base, after: TableMetadata, current: str) -> int:
    """Delete metadata files that commits since ``base`` pushed out of the log, where the table wants that.

    ``commit_table`` trims the log (``write.metadata.previous-versions-max``) and leaves the files.

    Returns:
        How many could not be deleted.
    """
    if not trims(after) or not base.exists:
        return 0
    before = {entry.metadata_file for entry in base.metadata.metadata_log} | {base.metadata_location}
    kept = {entry.metadata_file for entry in after.metadata_log} | {current}
    return delete_quietly(base.io, sorted(before - kept - {""}))
