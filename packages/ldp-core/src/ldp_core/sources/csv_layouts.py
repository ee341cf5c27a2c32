"""How dates and times may be written: the layouts that are known, and those that a config declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ldp_core.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ldp_core.spi import Spec

_DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%-d/%-m/%Y", "%d-%m-%Y")
_MONTH_FIRST = ("%m/%d/%Y", "%-m/%-d/%Y", "%m-%d-%Y")
LAYOUTS = ("%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", *_DAY_FIRST, *_MONTH_FIRST)
"""Layouts of dates that are known beside the ISO one."""

WIDER = {"%d/%m/%Y": "%-d/%-m/%Y", "%m/%d/%Y": "%-m/%-d/%Y"}
"""Layouts of padded dates to those that take dates without padding, too."""

_PART = re.compile(r"%-?.?")
_KNOWN = re.compile(r"%[aAbBcdfgGhHIjmMnpSTuUVwWxXyYzZ%]|%-[dHIjmMSy]")
_YEAR = re.compile(r"%[YGcx]|%-?y")


def ambiguous(layouts: Iterable[str | None]) -> bool:
    """Whether days and months cannot be told apart: layouts of both orders hold."""
    held = set(layouts)
    return bool(held & set(_DAY_FIRST)) and bool(held & set(_MONTH_FIRST))


def zoned(layout: str) -> bool:
    """Whether a strptime format reads an offset or the name of a zone."""
    return "%z" in layout or "%Z" in layout


def layout_problems(spec: Spec) -> list[Problem]:
    """Declared layouts that cannot work: parts that nobody knows, or no year."""
    found = []
    for key in ("date_format", "timestamp_format"):
        layout = spec.get(key)
        if not isinstance(layout, str):
            continue
        parts = _PART.findall(layout)
        odd = next((part for part in parts if not _KNOWN.fullmatch(part)), None)
        if odd is not None:
            hint = "use those of strptime, such as %d.%m.%Y or %Y-%m-%d %H:%M:%S"
            found.append(Problem(f"{odd!r} is no part of a layout", key=key, hint=hint))
        elif not any(_YEAR.fullmatch(part) for part in parts):
            found.append(Problem(f"{layout!r} has no %Y, so it gives no date", key=key))
    return found
