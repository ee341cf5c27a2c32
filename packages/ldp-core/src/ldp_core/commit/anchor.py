"""The ledgers of a table, stood on a newer snapshot: what upkeep does in its own commits.

A key is known as long as the anchor of its ledger can be seen to be part of main. Upkeep rewrites manifests
and expires snapshots, and with them what an old anchor is seen by; so each of its commits is the new anchor.
"""

from __future__ import annotations

from dataclasses import replace

from ldp_core.commit.claim import Extra
from ldp_core.commit.ledger import read_all, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.lookup import absorbed
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.tables.view import TableView


def anchored(view: TableView, point: Point) -> Extra:
    """Every ledger of a table with all that main shows taken in, anchored at the snapshot of a commit.

    A guard of ``publish``. A ledger of which nobody can tell what main shows stays as it is.

    Args:
        view: The table.
        point: The snapshot that the commit makes main's head.
    """
    properties: dict[str, str] = {}
    for ledger in read_all(view.properties):
        try:
            known = verified(view, ledger.pipeline)
            made = absorbed(view, known) if known is not None else None
        except KeysUnknown:
            continue
        if made is not None and made.anchor is not None:
            properties |= written(replace(made, anchor=point))
    return Extra(properties)
