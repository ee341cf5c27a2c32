"""What ``mustBe...`` of a rule accepts, as a set of numbers, so that two rules are compared exactly.

A set is a list of closed intervals of points; a point is a number and -1, 0 or 1 for just below it, itself or
just above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ldp_quality.contract._diff_change import INFORMATIONAL, LOOSENING, TIGHTENING, Change
from ldp_quality.contract._diff_walk import joint, judged

OPERATORS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)
Point = tuple[Fraction | float, int]
Accepted = tuple[tuple[Point, Point], ...]

_LEAST: Point = (-math.inf, 0)
_MOST: Point = (math.inf, 0)
_ALL: Accepted = ((_LEAST, _MOST),)


def operators(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """The operators of a rule, compared as the sets of numbers that they accept."""
    yield from joint(path, OPERATORS, old, new, lambda: judged(compared(accepted(old), accepted(new))))


def compared(old: Accepted | None, new: Accepted | None) -> str:
    """The class of a change of what is accepted; None is what is no set of numbers."""
    if old is None or new is None:
        return TIGHTENING
    if old == new:
        return INFORMATIONAL
    return LOOSENING if _within(old, new) else TIGHTENING


def accepted(rule: Mapping[str, Any]) -> Accepted | None:
    """The numbers that a rule accepts; None where a value is no number."""
    found = _ALL
    try:
        for name in OPERATORS:
            if name in rule:
                found = _both(found, _set(name, rule[name]))
        if "rule" in rule and not any(name in rule for name in OPERATORS):
            # A rule as it was written before there were metrics: no bad row.
            found = _set("mustBe", 0)
    except (TypeError, ValueError):
        return None
    if "metric" not in rule and "rule" not in rule:
        return found
    rows = rule.get("unit", "rows") in ("rows", "row")
    found = _both(found, (((Fraction(0), 0), _MOST if rows else (Fraction(100), 0)),))
    return _whole(found) if rows else found


def tolerates_less(rule: Mapping[str, Any]) -> bool:
    """Whether a rule that accepts a number of bad rows accepts every smaller one."""
    found = accepted(rule)
    return found is not None and len(found) == 1 and found[0][0][0] <= 0


def _set(name: str, value: Any) -> Accepted:
    if name in ("mustBeBetween", "mustNotBeBetween"):
        low, high = (_number(part) for part in value)
        # The standard: between is greater than the one and less than the other.
        inside = (((low, 1), (high, -1)),)
        return inside if name == "mustBeBetween" else ((_LEAST, (low, 0)), ((high, 0), _MOST))
    number = _number(value)
    return {
        "mustBe": (((number, 0), (number, 0)),),
        "mustNotBe": ((_LEAST, (number, -1)), ((number, 1), _MOST)),
        "mustBeGreaterThan": (((number, 1), _MOST),),
        "mustBeGreaterOrEqualTo": (((number, 0), _MOST),),
        "mustBeLessThan": ((_LEAST, (number, -1)),),
        "mustBeLessOrEqualTo": ((_LEAST, (number, 0)),),
    }[name]


def _number(value: Any) -> Fraction:
    from ldp_quality.bounds import as_number

    number = as_number(value)
    if not isinstance(number, Fraction):
        raise TypeError(f"{value!r} is not a number")
    return number


def _both(one: Accepted, other: Accepted) -> Accepted:
    cuts = ((max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other)
    return tuple((low, high) for low, high in cuts if low <= high)


def _whole(found: Accepted) -> Accepted:
    """The same for whole numbers: below 5 is up to 4."""
    merged: list[tuple[Point, Point]] = []
    for low, high in found:
        first, last = _ceil(low), _floor(high)
        if first > last:
            continue
        if merged and first[0] == merged[-1][1][0] + 1:
            first = merged.pop()[0]
        merged.append((first, last))
    return tuple(merged)


def _ceil(point: Point) -> Point:
    number, side = point
    if isinstance(number, float):
        return point
    return (number + 1 if side == 1 and number.denominator == 1 else Fraction(math.ceil(number)), 0)


def _floor(point: Point) -> Point:
    number, side = point
    if isinstance(number, float):
        return point
    return (number - 1 if side == -1 and number.denominator == 1 else Fraction(math.floor(number)), 0)


def _within(part: Accepted, whole: Accepted) -> bool:
    return all(any(low <= a and b <= high for low, high in whole) for a, b in part)
