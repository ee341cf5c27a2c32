"""The order of tasks: pure functions of who depends on whom."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

Dependencies = Mapping[str, Sequence[str]]
"""For each task, in the order of the file, the tasks that must come before it."""


def cycles(depends_on: Dependencies) -> list[list[str]]:
    """Cycles by their names, the first one again at its end: ``[a, b, a]`` where a needs b.

    Every dependency that is part of a cycle is part of one of them, the shortest one through it.
    """
    place = {name: at for at, name in enumerate(depends_on)}
    found: dict[tuple[str, ...], None] = {}
    for name, needs in depends_on.items():
        for need in needs:
            path = _path(depends_on, need, name)
            if path is not None:
                first = min(range(len(path)), key=lambda at: place[path[at]])
                found[(*path[first:], *path[:first], path[first])] = None
    return [list(one) for one in found]


def _path(depends_on: Dependencies, start: str, end: str) -> list[str] | None:
    """The shortest way from a task to one that it needs, by what each needs; None where there is none."""
    came: dict[str, str | None] = {start: None}
    waiting = deque(came)
    while waiting and end not in came:
        at = waiting.popleft()
        for need in depends_on[at]:
            if need not in came:
                came[need] = at
                waiting.append(need)
    if end not in came:
        return None
    path, back = [end], came[end]
    while back is not None:
        path.append(back)
        back = came[back]
    return path[::-1]


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
