"""``metadata.window``: the stretch of time that one run loads. The shape only; windows are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Key, Literal, OneOf, Shape, Text, Type
from ldp_core.spi import Spec

WINDOW = Shape(
    keys=(
        Key("size", Text(choices=("day", "hour", "15m")), "How long a window is.", required=True),
        Key("column", Text(pattern=r"\S"), "The date or timestamp column that selects the rows of a window."),
        Key("timezone", Text(pattern=r"\S"), "An IANA name, such as Europe/Paris.", default="UTC"),
        Key(
            "overlap",
            Text(choices=("refuse", "allow")),
            "Whether a window may share time with one that is already published.",
            default="refuse",
        ),
        Key(
            "empty",
            Text(choices=("error", "publish")),
            "What a window without rows is: an error, or published as done.",
            default="error",
        ),
    ),
    doc="The window of a run: half-open, from its start up to its end.",
)


class WindowSection:
    """The section; hashed, because the column changes which rows a run reads."""

    shape: Type = OneOf((Literal("none"), WINDOW))
    hashed = True

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """Whether the time zone exists."""
        zone = value.get("timezone") if isinstance(value, Mapping) else None
        if zone is None or is_zone(zone):
            return []
        return [
            Problem(f"unknown time zone {zone!r}", key="timezone", hint="write an IANA name: Europe/Paris")
        ]

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line: size, column and zone."""
        if not isinstance(value, Mapping):
            return []
        column = f" of {value['column']}" if value.get("column") else ""
        return [("window", f"{value['size']}{column}, {value.get('timezone', 'UTC')}")]


def is_zone(name: str) -> bool:
    """Whether the time zone database has a zone of that name."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


SECTION = WindowSection()
