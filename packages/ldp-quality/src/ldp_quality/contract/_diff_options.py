"""The ``logicalTypeOptions`` of a property: what its values may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from ldp_quality.contract._diff_change import BREAKING, INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_match import ABSENT, CONTENT
from ldp_quality.contract._diff_types import physical
from ldp_quality.contract._diff_walk import (
    Differ,
    fields,
    flag,
    joint,
    judged,
    members,
    nothing,
    plain,
    promise,
    told,
)

_LOWER = (("minimum", "exclusiveMinimum", "min"), ("minLength",), ("minItems",), ("minProperties",))
_UPPER = (("maximum", "exclusiveMaximum", "max"), ("maxLength",), ("maxItems",), ("maxProperties",))
_SIDES = (*((keys, 1) for keys in _LOWER), *((keys, -1) for keys in _UPPER))
BOUNDS = frozenset(key for keys, _ in _SIDES for key in keys)
"""The keys of ``bounds``."""
NUMBERS = ("integer", "number")
_TIMES = ("date", "timestamp", "time")

Bound = tuple[str, Fraction | float, bool]
"""The kind of a bound, its value (the greater refuses more), and whether it is itself refused."""


def options(logical_type: Any) -> Differ:
    """Tells apart the options of properties of a logical type."""

    def differ(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
        yield from bounds(path, old, new, logical_type)
        yield from fields(path, old, new, _special(logical_type))

    return differ


def bounds(
    path: str, old: Mapping[str, Any], new: Mapping[str, Any], logical_type: Any = None
) -> Iterator[Change]:
    """The least and the most that a value, a text or a list may be."""
    for keys, sign in _SIDES:
        yield from joint(path, keys, old, new, partial(_narrowed, keys, sign, old, new, logical_type))


def _special(logical_type: Any) -> dict[str, Differ]:
    if logical_type in NUMBERS:
        format_: Differ = physical
    else:
        format_ = _breaks_when_changed if logical_type in _TIMES else promise
    return {
        **dict.fromkeys(BOUNDS, nothing),
        "format": format_,
        "pattern": promise,
        "multipleOf": _multiple,
        "uniqueItems": flag(
            TIGHTENING,
            "lists that hold a value twice are refused",
            LOOSENING,
            "lists may now hold a value twice",
        ),
        "required": _required,
        "timezone": flag(BREAKING, "moments have a zone now", BREAKING, "moments have no zone now"),
        "defaultTimezone": _by_default("Etc/UTC", "the same text is another moment"),
        "elementType": _by_default("float32", "old readers do not fit another type"),
        "dimensions": _breaks_when_changed,
        "embeddingModel": _breaks_when_changed,
        "embeddingModelVersion": _breaks_when_changed,
        "normalized": flag(
            TIGHTENING, "vectors of another length are refused", LOOSENING, "vectors may now be of any length"
        ),
        "distanceMetric": plain,
    }


def _narrowed(
    keys: tuple[str, ...], sign: int, old: Mapping[str, Any], new: Mapping[str, Any], logical_type: Any
) -> tuple[str, str]:
    """What a moved bound means: a lower one (sign 1) that rises refuses more."""
    whole = logical_type == "integer" or len(keys) == 1
    was, now = (_strictest(keys, sign, written, whole) for written in (old, new))
    if was == now:
        return judged(INFORMATIONAL)
    if was is None or now is None:
        return judged(TIGHTENING if was is None else LOOSENING)
    comparable = was[0] == now[0] != ""
    return judged(LOOSENING if comparable and now < was else TIGHTENING)


def _strictest(keys: tuple[str, ...], sign: int, written: Mapping[str, Any], whole: bool) -> Bound | None:
    """The bound that refuses most."""
    found: list[Bound] = []
    for key in keys:
        if key in written:
            kind, number = ordered(written[key])
            value, excluded = sign * number, key.startswith("exclusive")
            if whole and isinstance(value, Fraction):
                # Whole numbers above 4.5 are those from 5; those above 5, from 6.
                value, excluded = -(-value // 1) + (excluded and value.denominator == 1), False
            found.append((kind, value, excluded))
    if len(keys) == 1 and sign == 1:
        # Nothing is shorter than nothing.
        found.append(("number", Fraction(0), False))
    return max(found, default=None)


def ordered(value: Any) -> tuple[str, Fraction | float]:
    """A bound as a number that can be compared with others of its kind; an empty kind for no bound."""
    from ldp_quality.bounds import as_number
    from ldp_quality.instants import clock_ns, moment_ns

    number = as_number(value)
    if number is not None:
        return "number", number
    for kind, read in (("moment", moment_ns), ("clock", clock_ns)):
        ns = read(value)
        if ns is not None:
            return kind, Fraction(ns)
    return "", Fraction(0)


def _multiple(path: str, old: Any, new: Any) -> Iterator[Change]:
    impact = LOOSENING if new is ABSENT else TIGHTENING
    if old is not ABSENT and new is not ABSENT:
        try:
            was, now = (Fraction(str(value)) for value in (old, new))
            impact = LOOSENING if (was / now).denominator == 1 else TIGHTENING
        except (ValueError, ZeroDivisionError):
            impact = TIGHTENING
    yield from told(path, old, new, *judged(impact))


def _required(path: str, old: Any, new: Any) -> Iterator[Change]:
    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        impact = LOOSENING if new is ABSENT else BREAKING
        yield from told(path, old, new, *judged(impact))

    yield from members(path, old, new, (CONTENT,), differ)


def _breaks_when_changed(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old is ABSENT or new is ABSENT:
        yield from promise(path, old, new)
    else:
        yield from told(path, old, new, BREAKING, "it is written and read in another way")


def _by_default(default: str, means: str) -> Differ:
    def differ(path: str, old: Any, new: Any) -> Iterator[Change]:
        was, now = (default if value is ABSENT else value for value in (old, new))
        if was == now:
            yield from told(path, old, new, INFORMATIONAL, f"it is {default} by default")
        else:
            yield from told(path, old, new, BREAKING, means)

    return differ
