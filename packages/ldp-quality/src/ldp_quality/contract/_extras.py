"""What LDP adds to a rule of a contract: tolerances, a condition, a policy, in ``customProperties``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ldp_core.errors import ConfigError, Problem

from ldp_quality._words import ALIASES, in_our_words

_OWN = {
    name: name for name in ("severity", "where", "scope", "keep", "on_failure", "warn_above", "fail_above")
}
_WORDS = {**_OWN, "maxShare": "max_share", "max_share": "max_share", **ALIASES}
NAMES = tuple(_WORDS)
"""The custom properties that LDP reads."""

_ERRORS = {"error", "critical", "fatal", "high", "blocker", "blocking", "major", "severe"}
_WARNINGS = {"warn", "warning", "info", "information", "informational", "low", "medium", "minor", "notice"}


@dataclass(frozen=True)
class Extras:
    """What ``customProperties`` say to LDP.

    Attributes:
        values: Arguments of ``Rule``, and ``keep`` and ``max_share``.
        keys: Where each of them stands.
        problems: Names that are nearly one of ours, and words for one thing that say different things.
    """

    values: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def extras(custom: Any, key: str) -> Extras:
    """Read the custom properties of a rule, a column, a table or a contract.

    Those of another vendor are not ours, whatever their name.

    Args:
        custom: The list of ``{property, value}``.
        key: The key of what holds the list.
    """
    given: dict[str, Any] = {}
    places: dict[str, str] = {}
    problems: list[Problem] = []
    for at, item in enumerate(custom or ()):
        name, value = item.get("property"), item.get("value")
        if not isinstance(name, str) or value is None or item.get("vendor") not in (None, "ldp"):
            continue
        here = f"{key}.customProperties[{at}]" if key else f"customProperties[{at}]"
        if name not in _WORDS:
            near = get_close_matches(name, NAMES, n=1, cutoff=0.85)
            if near:
                text = f"{name} is a custom property that LDP does not read"
                hint = f"did you mean {near[0]}?"
                problems.append(Problem(text, f"{here}.property", hint=hint, severity="warning"))
            continue
        word = "max_share" if name == "maxShare" else name
        if given.get(word, value) != value:
            text = f"{name} stands twice, and does not say the same: {given[word]} and {value}"
            problems.append(Problem(text, f"{here}.value"))
        given[word] = value
        places[name] = f"{here}.value"
    keys = {_WORDS[name]: place for name, place in places.items()}
    try:
        return Extras(in_our_words(given), keys, tuple(problems))
    except ConfigError as error:
        place = places.get(str(error.key)) or next(iter(places.values()))
        return Extras({}, keys, (*problems, Problem(error.message, place)))


def severity_of(word: Any) -> str:
    """``error`` or ``warn`` for a contract's own word; a word that nobody knows is an error."""
    folded = str(word or "error").strip().lower()
    return "warn" if folded in _WARNINGS else "error"


def known_severity(word: Any) -> bool:
    """Whether the word says how bad it is."""
    return isinstance(word, str) and word.strip().lower() in _ERRORS | _WARNINGS


def merged(outer: Extras, inner: Extras) -> Extras:
    """What the nearer one says wins."""
    return Extras(
        {**outer.values, **inner.values}, {**outer.keys, **inner.keys}, (*outer.problems, *inner.problems)
    )


def plain(custom: Any) -> Mapping[str, Any]:
    """Custom properties as an object."""
    return {
        item["property"]: item.get("value")
        for item in custom or ()
        if isinstance(item.get("property"), str) and item.get("value") is not None
    }
