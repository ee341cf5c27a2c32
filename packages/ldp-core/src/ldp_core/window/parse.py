"""Reading a window as people write it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.window.calendar import SHORTCUTS, shortcut, zone_of
from ldp_core.window.model import Window


def parse_window(value: Any, zone: str = "UTC", now: datetime | None = None) -> Window:
    """Read a window.

    Args:
        value: A ``Window``, ``START/END``, a pair of bounds, or ``yesterday``, ``last-week``, ``last-month``.
        zone: The time zone of bounds without an offset, and of the shortcuts.
        now: The present moment, for the shortcuts.

    Raises:
        ConfigError: It is none of these, or its end is not after its start.
    """
    if isinstance(value, Window):
        return value
    if isinstance(value, str):
        if value in SHORTCUTS:
            return shortcut(value, zone, now)
        parts = value.split("/")
        if len(parts) != 2:
            raise ConfigError(
                f"window {value!r} must be an ISO-8601 interval 'START/END', or one of {', '.join(SHORTCUTS)}"
            )
        value = parts
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ConfigError(f"a window is a pair (start, end) or 'START/END', got {value!r}")
    start, end = (
        moment(bound, f"window {name}", zone) for name, bound in zip(("start", "end"), value, strict=True)
    )
    return Window(start, end)


def moment(value: Any, what: str, zone: str = "UTC") -> datetime:
    """An instant in UTC; a date is its first instant, and what has no offset is local time.

    Args:
        value: A datetime, a date or ISO 8601 text.
        what: What it is, for the message.
        zone: The time zone of what has no offset.

    Raises:
        ConfigError: It is none of these.
    """
    if isinstance(value, str):
        try:
            text = value.strip()
            value = datetime.fromisoformat(text[:-1] + "Z" if text.endswith("z") else text)
        except ValueError:
            pass
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ConfigError(f"{what} must be a datetime, a date or an ISO-8601 string, got {value!r}")
    aware = value if value.tzinfo else value.replace(tzinfo=zone_of(zone))
    try:
        return aware.astimezone(UTC)
    except OverflowError as error:
        raise ConfigError(f"{what} {value.isoformat()} is too far away") from error
