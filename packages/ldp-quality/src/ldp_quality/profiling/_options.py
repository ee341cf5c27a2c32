"""``logicalTypeOptions`` of a column: bounds, lengths, patterns, time zones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ldp_quality import kinds
from ldp_quality.profiling._yaml import remark, scalar
from ldp_quality.profiling.model import ColumnProfile

_ENOUGH = 100
"""Texts from which digits and capital letters are taken for a pattern."""
_STEPS = (1, 2, 5, 10)
_EXACT = 2**53
_HUGE = 1e300


@dataclass(frozen=True)
class _Option:
    name: str
    value: Any
    evidence: str
    holds: bool = True


def options(column: ColumnProfile, *, listed: bool) -> Iterator[str]:
    """The lines; what is only proposed is a comment.

    Args:
        column: The column.
        listed: Its values are listed, so that its lengths and letters say nothing more.
    """
    found = list(_options(column, listed))
    active = [option for option in found if option.holds]
    if active:
        yield "logicalTypeOptions:"
        yield from (f"  {_line(option)}" for option in active)
    proposed = [option for option in found if not option.holds]
    if active:
        yield from (f"  # {_line(option)}" for option in proposed)
    elif proposed:
        body = ", ".join(f"{option.name}: {scalar(option.value)}" for option in proposed)
        evidence = "; ".join(dict.fromkeys(option.evidence for option in proposed))
        yield f"# logicalTypeOptions: {{{body}}}  # {evidence}"


def _line(option: _Option) -> str:
    return f"{option.name}: {scalar(option.value)}  # {option.evidence}"


def _options(column: ColumnProfile, listed: bool) -> Iterator[_Option]:
    family = column.kind.family
    if family == kinds.TEXT and not listed:
        yield from _text(column)
    elif family in kinds.NUMERIC:
        yield from _number(column)
    elif family in kinds.TEMPORAL:
        if column.kind.zone:
            yield _Option("timezone", True, f"the type is {remark(column.kind.name)}")
        if column.min is not None:
            seen = f"values run from {column.min} to {column.max}"
            yield _Option("minimum", str(column.min), seen, holds=False)


def _text(column: ColumnProfile) -> Iterator[_Option]:
    if not column.count or column.max_length is None:
        return
    shape = column.pattern
    if shape is None:
        shortest = "" if column.min_length == column.max_length else f"{column.min_length:,} to "
        seen = f"{shortest}{column.max_length:,} character{'' if column.max_length == 1 else 's'}"
        yield _Option("maxLength", int(_beyond(Fraction(column.max_length))), seen, holds=False)
        return
    holds = shape.telling or column.count >= _ENOUGH
    word = "value" if column.count == 1 else "values"
    evidence = f"all {column.count:,} {word}: {shape.words}"
    if not holds:
        evidence += ", but there are few"
    if shape.format:
        yield _Option("format", shape.format, evidence, holds)
    else:
        yield _Option("pattern", shape.regex, evidence, holds)


def _number(column: ColumnProfile) -> Iterator[_Option]:
    low, high = _exact(column.min), _exact(column.max)
    if column.min is None or column.nans:
        return
    seen = f"values run from {column.min} to {column.max}"
    if column.min >= 0:
        yield _Option("minimum", 0, seen)
    elif low is not None:
        yield _Option("minimum", _written(-_beyond(-low)), seen, holds=False)
    if high is not None and high > 0:
        yield _Option("maximum", _written(_beyond(high)), seen, holds=False)


def _exact(value: Any) -> Fraction | None:
    """A number exactly; None for one that has no round neighbour, as an infinity."""
    if isinstance(value, int | float | Decimal) and -_HUGE < value < _HUGE:
        return Fraction(value)
    return None


def _beyond(value: Fraction) -> Fraction:
    """The next round number (1, 2 or 5 with zeros) that is not below a positive one; 0 for none."""
    if value <= 0:
        return Fraction(0)
    power = Fraction(10) ** math.floor(math.log10(value))
    if power > value:
        power /= 10
    return next(step * power for step in _STEPS if step * power >= value)


def _written(value: Fraction) -> int | float:
    """A round number as YAML; one with digits after the point as such."""
    return int(value) if value.denominator == 1 and abs(value) < _EXACT else float(value)
