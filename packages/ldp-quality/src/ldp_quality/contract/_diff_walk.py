"""A walk through two documents side by side; what nothing is known about is informational."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ldp_core._output import plain as as_json

from ldp_quality.contract._diff_change import (
    ADDED,
    BREAKING,
    CHANGED,
    INFORMATIONAL,
    LOOSENING,
    REMOVED,
    TIGHTENING,
    Change,
)
from ldp_quality.contract._diff_match import ABSENT, CONTENT, By, Pair, by, moved, pairs, same

Differ = Callable[[str, Any, Any], Iterable[Change]]
"""Tells two values apart that stand at one path; ``ABSENT`` where nothing stands."""

_NAMES = ("name", "property", "server", "channel", "username", "role", "synonym", "value", "to", "url")
_WAYS = (by("id"), *(by(name) for name in _NAMES), CONTENT)


def made(path: str, old: Any, new: Any, impact: str, message: str) -> Change:
    """A change, its kind told by what is absent."""
    kind = ADDED if old is ABSENT else REMOVED if new is ABSENT else CHANGED
    return Change(path, kind, None if old is ABSENT else old, None if new is ABSENT else new, impact, message)


def told(path: str, old: Any, new: Any, impact: str, why: str = "") -> Iterator[Change]:
    """A change told by its values, if they differ.

    Args:
        path: Where.
        old: What stood there.
        new: What stands there now.
        impact: The class.
        why: What it means, after the values.
    """
    if not same(old, new):
        yield made(path, old, new, impact, f"{_values(path, old, new)}{why and ': '}{why}.")


def nothing(path: str, old: Any, new: Any) -> Iterator[Change]:
    """What is told elsewhere."""
    yield from ()


def plain(path: str, old: Any, new: Any) -> Iterator[Change]:
    """Words, tags, owners and all else that promises nothing about the rows."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from fields(path, old, new, {})
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        yield from members(path, old, new, _WAYS, plain)
    else:
        yield from told(path, old, new, INFORMATIONAL)


def fields(
    path: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    special: Mapping[str, Differ],
    *,
    other: Differ = plain,
) -> Iterator[Change]:
    """Two objects, key by key.

    Args:
        path: Where they stand.
        old: The object before.
        new: The object after.
        special: How to tell apart what stands under some of the keys.
        other: How to tell apart the rest.
    """
    for key in [*old, *(key for key in new if key not in old)]:
        differ = special.get(key, other)
        yield from differ(f"{path}.{key}" if path else str(key), old.get(key, ABSENT), new.get(key, ABSENT))


def members(path: str, old: Any, new: Any, ways: Iterable[By], differ: Differ) -> Iterator[Change]:
    """Two lists, member by member; that they stand in another order is informational.

    Args:
        path: Where they stand; a member stands at ``path.name``, one without a name at ``path[...]``.
        old: The list before.
        new: The list after.
        ways: How a member is known again.
        differ: How to tell two members apart.
    """
    if not (_list(old) and _list(new)):
        yield from told(path, old, new, INFORMATIONAL)
        return
    found = pairs(old or [], new or [], ways)
    for pair in found:
        yield from differ(at(path, pair), pair.old, pair.new)
    yield from _emptied(path, old, new)
    yield from order(path, found)


def order(path: str, found: Sequence[Pair]) -> Iterator[Change]:
    """The change of order, where there is one."""
    if moved(found):
        before = [label(pair) for pair in found if pair.old_place is not None]
        after = sorted((pair for pair in found if pair.new_place is not None), key=lambda p: p.new_place or 0)
        yield made(path, before, [label(pair) for pair in after], INFORMATIONAL, "Stands in another order.")


def mapping(path: str, old: Any, new: Any, differ: Differ) -> Iterator[Change]:
    """Two objects of which either may be absent, which says the same as an empty one."""
    if isinstance(old or {}, Mapping) and isinstance(new or {}, Mapping):
        yield from differ(path, old or {}, new or {})
        yield from _emptied(path, old, new)
    else:
        yield from told(path, old, new, INFORMATIONAL)


def joint(
    path: str,
    keys: Iterable[str],
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    judge: Callable[[], tuple[str, str]],
) -> Iterator[Change]:
    """Keys that mean something only together: one change, at the key where only one of them differs.

    Args:
        path: Where the two objects stand.
        keys: The keys.
        old: The object before.
        new: The object after.
        judge: Gives the class of the change and what it means.
    """
    touched = [key for key in keys if not same(old.get(key, ABSENT), new.get(key, ABSENT))]
    if len(touched) == 1:
        key = touched[0]
        yield from told(f"{path}.{key}", old.get(key, ABSENT), new.get(key, ABSENT), *judge())
    elif touched:
        before = {key: old[key] for key in touched if key in old}
        after = {key: new[key] for key in touched if key in new}
        yield from told(path, before or ABSENT, after or ABSENT, *judge())


def judged(impact: str) -> tuple[str, str]:
    """A class of a change to what rows must be like, with its meaning."""
    return impact, {
        BREAKING: "what was written or read by the old contract does not fit the new one",
        TIGHTENING: "data that passed may now be refused",
        LOOSENING: "data may now come that was refused",
        INFORMATIONAL: "it means the same",
    }[impact]


def promise(path: str, old: Any, new: Any) -> Iterator[Change]:
    """Something that rows must satisfy; what cannot be compared is taken for a tightening."""
    yield from told(path, old, new, *judged(LOOSENING if new is ABSENT else TIGHTENING))


def flag(on: str, on_means: str, off: str, off_means: str) -> Differ:
    """Tells apart two values of a key that is false by default.

    Args:
        on: The class of turning it on.
        on_means: What that means.
        off: The class of turning it off.
        off_means: What that means.
    """

    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        if (old is True) == (new is True):
            yield from told(path, old, new, INFORMATIONAL, "it is false by default")
        else:
            yield from told(path, old, new, *((on, on_means) if new is True else (off, off_means)))

    return differ


def label(pair: Pair) -> str:
    """What a member of a list is called: its name or id, else its value, else its place."""
    member, place = (pair.old, pair.old_place) if pair.old_place is not None else (pair.new, pair.new_place)
    if isinstance(member, Mapping):
        return _named(member) or str(place)
    return str(place) if isinstance(member, list | tuple) else shown(member)


def at(path: str, pair: Pair) -> str:
    """The path of a member of a list."""
    member = pair.new if pair.old is ABSENT else pair.old
    named = isinstance(member, Mapping) and _named(member)
    return f"{path}.{named}" if named else f"{path}[{label(pair)}]"


def _named(member: Mapping[str, Any]) -> str | None:
    found = (member.get(name) for name in (*_NAMES, "id"))
    return next((str(name) for name in found if isinstance(name, str | int | float)), None)


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    text = value
    if not (isinstance(value, str) and value and value.isprintable()):
        text = json.dumps(as_json(value), ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _values(path: str, old: Any, new: Any) -> str:
    name, value = re.search(r"([^.\[\]]*)(\[.*\])?$", path, re.S).groups()  # type: ignore[union-attr]
    if value and ABSENT in (old, new):
        return f"{shown(new)} is added to {name}" if old is ABSENT else f"{shown(old)} is gone from {name}"
    if isinstance(new if old is ABSENT else old, Mapping) and ABSENT in (old, new):
        return f"{name} is {'new' if old is ABSENT else 'gone'}"
    if old is ABSENT:
        return f"{name} is {shown(new)}, and none was given before"
    if new is ABSENT:
        return f"{name} is no longer given; it was {shown(old)}"
    return f"{name} was {shown(old)} and is now {shown(new)}"


def _list(value: Any) -> bool:
    return not value or isinstance(value, list | tuple)


def _emptied(path: str, old: Any, new: Any) -> Iterator[Change]:
    """An empty list or object against none."""
    if not old and not new:
        yield from told(path, old, new, INFORMATIONAL, "it is empty")
