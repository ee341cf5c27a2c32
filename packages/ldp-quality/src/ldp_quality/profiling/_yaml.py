"""Values and remarks as YAML text that any reader takes for what they are."""

from __future__ import annotations

import re
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def scalar(value: Any) -> str:
    """A value as YAML on one line; a text is plain only where no reader takes it for something else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(map(_escaped, value))}"'


def remark(text: str) -> str:
    """A text on one line, printable."""
    return "".join(char if char.isprintable() else " " for char in text)


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
