"""Retention against a naive reading of the specification."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from ldp_maintenance.retention import Keyed, Limits, Node, Ref, Retained, retain

NOW = 100


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[Node], list[Ref]]:
    count = draw(st.integers(1, 12))
    nodes = []
    at = 0
    for number in range(1, count + 1):
        at += draw(st.integers(0, 12))
        parent = draw(st.one_of(st.none(), st.integers(1, number - 1))) if number > 1 else None
        nodes.append(Node(number, parent, at))
    ids = st.integers(1, count)
    amount = st.one_of(st.none(), st.integers(1, 60))
    refs = [Ref("main", draw(ids), True, draw(st.one_of(st.none(), st.integers(1, 4))), draw(amount))]
    names = ["dev", "tag", "ldp_ds_a_v1", "ldp_r" + "a" * 32 + "_a1_1"]
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        branch = name in ("dev", names[-1])
        least = draw(st.one_of(st.none(), st.integers(1, 4))) if branch else None
        refs.append(Ref(name, draw(ids), branch, least, draw(amount) if branch else None, draw(amount)))
    return nodes, refs


def _naive(nodes: list[Node], refs: list[Ref], limits: Limits) -> tuple[set[int], set[str]]:
    by_id = {node.id: node for node in nodes}

    def ancestors(snapshot: int | None) -> list[Node]:
        return [] if snapshot is None else [by_id[snapshot], *ancestors(by_id[snapshot].parent)]

    kept: set[int] = set()
    reachable: set[int] = set()
    gone: set[str] = set()
    for ref in refs:
        own = ref.name.startswith("ldp_")
        oldest = ref.max_ref_age_ms or (None if own else limits.max_ref_age_ms)
        if ref.name != "main" and oldest is not None and NOW - by_id[ref.snapshot].at > oldest:
            gone.add(ref.name)
            continue
        kept.add(ref.snapshot)
        line = ancestors(ref.snapshot)
        reachable |= {node.id for node in (line if ref.branch else line[:1])}
        if ref.branch:
            kept |= {node.id for node in line[: ref.min_snapshots or limits.min_snapshots]}
            kept |= {node.id for node in line if NOW - node.at <= (ref.max_age_ms or limits.max_age_ms)}
        if ref.name == "main":
            kept |= {node.id for node in line[: limits.keep_last or 0]}
    kept |= {node.id for node in nodes if node.id not in reachable and NOW - node.at <= limits.max_age_ms}
    return kept, gone


_LIMITS = st.builds(
    Limits,
    st.just(NOW),
    st.integers(0, 100),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 100)),
    st.one_of(st.none(), st.integers(0, 4)),
)


@given(_tables(), _LIMITS)
def test_maint_retention_is_what_the_specification_says(
    table: tuple[list[Node], list[Ref]], limits: Limits
) -> None:
    nodes, refs = table
    found = retain(nodes, refs, limits)
    kept, gone = _naive(nodes, refs, limits)
    assert set(found.reasons) == kept
    assert set(found.dropped) == gone
    assert set(found.expired) == {node.id for node in nodes} - kept
    assert all(found.reasons.values())


def test_maint_retention_a_tag_takes_no_age_from_what_was_rolled_back_before_it() -> None:
    nodes = [Node(1, None, 80), Node(2, 1, 90), Node(3, 2, 95)]
    refs = [Ref("main", 1), Ref("release", 3, False)]
    assert retain(nodes, refs, Limits(NOW, 15)).reasons[2] == ("unreferenced_young",)
    assert retain(nodes, refs, Limits(NOW, 8)).expired == (2,)


def test_maint_retention_what_no_ref_can_say_is_not_said() -> None:
    nodes = [Node(1, None, 80), Node(2, 1, 90), Node(3, 2, 95)]
    for bad in (-1, 0):
        refs = [Ref("main", 3, True, bad, bad), Ref("tag", 1, False, None, None, bad)]
        found = retain(nodes, refs, Limits(NOW, 15, 3))
        assert (found.expired, found.dropped) == ((), ())


@given(_tables(), _LIMITS, st.data())
def test_maint_retention_keys_add_to_what_stays(
    table: tuple[list[Node], list[Ref]], limits: Limits, data: st.DataObject
) -> None:
    nodes, refs = table
    ids = st.sampled_from([node.id for node in nodes])
    carries = frozenset(data.draw(st.sets(ids)))
    needed = frozenset(data.draw(st.sets(st.sampled_from(sorted(carries))))) if carries else frozenset()
    plain, keyed = retain(nodes, refs, limits), retain(nodes, refs, limits, Keyed(carries, needed))
    assert set(plain.reasons) | needed <= set(keyed.reasons)
    assert _chain_holds(nodes, refs, keyed, needed)
    assert {item for item, why in keyed.reasons.items() if "idempotency_key" in why} == carries & set(
        keyed.reasons
    )


def _chain_holds(nodes: list[Node], refs: list[Ref], found: Retained, needed: frozenset[int]) -> bool:
    """Whether main's line leads to each needed snapshot on it through snapshots that stay."""
    by_id = {node.id: node for node in nodes}
    line = []
    at: int | None = refs[0].snapshot
    while at is not None:
        line.append(at)
        at = by_id[at].parent
    wanted = [place for place, snapshot in enumerate(line) if snapshot in needed]
    return all(snapshot in found.reasons for snapshot in line[: max(wanted, default=-1) + 1])
