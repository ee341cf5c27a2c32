"""What LDP adds to a rule of a contract: tolerances, a condition, a policy, in ``customProperties``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ldp_core.errors import Problem

_WORDS = {
    "severity": "severity",
    "where": "where",
    "onFailure": "on_failure",
    "on_failure": "on_failure",
    "onFail": "on_failure",
    "on_fail": "on_failure",
    "warnAbove": "warn_above",
    "warn_above": "warn_above",
    "failAbove": "fail_above",
    "fail_above": "fail_above",
}
_ROWS = {"warnIfGreaterThan": "warn_above", "failIfGreaterThan": "fail_above"}
_PERCENT = {"warnIfPercentGreaterThan": "warn_above", "failIfPercentGreaterThan": "fail_above"}
NAMES = (*_WORDS, *_ROWS, *_PERCENT)
"""The custom properties that LDP reads."""

_ERRORS = {"error", "critical", "fatal", "high", "blocker", "blocking", "major", "severe"}
_WARNINGS = {"warn", "warning", "info", "information", "informational", "low", "medium", "minor", "notice"}


@dataclass(frozen=True)
class Extras:
    """What ``customProperties`` say to LDP.

    Attributes:
        values: Arguments of ``Rule``.
        keys: Where each of them stands.
        problems: Names that are nearly one of ours.
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
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    problems: list[Problem] = []
    for at, item in enumerate(custom or ()):
        name, value = item.get("property"), item.get("value")
        if not isinstance(name, str) or value is None or item.get("vendor") not in (None, "ldp"):
            continue
        here = f"{key}.customProperties[{at}]" if key else f"customProperties[{at}]"
        word = _WORDS.get(name) or _ROWS.get(name) or _PERCENT.get(name)
        if word is None:
            near = get_close_matches(name, NAMES, n=1, cutoff=0.85)
            if near:
                text = f"{name} is a custom property that LDP does not read"
                hint = f"did you mean {near[0]}?"
                problems.append(Problem(text, f"{here}.property", hint=hint, severity="warning"))
            continue
        keys[word] = f"{here}.value"
        if name in _ROWS or name in _PERCENT:
            part = f"{value:g}%" if name in _PERCENT and _number(value) else value
            held = values.get(word)
            before = held if isinstance(held, list) else [held] if held is not None else []
            values[word] = [*before, part] if before else part
        else:
            values[word] = value
    return Extras(values, keys, tuple(problems))


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


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def plain(custom: Any) -> Mapping[str, Any]:
    """Custom properties as an object."""
    return {
        item["property"]: item.get("value")
        for item in custom or ()
        if isinstance(item.get("property"), str) and item.get("value") is not None
    }
