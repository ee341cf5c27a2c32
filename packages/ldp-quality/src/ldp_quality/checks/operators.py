"""The operators that the Open Data Contract Standard compares a number by: ``mustBe: 0`` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ldp_core.errors import ConfigError

from ldp_quality.bounds import as_number

_ONE: dict[str, tuple[str, Callable[[Fraction, Fraction], bool]]] = {
    "mustBe": ("must be", lambda value, bound: value == bound),
    "mustNotBe": ("must not be", lambda value, bound: value != bound),
    "mustBeGreaterThan": ("must be greater than", lambda value, bound: value > bound),
    "mustBeGreaterOrEqualTo": ("must be at least", lambda value, bound: value >= bound),
    "mustBeLessThan": ("must be less than", lambda value, bound: value < bound),
    "mustBeLessOrEqualTo": ("must be at most", lambda value, bound: value <= bound),
}
_BETWEEN = {"mustBeBetween": "must be strictly between", "mustNotBeBetween": "must not be strictly between"}
OPERATORS = (*_ONE, *_BETWEEN)
"""The names of the standard."""


@dataclass(frozen=True)
class Operator:
    """What a number must be.

    ``mustBeBetween`` excludes its bounds: the standard calls it the same as ``mustBeGreaterThan`` and
    ``mustBeLessThan`` together; ``mustNotBeBetween`` is its opposite.

    Attributes:
        name: One of ``OPERATORS``.
        bounds: One number, two for the last two.
        written: The bounds as they were written.
    """

    name: str
    bounds: tuple[Fraction, ...]
    written: tuple[Any, ...]

    @classmethod
    def of(cls, name: str, value: Any) -> Operator:
        """Read one.

        Raises:
            ConfigError: The name is none of the standard's, or the value no number (two for between).
        """
        if name not in OPERATORS:
            raise ConfigError(f"unknown operator {name}; known: {', '.join(OPERATORS)}", key=name)
        two = name in _BETWEEN
        if two and not (isinstance(value, list | tuple) and len(value) == 2):
            raise ConfigError(f"{name} must be two numbers such as [0, 10], got {value!r}", key=name)
        written = tuple(value) if two else (value,)
        numbers = [as_number(item) for item in written]
        bounds = tuple(item for item in numbers if isinstance(item, Fraction))
        if len(bounds) != len(written):
            what = "two numbers" if two else "a number"
            raise ConfigError(f"{name} must be {what}, got {value!r}", key=name)
        if two and bounds[0] > bounds[1]:
            raise ConfigError(f"{name} has its smaller number first, got {value!r}", key=name)
        return cls(name, bounds, written)

    def holds(self, value: Fraction) -> bool:
        """Whether a number is as it must be."""
        if self.name in _BETWEEN:
            inside = self.bounds[0] < value < self.bounds[1]
            return inside is (self.name == "mustBeBetween")
        return _ONE[self.name][1](value, self.bounds[0])

    def too_many(self, value: Fraction) -> bool:
        """Whether it does not hold because the number is too large, so that fewer would do."""
        if self.holds(value):
            return False
        if self.name in ("mustBe", "mustBeLessThan", "mustBeLessOrEqualTo"):
            return value >= self.bounds[0]
        return self.name == "mustBeBetween" and value >= self.bounds[1]

    def text(self, unit: str = "") -> str:
        """``must be less than 1%``."""
        words = _ONE[self.name][0] if self.name in _ONE else _BETWEEN[self.name]
        return f"{words} {' and '.join(f'{item}{unit}' for item in self.written)}"
