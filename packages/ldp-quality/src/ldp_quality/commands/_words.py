"""Moments and numbers as short as a table wants them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


def second(moment: datetime) -> str:
    """A moment to the second."""
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def minute(moment: datetime) -> str:
    """A moment as short as it can be: a day where it is one."""
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return text.removesuffix(":00").removesuffix("T00:00")


def percent(share: int | float | None) -> str:
    """A share that never rounds a failing row away."""
    if share is None:
        return ""
    text = f"{share:.2%}"
    return "<0.01%" if share and text == "0.00%" else text


def number(value: int | float | None) -> str:
    """A number with commas, and no more digits than say something."""
    if value is None:
        return ""
    if isinstance(value, int) or abs(value) >= 10_000:
        return f"{value:,.0f}"
    return f"{value:,.4g}"


def right(header: str, texts: Sequence[str]) -> list[str]:
    """Texts of numbers, made as long as their column is wide, so that they stand to the right."""
    width = max(map(len, (header, *texts)))
    return [text.rjust(width) for text in texts]
