"""``--adopt``: what another config published under an identifier becomes this one's, for good.

The ledger changes in commits that move main alone, so an empty snapshot carries the change.
"""

from __future__ import annotations

from dataclasses import replace

from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Claim, Extra
from ldp_core.commit.intervals import merged
from ldp_core.commit.ledger import Ledger, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.lookup import absorbed
from ldp_core.commit.publish import publish
from ldp_core.commit.verify import verified
from ldp_core.tables.view import TableView


def needs_settling(claim: Claim, view: TableView) -> bool:
    """Whether the key is published by another config of the same identifier."""
    found = claim.look(view)
    if found is None or found.ledger is None or found.who is None or found.who < 0:
        return False
    return found.ledger.pipeline == claim.pipeline and found.ledger.who[found.who] != claim.who


def settle(base: Base, claim: Claim) -> Published:
    """Write this config into the ledger in place of the one that published its key.

    Args:
        base: The table.
        claim: Of the config that adopts.

    Raises:
        KeysUnknown: Nobody can tell what is published.
        CommitConflict: The races were all lost.
    """

    def guard(view: TableView, point: Point) -> Extra:
        known = verified(view, claim.pipeline)
        found = claim.look(view)
        if known is None or found is None or found.who is None:
            return Extra()
        mine = _renamed(absorbed(view, known), found.who, claim)
        return Extra(written(replace(mine, anchor=point, uuid=view.uuid)))

    summary = {"ldp.run-id": claim.run_id, "ldp.attempt": str(claim.attempt)}
    return publish(base, lambda fresh: Change("append"), summary=summary, guard=guard)


def _renamed(ledger: Ledger, number: int, claim: Claim) -> Ledger:
    """The ledger with one config in the place of another, or counted as that where it is known already."""
    if claim.who not in ledger.who:
        return replace(ledger, who=(*ledger.who[:number], claim.who, *ledger.who[number + 1 :]))
    own = ledger.who.index(claim.who)
    numbers = {number: own}
    return replace(
        ledger,
        recent=tuple(replace(item, who=numbers.get(item.who, item.who)) for item in ledger.recent),
        off=tuple(replace(item, who=numbers.get(item.who, item.who)) for item in ledger.off),
        windows=merged(replace(item, who=numbers.get(item.who, item.who)) for item in ledger.windows),
        keys=tuple(own._replace(who=numbers.get(own.who, own.who)) for own in ledger.keys),
    )
