"""Which snapshots and refs stay: the retention policy of the Iceberg table specification, and our own rules.

Pure: it knows ids, parents and times, and reads nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MAIN = "main"
_OWN = re.compile(r"ldp_ds_.*|ldp_r[0-9a-f]{32}_a\d+_(fenced|\d+)")
_FENCE = re.compile(r"ldp_r[0-9a-f]{32}_a\d+_fenced")
ALWAYS = ("current", "refs", "branch_min_snapshots", "retain_last", "idempotency_key", "key_ancestry")
"""Reasons that are told even when no snapshot has them."""


@dataclass(frozen=True)
class Node:
    """A snapshot: its id, its parent, and when it was committed, in milliseconds since 1970."""

    id: int
    parent: int | None
    at: int


@dataclass(frozen=True)
class Ref:
    """A branch or tag.

    Attributes:
        name: Its name.
        snapshot: Where it points.
        branch: Whether it is a branch.
        min_snapshots: Its own ``min-snapshots-to-keep``.
        max_age_ms: Its own ``max-snapshot-age-ms``.
        max_ref_age_ms: Its own ``max-ref-age-ms``.
    """

    name: str
    snapshot: int
    branch: bool = True
    min_snapshots: int | None = None
    max_age_ms: int | None = None
    max_ref_age_ms: int | None = None


@dataclass(frozen=True)
class Limits:
    """What holds where a ref says nothing itself.

    Attributes:
        now: Milliseconds since 1970.
        max_age_ms: Older snapshots go.
        min_snapshots: So many of each branch stay.
        max_ref_age_ms: Older refs go; None drops none.
        keep_last: The newest so many of main stay.
    """

    now: int
    max_age_ms: int
    min_snapshots: int = 1
    max_ref_age_ms: int | None = None
    keep_last: int | None = None


@dataclass(frozen=True)
class Keyed:
    """What snapshots mean for idempotency keys.

    Attributes:
        carries: Snapshots whose summaries carry a key.
        needed: Those of them that alone tell their key: they stay, and so does main's line down to them.
    """

    carries: frozenset[int] = frozenset()
    needed: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Retained:
    """What stays and what goes.

    Attributes:
        reasons: Why each snapshot stays that does, in the order of the metadata.
        expired: Snapshots that go, in that order.
        dropped: Refs that go.
    """

    reasons: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    expired: tuple[int, ...] = ()
    dropped: tuple[str, ...] = ()

    def by_reason(self) -> dict[str, list[str]]:
        """The ids that stay for each reason, as text."""
        found: dict[str, list[str]] = {name: [] for name in ALWAYS}
        for snapshot, reasons in self.reasons.items():
            for reason in reasons:
                found.setdefault(reason, []).append(str(snapshot))
        return found


def retain(nodes: Iterable[Node], refs: Iterable[Ref], limits: Limits, keyed: Keyed = Keyed()) -> Retained:
    """Decide which snapshots stay.

    Args:
        nodes: The snapshots of the table.
        refs: Its branches and tags.
        limits: Ages and counts.
        keyed: Snapshots that carry idempotency keys.
    """
    known = {node.id: node for node in nodes}
    refs = list(refs)
    main = next((ref for ref in refs if ref.name == MAIN), None)
    line = _line(known, main.snapshot if main else None)
    dropped = tuple(ref.name for ref in refs if _is_over(ref, known, line, limits))
    kept = [ref for ref in refs if ref.name not in dropped]
    why: dict[int, set[str]] = {}

    def stays(snapshot: int, reason: str) -> None:
        if snapshot in known:
            why.setdefault(snapshot, set()).add(reason)

    referenced: set[int] = set()
    for ref in kept:
        stays(ref.snapshot, "refs")
        if not ref.branch:
            # A tag holds its snapshot alone: what led to it was rolled back, if no branch leads to it.
            referenced.add(ref.snapshot)
            continue
        cutoff = limits.now - _said(ref.max_age_ms, limits.max_age_ms)
        for place, node in enumerate(_line(known, ref.snapshot)):
            referenced.add(node.id)
            if node.at >= cutoff:
                stays(node.id, "age")
            if 0 < place < _said(ref.min_snapshots, limits.min_snapshots):
                stays(node.id, "branch_min_snapshots")
    for snapshot, node in known.items():
        if snapshot not in referenced and node.at >= limits.now - limits.max_age_ms:
            stays(snapshot, "unreferenced_young")
    if main is not None:
        stays(main.snapshot, "current")
    for node in line[: limits.keep_last or 0]:
        stays(node.id, "retain_last")
    for snapshot in keyed.needed:
        stays(snapshot, "idempotency_key")
    for snapshot in _down_to(line, keyed.needed):
        stays(snapshot, "key_ancestry")
    for snapshot in set(why) & keyed.carries:
        stays(snapshot, "idempotency_key")
    for snapshot in _down_to(line, set(why) & keyed.carries):
        if snapshot in why:
            stays(snapshot, "key_ancestry")
    return Retained(
        {snapshot: tuple(sorted(why[snapshot])) for snapshot in known if snapshot in why},
        tuple(snapshot for snapshot in known if snapshot not in why),
        dropped,
    )


def _said(own: int | None, otherwise: int) -> int:
    """What a ref says itself; what is not above 0 is not fit, and says nothing."""
    return own if own is not None and own > 0 else otherwise


def _line(known: Mapping[int, Node], head: int | None) -> list[Node]:
    """A snapshot and its ancestors, newest first, as far as they are known."""
    found: dict[int, Node] = {}
    while head is not None and head in known and head not in found:
        found[head] = known[head]
        head = known[head].parent
    return list(found.values())


def _down_to(line: list[Node], wanted: Iterable[int]) -> list[int]:
    """The line from its head down to the deepest of some snapshots."""
    ids = [node.id for node in line]
    there = set(wanted)
    deepest = max((place for place, snapshot in enumerate(ids) if snapshot in there), default=-1)
    return ids[: deepest + 1]


def _is_over(ref: Ref, known: Mapping[int, Node], line: list[Node], limits: Limits) -> bool:
    """Whether a ref is older than it may become. Our pins, fences and branches obey their own age only."""
    if ref.name == MAIN or ref.snapshot not in known:
        return False
    limit = None if _OWN.fullmatch(ref.name) else limits.max_ref_age_ms
    if ref.max_ref_age_ms is not None and ref.max_ref_age_ms > 0:
        limit = ref.max_ref_age_ms
    if limit is None:
        return False
    at: int | None = known[ref.snapshot].at
    if _FENCE.fullmatch(ref.name):
        # A fence goes up on a head that may be old already; it is there at least since the next snapshot.
        at = min((node.at for node in line if node.at > known[ref.snapshot].at), default=None)
    return at is not None and limits.now - at > limit
