"""The sums that every publish proves before it commits: no row is lost, none is written twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ldp_core.errors import LDPError

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

PARTS = ("written", "unchanged", "quarantined", "deduplicated")
"""What becomes of the rows after the transforms."""


class Unreconciled(LDPError):
    """The counts of a load do not add up."""

    code = "unreconciled"


def prove(summary: Mapping[str, str], table: str) -> None:
    """Make sure that every row of the batch is accounted for.

    Args:
        summary: What the snapshot would say; a load that counts nothing has no ``ldp.rows-in``.
        table: For the message.

    Raises:
        Unreconciled: The rows after the transforms are not those written, unchanged, set aside and dropped.
    """
    if "ldp.rows-in" not in summary:
        return
    rows = int(summary["ldp.rows-in"])
    parts = {name: int(summary.get(f"ldp.rows-{name}", 0)) for name in PARTS}
    if rows != sum(parts.values()):
        told = " + ".join(f"{count} {name}" for name, count in parts.items())
        raise Unreconciled(
            f"the load into {table} does not add up, nothing was published: {rows} rows went in, "
            f"{told} came out"
        )


def prove_rewrite(files: Iterable[DataFile], kept: int, fresh: int, table: str) -> None:
    """Make sure that files written again hold the rows that stay and the new ones.

    Raises:
        Unreconciled: They hold another number of rows.
    """
    rows = sum(file.record_count for file in files)
    if rows != kept + fresh:
        raise Unreconciled(
            f"the load into {table} does not add up, nothing was published: the files written hold "
            f"{rows} rows, not {kept} that stay and {fresh} new ones"
        )
