"""Keys that only summaries tell of, taken into a ledger: those of earlier systems, and of picked copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ldp_core.commit.ledger import Ledger, Publish
from ldp_core.commit.summaries import Told
from ldp_core.window.model import Window

UNKNOWN = -1
"""The owner of a key that only a summary told of."""


def owner(ledger: Ledger, key: str, window: Window | None) -> int | None:
    """Who published a key, as the ledger numbers configs; None when it does not hold the key."""
    single = ledger.single(key)
    return single.who if single else ledger.folded_owner(key, window)


def with_told(ledger: Ledger, told: Iterable[Told], others: Sequence[Ledger] = ()) -> Ledger:
    """The ledger with keys that main shows and that it does not hold; its singles by the order of main.

    Args:
        ledger: The keys of a pipeline.
        told: What summaries tell; all of it on main.
        others: Ledgers of other pipelines; what they hold stays there.
    """
    found: dict[str, Publish] = {}
    for item in told:
        window = item.window if item.window and ledger.key_of(item.window) == item.key else None
        elsewhere = any(owner(other, item.key, item.window) is not None for other in others)
        if not elsewhere and owner(ledger, item.key, window) is None:
            found[item.key] = Publish(item.key, window, (item.point,), UNKNOWN, at=item.at)
    if not found:
        return ledger
    off = tuple(item for item in ledger.off if item.key not in found)
    return replace(ledger, recent=in_order((*ledger.recent, *found.values())), off=off)


def in_order(publishes: tuple[Publish, ...]) -> tuple[Publish, ...]:
    """By the order in which main took them."""
    return tuple(sorted(publishes, key=lambda item: item.points[-1].sequence))
