"""``ldp keys compact``: a smaller ledger, of the keys that have to be remembered."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Extra
from ldp_core.commit.intervals import merged
from ldp_core.commit.ledger import Ledger, OwnKey, few_enough, folded, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.lookup import absorbed
from ldp_core.commit.owner import Owner
from ldp_core.commit.summaries import REWRITTEN, told
from ldp_core.commit.verify import verified
from ldp_core.errors import LDPError

if TYPE_CHECKING:
    from ldp_core.tables.view import TableView


@dataclass(frozen=True)
class Compacted:
    """A ledger made smaller.

    Attributes:
        before: As it was, brought up to what main shows.
        ledger: As it is to be.
        forgotten: Keys that may be published again from now on.
        told: Older keys that stay, because a snapshot of the table still carries them.
        undated: Keys that stay, because nobody knows when they were published.
        held: Older keys that stay, because rows that were put aside rest on them.
    """

    before: Ledger
    ledger: Ledger
    forgotten: tuple[OwnKey, ...] = ()
    told: tuple[OwnKey, ...] = ()
    undated: tuple[OwnKey, ...] = ()
    held: tuple[OwnKey, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.ledger != self.before


def compacted(
    view: TableView, who: Owner, before: int | None = None, held: Collection[str] = ()
) -> Compacted:
    """Fold what stands singly, merge intervals, and forget old keys that no window gives.

    Args:
        view: The table.
        who: The pipeline.
        before: Milliseconds since 1970; keys published before are forgotten. None forgets none.
        held: Keys that are not forgotten, however old.

    Raises:
        KeysUnknown: Nobody can tell what main shows.
        LDPError: The pipeline has no keys in the table.
    """
    ledger = verified(view, who.pipeline)
    if ledger is None:
        raise LDPError(f"{who.pipeline} has no keys in {who.target}", hint="ldp keys show CONFIG")
    ledger = absorbed(view, ledger)
    small = folded(ledger, 0)
    carried = {found.key for snap in view.snapshots.values() if (found := told(view, snap))}
    old = [item for item in small.keys if before is not None and 0 < item.at < before]
    kept = tuple(item for item in old if item.key in carried)
    rest = tuple(item for item in old if item.key not in carried and item.key in held)
    forgotten = tuple(item for item in old if item.key not in carried and item.key not in held)
    undated = tuple(item for item in small.keys if before is not None and item.at == 0)
    keys = tuple(item for item in small.keys if item not in forgotten)
    after = replace(small, windows=merged(small.windows), keys=keys)
    return Compacted(ledger, after, forgotten, kept, undated, rest)


def commit_compacted(base: Base, who: Owner, before: int | None, held: Collection[str] = ()) -> Published:
    """Write the smaller ledger, in a commit of an empty snapshot that moves main.

    Args:
        base: The table.
        who: The pipeline.
        before: As for ``compacted``.
        held: As for ``compacted``.

    Raises:
        LDPError: Nobody can tell what main shows, there are still too many keys, or the commit failed.
    """
    from ldp_core.commit.publish import publish

    def guard(view: TableView, point: Point) -> Extra:
        made = few_enough(compacted(view, who, before, held).ledger)
        return Extra(written(replace(made, anchor=point)))

    change = Change("replace", summary={REWRITTEN: f"compact {who.pipeline}"})
    return publish(base, lambda fresh: change, guard=guard)
