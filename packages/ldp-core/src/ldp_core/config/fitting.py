"""What is left of an object without its broken parts, so that a plugin can judge the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ldp_core.errors import Problem

UNKNOWN = "unknown key"


@dataclass(frozen=True)
class Fitting:
    """An object without its broken parts.

    Attributes:
        value: What is left.
        lost: The keys that are gone, or have lost items.
        places: Where the items of shortened lists stood, by where they stand now.
    """

    value: dict[str, Any]
    lost: frozenset[str]
    places: Mapping[str, str]

    def at_home(self, problem: Problem) -> Problem | None:
        """A problem of what is left, where it was written; None where a lost part may be its only reason."""
        if any(re.search(rf"\b{re.escape(name)}\b", problem.message) for name in self.lost):
            return None
        for now, written in self.places.items():
            if within(problem.key, now):
                return replace(problem, key=written + problem.key[len(now) :])
        return None if any(within(problem.key, name) for name in self.lost) else problem


def fitting(value: Mapping[str, Any], problems: Iterable[Problem]) -> Fitting:
    """Take the broken parts out of an object.

    It loses each key that a problem is in; of a list of objects only the items that a problem is in. A key
    that is unknown inside another one costs nothing there.

    Args:
        value: The object.
        problems: What ``validate.check`` says of it, with keys that begin in it.
    """
    keys = {problem.key: problem.message for problem in problems}
    left: dict[str, Any] = dict(value)
    places: dict[str, str] = {}
    lost = {key for key in keys if key and not re.search(r"[.\[]", key)}
    for name, item in value.items():
        inside = {key: message for key, message in keys.items() if within(key, name)}
        if not inside:
            continue
        if name not in inside and isinstance(item, list | tuple):
            lost.add(name)
            kept = [at for at in range(len(item)) if not any(within(key, f"{name}[{at}]") for key in inside)]
            left[name] = [item[at] for at in kept]
            places |= {f"{name}[{now}]": f"{name}[{at}]" for now, at in enumerate(kept)}
        elif name in inside or any(message != UNKNOWN for message in inside.values()):
            lost.add(name)
            del left[name]
    return Fitting(left, frozenset(lost), places)


def within(key: str, outer: str) -> bool:
    """Whether a dotted key is another one, or stands inside it."""
    return key == outer or key.startswith((f"{outer}.", f"{outer}["))
