"""The order of tasks: pure functions of who depends on whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

Dependencies = Mapping[str, Sequence[str]]
"""For each task, in the order of the file, the tasks that must come before it."""


def cycle(depends_on: Dependencies) -> list[str] | None:
    """A cycle by its names, the first one again at its end: ``[a, b, a]`` where a needs b; else None."""
    try:
        TopologicalSorter({name: sorted(before) for name, before in depends_on.items()}).prepare()
    except CycleError as error:
        found: list[str] = error.args[1][:-1]
        found.reverse()  # graphlib tells who comes before whom, people say who needs whom
        first = min(range(len(found)), key=lambda at: list(depends_on).index(found[at]))
        turned = found[first:] + found[:first]
        return [*turned, turned[0]]
    return None


def order(depends_on: Dependencies) -> list[str]:
    """The tasks as they run one at a time: what nothing orders runs in the order of the file."""
    done: dict[str, None] = {}
    waiting = dict.fromkeys(depends_on)
    while waiting:
        first = next(name for name in waiting if all(before in done for before in depends_on[name]))
        del waiting[first]
        done[first] = None
    return list(done)


def ancestors(depends_on: Dependencies, name: str) -> set[str]:
    """Every task that must come before one, at whatever distance."""
    found: set[str] = set()
    waiting = [*depends_on[name]]
    while waiting:
        before = waiting.pop()
        if before not in found:
            found.add(before)
            waiting += depends_on[before]
    return found


def unconnected(depends_on: Dependencies) -> Iterator[tuple[str, str]]:
    """Pairs of tasks that nothing orders, each in the order in which they run one at a time."""
    before = {name: ancestors(depends_on, name) for name in depends_on}
    ordered = order(depends_on)
    for at, first in enumerate(ordered):
        for second in ordered[at + 1 :]:
            if first not in before[second]:
                yield first, second
