"""``metadata.sla``: how late the data may be. Not hashed: it changes nothing about what a run does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Key, Number, OneOf, Shape, Text, Type
from ldp_core.spi import Spec

from ldp_orchestration.model import Sla

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LENGTH = r"^\s*\d+(\.\d+)?\s*[smhd]\s*$"
DURATION: Type = OneOf((Text(pattern=_LENGTH, what="a length such as 90m, 2h or 1d"), Number(above=0)))
SLA = Shape(
    keys=(
        Key("warn_after", DURATION, "A length such as `90m`, `2h` or `1d`, or seconds: later is a warning."),
        Key("error_after", DURATION, "Later than this is a breach: `ldp status` exits with 2."),
    ),
    doc="How long after the scheduled time the window that is due may still be missing.",
)


class SlaSection:
    """The section."""

    shape: Type = SLA
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """Whether a warning comes before the breach."""
        found = sla(value)
        if found.warn_after and found.error_after and found.error_after < found.warn_after:
            return [Problem("must not be less than warn_after", key="error_after")]
        return []

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line."""
        parts = [
            f"{word} after {value[key]}{'' if isinstance(value[key], str) else ' s'}"
            for key, word in (("warn_after", "late"), ("error_after", "a breach"))
            if key in value
        ]
        return [("sla", ", ".join(parts))] if parts else []


def seconds(value: Any) -> float:
    """A length of time in seconds: a number, or a text such as ``90m``."""
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    return float(text[:-1]) * _UNITS[text[-1]]


def sla(value: Any) -> Sla:
    """What a section says; parts that are not of the right shape count as absent."""
    given = value if isinstance(value, Mapping) else {}
    found = {name: seconds(given[name]) for name in ("warn_after", "error_after") if _fits(given.get(name))}
    return Sla(**found)


def _fits(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.match(_LENGTH, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


SECTION = SlaSection()
