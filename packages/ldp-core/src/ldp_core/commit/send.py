"""Sending one commit to a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ldp_core.catalogs.tables import drop_connections, full_identifier
from ldp_core.commit._process import half_name
from ldp_core.commit.change import Base

if TYPE_CHECKING:
    from pyiceberg.table import CommitTableResponse
    from pyiceberg.table.update import TableRequirement, TableUpdate


def send(
    base: Base,
    requirements: Sequence[TableRequirement],
    updates: Sequence[TableUpdate],
    files: list[str],
) -> CommitTableResponse:
    """Send a commit; whatever the catalog raises is raised.

    Args:
        base: The table as it was loaded.
        requirements: What must hold for it to take effect.
        updates: What it does.
        files: Takes the metadata files that the client wrote for it.
    """
    from pyiceberg.table import Table

    from ldp_core._pyiceberg import metadata_files, parsed

    table = Table(
        identifier=full_identifier(base.identifier),
        metadata=base.metadata,
        metadata_location=base.metadata_location,
        io=base.io,
        catalog=base.catalog,
        config=dict(base.config),
    )
    try:
        with parsed(base.catalog, base), metadata_files(base.catalog, half_name()) as written:
            try:
                return base.catalog.commit_table(table, tuple(requirements), tuple(updates))
            finally:
                files += written
    except Exception:
        drop_connections(base.catalog)
        raise
