"""Commits of this package: ``replace`` snapshots that stand every ledger of keys on themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ldp_core.commit.anchor import anchored
from ldp_core.commit.publish import publish
from ldp_core.commit.retry import APPEND

if TYPE_CHECKING:
    from ldp_core.commit.change import Base, Change, Published
    from ldp_core.commit.stage import Stage

MADE_BY = "ldp.maintenance"
"""The key of a snapshot summary that names the operation."""


def replaced(
    base: Base, build: Callable[[Base], Change], *, stage: Stage | None = None, branch: str | None = None
) -> Published:
    """Commit a change that leaves the rows as they are, beside live writers.

    Args:
        base: The table as the change was worked out.
        build: Gives the change for a head: asked again, with the new head, after every lost race. It raises
            ``CommitConflict`` where what it needs is gone.
        stage: Where the added files stand.
        branch: The branch that moves; the ledgers are of main only.

    Raises:
        CommitConflict: Lost for good; nothing is left of it.
        CommitUnknown: Nobody can say whether it took effect.
        CatalogError: The catalog refused it.
    """
    guard = anchored if branch in (None, "main") else None
    return publish(base, build, policy=APPEND, stage=stage, guard=guard)


def said(operation: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the summary of such a snapshot says of itself."""
    return {MADE_BY: operation, **(more or {})}
