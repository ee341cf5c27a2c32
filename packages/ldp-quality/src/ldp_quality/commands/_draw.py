"""Numbers over time as one line of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-=+*%#"
"""For a terminal that has no Unicode."""
_NONE = {BARS: "·", PLAIN: " "}


def bars_for(encoding: str | None) -> str:
    """The bars that an encoding has."""
    try:
        (BARS + _NONE[BARS]).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return BARS


def spark(values: Sequence[int | float | None], bars: str = BARS) -> str:
    """One bar a number, from zero to the largest; from the smallest where some are below zero.

    The lowest bar is zero itself: what is above it never looks like it. None is a gap.

    Args:
        values: The numbers, the oldest first.
        bars: The bars, the lowest first.
    """
    known = [value for value in values if value is not None]
    low, high = min([0, *known]), max([0, *known])
    levels = [None if value is None else _level(value, low, high, len(bars)) for value in values]
    return "".join(_NONE[bars] if level is None else bars[level] for level in levels)


def _level(value: int | float, low: int | float, high: int | float, count: int) -> int:
    if value == low or high == low:
        return 0
    return max(1, min(count - 1, round((value - low) / (high - low) * (count - 1))))
