"""Quality rules: which is which, and what a change of one means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ldp_quality.contract._diff_change import INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_custom import custom, grading, named
from ldp_quality.contract._diff_match import ABSENT, CONTENT, By, by
from ldp_quality.contract._diff_operators import OPERATORS, operators, tolerates_less
from ldp_quality.contract._diff_options import BOUNDS, bounds
from ldp_quality.contract._diff_walk import (
    Differ,
    fields,
    judged,
    mapping,
    members,
    nothing,
    plain,
    promise,
    told,
)

_SUBJECT = ("metric", "rule", "engine", "query", "implementation", "arguments", "unit")
_FIRST = ("metric", "rule", "query", "implementation")


def _of_type(word: str, key: str) -> By:
    """The one rule that is left of a type."""

    def found(rule: Any) -> str | None:
        return word if isinstance(rule, Mapping) and (rule.get("type") == word or key in rule) else None

    return By(found, alone=True)


_WAYS = (
    by("id"),
    by("name"),
    CONTENT,
    *(by(key, *_SUBJECT, alone=True) for key in _FIRST),
    *(by(key, alone=True) for key in ("metric", "rule", "engine")),
    _of_type("sql", "query"),
    _of_type("text", "text"),
)
_UNITS = ((ABSENT, "rows", "row"), ("percent", "%"))
"""Words that mean the same unit."""
_RELATIONS = (
    by("id"),
    CONTENT,
    by("from", alone=True),
    by("to", alone=True),
    By(lambda relation: isinstance(relation, Mapping), alone=True),
)
_WORDS = (
    "authoritativeDefinitions",
    "businessImpact",
    "description",
    "dimension",
    "id",
    "method",
    "name",
    "schedule",
    "scheduler",
    "tags",
)
"""What says nothing of what is checked."""


def quality(path: str, old: Any, new: Any) -> Iterator[Change]:
    """Two lists of rules."""
    yield from members(path, old, new, _WAYS, _rule)


def relationships(path: str, old: Any, new: Any) -> Iterator[Change]:
    """Two lists of foreign keys, which rows must satisfy like a rule."""
    yield from members(path, old, new, _RELATIONS, _relation)


def _relation(path: str, old: Any, new: Any) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from fields(path, old, new, {"from": promise, "to": promise})
    else:
        impact, means = judged(LOOSENING if new is ABSENT else TIGHTENING)
        yield from told(path, old, new, impact, means)


def _rule(path: str, old: Any, new: Any) -> Iterator[Change]:
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield from _whole(path, old, new)
        return
    yield from operators(path, old, new)
    yield from grading(path, old, new)
    less = tolerates_less(old) and tolerates_less(new)
    special: dict[str, Differ] = {
        **dict.fromkeys((*OPERATORS, "severity"), nothing),
        **dict.fromkeys(_WORDS, plain),
        "type": _type,
        "unit": _unit,
        "validValues": _values(LOOSENING if less else TIGHTENING, TIGHTENING),
        "arguments": lambda path, old, new: mapping(path, old, new, _arguments(less)),
        "implementation": _implementation,
        "customProperties": custom,
    }
    yield from fields(path, old, new, special, other=_checks)


def _whole(path: str, old: Any, new: Any) -> Iterator[Change]:
    """A rule that comes or goes; a text checks nothing."""
    rule = old if new is ABSENT else new
    impact, means = judged(LOOSENING if new is ABSENT else TIGHTENING)
    if isinstance(rule, Mapping) and rule.get("type") == "text":
        impact, means = INFORMATIONAL, "a text, which nothing checks"
    yield from told(path, old, new, impact, means)


def _checks(path: str, old: Any, new: Any) -> Iterator[Change]:
    yield from told(
        path, old, new, TIGHTENING, "something else is checked, so data that passed may now be refused"
    )


def _type(path: str, old: Any, new: Any) -> Iterator[Change]:
    if all(word in (ABSENT, "library") for word in (old, new)):
        yield from told(path, old, new, INFORMATIONAL, "a rule is of the library by default")
    else:
        yield from _checks(path, old, new)


def _unit(path: str, old: Any, new: Any) -> Iterator[Change]:
    if any(old in words and new in words for words in _UNITS):
        yield from told(path, old, new, INFORMATIONAL, "it counts the same")
    else:
        yield from told(path, old, new, TIGHTENING, "bad rows are counted in another way")


def _arguments(less: bool) -> Any:
    """The arguments of a metric, by whether fewer bad rows are always better."""
    more, fewer = (LOOSENING, TIGHTENING) if less else (TIGHTENING, TIGHTENING)
    special: dict[str, Differ] = {
        "validValues": _values(more, fewer),
        "missingValues": _values(fewer, more),
        "invalidValues": _values(fewer, more),
        # Rows that are alike in more columns are alike in fewer.
        "properties": _values(more, fewer),
        "pattern": _pattern(more),
    }

    if less:
        special |= dict.fromkeys(BOUNDS, nothing)

    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        if less:
            yield from bounds(path, old, new)
        yield from fields(path, old, new, special, other=_checks)

    return differ


def _values(added: str, removed: str) -> Differ:
    """Tells apart two lists of values; no list at all is neither of them."""

    def value(path: str, old: Any, new: Any) -> Iterator[Change]:
        yield from told(path, old, new, *judged(added if old is ABSENT else removed))

    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        if isinstance(old, list | tuple) and isinstance(new, list | tuple):
            yield from members(path, old, new, (CONTENT,), value)
        else:
            # With no valid values all are valid, with no missing ones none is.
            yield from told(
                path, old, new, *judged(removed if (old is ABSENT) == (added == LOOSENING) else added)
            )

    return differ


def _pattern(removed: str) -> Differ:
    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        yield from told(path, old, new, *judged(removed if new is ABSENT else TIGHTENING))

    return differ


def _implementation(path: str, old: Any, new: Any) -> Iterator[Change]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from fields(path, old, new, named(old) | named(new), other=_checks)
    else:
        yield from _checks(path, old, new)
