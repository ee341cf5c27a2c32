"""Which members of two lists are the same thing, whatever their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Absent(Enum):
    """The type of ``ABSENT``."""

    ABSENT = "absent"

    def __bool__(self) -> bool:
        return False


ABSENT = Absent.ABSENT
"""Nothing stands there; None is a value."""


def freeze(value: Any) -> Hashable:
    """A value as something that equals another exactly when both say the same.

    The order of keys is no part of it, that of lists is; 1 and 1.0 are one number, 1 and true are not.
    """
    if isinstance(value, Mapping):
        return ("object", frozenset((str(key), freeze(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("list", tuple(freeze(item) for item in value))
    if isinstance(value, bool) or value is None or value is ABSENT:
        return ("word", repr(value))
    if isinstance(value, float) and math.isnan(value):
        return ("word", "nan")
    return ("number", value) if isinstance(value, int | float) else (type(value).__name__, str(value))


def same(old: Any, new: Any) -> bool:
    """Whether two values say the same."""
    return freeze(old) == freeze(new)


@dataclass(frozen=True)
class By:
    """One way to know a member again.

    Attributes:
        key: What must be equal; None where a member has no such thing.
        alone: Only where exactly one member on each side is left with that key, so that nothing is guessed.
    """

    key: Callable[[Any], Hashable | None]
    alone: bool = False


CONTENT = By(freeze)


def by(*names: str, alone: bool = False) -> By:
    """Members are the same whose values of these keys are; the first of them must be there."""

    def key(member: Any) -> Hashable | None:
        if not isinstance(member, Mapping) or member.get(names[0]) is None:
            return None
        return tuple(freeze(member.get(name, ABSENT)) for name in names)

    return By(key, alone)


@dataclass(frozen=True)
class Pair:
    """A member as it was and as it is; ``ABSENT`` and no place for one that has no partner."""

    old: Any
    new: Any
    old_place: int | None
    new_place: int | None


def pairs(old: Sequence[Any], new: Sequence[Any], ways: Iterable[By]) -> list[Pair]:
    """The members of two lists, each with its partner, in the order of the old list, then of the new.

    Args:
        old: The list before.
        new: The list after.
        ways: How members are known again, the surest first, by all they say the last; several with one key
            pair in their order.
    """
    left, right = dict(enumerate(old)), dict(enumerate(new))
    found: list[Pair] = []
    for way in (*ways, CONTENT):
        befores, afters = _places(left, way), _places(right, way)
        for key, before in befores.items():
            after = afters.get(key, [])
            if way.alone and not len(before) == len(after) == 1:
                continue
            for i, j in zip(before, after, strict=False):
                found.append(Pair(left.pop(i), right.pop(j), i, j))
    found += [Pair(member, ABSENT, i, None) for i, member in left.items()]
    found.sort(key=lambda pair: pair.old_place or 0)
    return found + [Pair(ABSENT, member, None, j) for j, member in right.items()]


def _places(members: Mapping[int, Any], way: By) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for place, member in members.items():
        key = way.key(member)
        if key is not None:
            places.setdefault(key, []).append(place)
    return places


def kept(found: Sequence[Pair]) -> Iterator[Pair]:
    """Those that stand in both lists."""
    return (pair for pair in found if pair.old_place is not None and pair.new_place is not None)


def moved(found: Sequence[Pair]) -> bool:
    """Whether those that stand in both lists stand there in another order."""
    places = [pair.new_place or 0 for pair in kept(found)]
    return places != sorted(places)
