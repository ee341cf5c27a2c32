"""Laws of the order of tasks."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from ldp_orchestration.graph import ancestors, cycles, order, unconnected

NAMES = [f"t{number}" for number in range(8)]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Any graph over some tasks."""
    names = draw(st.permutations(NAMES[: draw(st.integers(1, 8))]))
    return {name: draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) for name in names}


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, list[str]]:
    """A graph without a cycle, its tasks in any order."""
    names = draw(st.permutations(NAMES[: draw(st.integers(1, 8))]))
    needs = {
        name: draw(st.lists(st.sampled_from(names[:at]), max_size=3, unique=True)) if at else []
        for at, name in enumerate(names)
    }
    return {name: needs[name] for name in draw(st.permutations(names))}


@given(graphs())
def test_every_dependency_in_a_cycle_is_in_one_that_is_found(depends_on: dict[str, list[str]]) -> None:
    found = cycles(depends_on)
    told = {pair for one in found for pair in pairwise(one)}
    assert all(one[0] == one[-1] and len(set(one)) == len(one) - 1 for one in found)
    assert len({frozenset(pairwise(one)) for one in found}) == len(found)
    assert told == {
        (name, need)
        for name, needs in depends_on.items()
        for need in needs
        if need == name or name in ancestors(depends_on, need)
    }
    try:
        TopologicalSorter(depends_on).prepare()
    except CycleError:
        assert found
    else:
        assert not found


@given(acyclic())
def test_the_order_keeps_dependencies_and_else_the_order_of_the_file(
    depends_on: dict[str, list[str]],
) -> None:
    found = order(depends_on)
    assert sorted(found) == sorted(depends_on)
    listed = list(depends_on)
    for at, name in enumerate(found):
        assert set(depends_on[name]) <= set(found[:at])
        ready = [one for one in listed if one not in found[:at] and set(depends_on[one]) <= set(found[:at])]
        assert name == ready[0]


@given(acyclic())
def test_two_tasks_are_ordered_or_not(depends_on: dict[str, list[str]]) -> None:
    free = {frozenset(pair) for pair in unconnected(depends_on)}
    for first in depends_on:
        for second in depends_on:
            if first != second:
                tied = first in ancestors(depends_on, second) or second in ancestors(depends_on, first)
                assert tied != (frozenset((first, second)) in free)
