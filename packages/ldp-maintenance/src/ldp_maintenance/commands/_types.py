"""What options of the commands may say."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ldp_maintenance.policy import Ordering, SortKey

    ParamType = click.ParamType[Any, Any]
else:
    ParamType = click.ParamType  # generic only since click 8.4

_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _UNITS[f"{_letter}b"] = 1000**_power
    _UNITS[f"{_letter}ib"] = 1024**_power
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_NAME = r'"(?:[^"]|"")+"|[^\s,()"]+'
_KEY = re.compile(
    rf"\s*(?:(?P<transform>\w+)\(\s*(?:(?P<width>\d+)\s*,\s*)?(?P<inner>{_NAME})\s*\)|(?P<column>{_NAME}))"
    r"(?:\s+(?P<direction>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*",
    re.IGNORECASE,
)


class Amount(ParamType):
    """A number of at least 0 (whole where ``whole``), or above 0 where ``positive``."""

    def __init__(self, *, whole: bool = False, positive: bool = False, metavar: str = "N") -> None:
        self.whole = whole
        self.positive = positive
        self.name = metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        try:
            number = int(value) if self.whole else float(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a {'whole ' if self.whole else ''}number", param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        if number < 0 or (self.positive and number == 0):
            self.fail(f"{value} is not {'above 0' if self.positive else '0 or more'}", param, ctx)
        return number


class Size(ParamType):
    """A number of bytes: ``134217728``, ``128MB`` (powers of 1000), ``128MiB`` (powers of 1024)."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The bytes."""
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value))
        unit = _UNITS.get(found[2].lower()) if found else None
        if found is None or unit is None:
            self.fail(f"{value!r} is no size; write 134217728, 128MB or 128MiB", param, ctx)
        size = int(float(found[1]) * unit)
        if size < 1:
            self.fail(f"{value!r} is not above 0", param, ctx)
        return size


class OrNone(ParamType):
    """A whole number of at least 0, or ``none``."""

    name = "N|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or ``none``."""
        if str(value).lower() == "none":
            return "none"
        return Amount(whole=True).convert(value, param, ctx)


class OrderBy(ParamType):
    """``a, b desc nulls first, day(ts), bucket(16, id)``."""

    name = "ORDER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Ordering:
        """The order."""
        from ldp_maintenance.policy import Ordering

        if isinstance(value, Ordering):
            return value
        keys: list[SortKey] = []
        at = 0
        while at <= len(value):
            found = _KEY.match(value, at)
            if found is None or (found.end() < len(value) and value[found.end()] != ","):
                self.fail(f"{value!r} is no order; write a, b desc nulls first", param, ctx)
            keys.append(_key(found))
            at = found.end() + 1
        names = [(key.column, key.transform) for key in keys]
        if len(set(names)) < len(names):
            self.fail(f"{value!r} has a key twice", param, ctx)
        return Ordering("sort", sort=tuple(keys))


def _key(found: re.Match[str]) -> SortKey:
    from ldp_maintenance.policy import SortKey

    transform = (found["transform"] or "identity").lower()
    if found["width"]:
        transform = f"{transform}[{found['width']}]"
    return SortKey(
        _unquoted(found["inner"] or found["column"]),
        "desc" if (found["direction"] or "").lower() == "desc" else "asc",
        "first" if (found["nulls"] or "").lower() == "first" else "last",
        transform,
    )


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


class ZOrder(ParamType):
    """``a,b``: at least two columns."""

    name = "COLUMNS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Ordering:
        """The z-order; its bits are as many as fit, 16 at most."""
        from ldp_maintenance.config.shapes import MAX_BITS
        from ldp_maintenance.policy import Ordering

        if isinstance(value, Ordering):
            return value
        columns = [name.strip() for name in value.split(",")]
        if len(columns) < 2 or not all(columns):
            self.fail(f"{value!r}: a z-order needs at least two columns", param, ctx)
        if len(set(columns)) < len(columns):
            self.fail(f"{value!r} has a column twice", param, ctx)
        if len(columns) > MAX_BITS:
            self.fail(f"a z-order takes at most {MAX_BITS} columns", param, ctx)
        return Ordering("zorder", zorder=tuple(columns), precision_bits=min(16, MAX_BITS // len(columns)))
