"""``{window_start:FORMAT}`` and ``{window_end:FORMAT}`` in the path of a source."""

from __future__ import annotations

import re

from ldp_core.errors import ConfigError
from ldp_core.window.calendar import zone_of
from ldp_core.window.model import Window

_PLACEHOLDER = re.compile(r"\{window_(start|end):([^{}]+)\}")
_SECONDS = re.compile(r"(?<!%)((?:%%)*)%s")
_BEGUN = re.compile(r"\{window_(start|end)(:?)(\}?)")


def placeholders(path: str) -> list[str]:
    """The placeholders of a path, as they are written."""
    return [found.group(0) for found in _PLACEHOLDER.finditer(path)]


def begun(text: str) -> str | None:
    """The first placeholder of a text, whole or broken, as it is written; None where there is none."""
    found = _PLACEHOLDER.search(text) or _BEGUN.search(text)
    return found.group(0) if found else None


def problem(path: str) -> str | None:
    """What is wrong with the placeholders of a path, or None."""
    rest = _PLACEHOLDER.sub("", path)
    begun = _BEGUN.search(rest)
    if begun is None:
        return None
    if begun.group(3):
        name = f"window_{begun.group(1)}"
        return f"{{{name}}} needs a strftime format, for example {{{name}:%Y-%m-%d}}"
    return "has a placeholder that is not closed; write it as {window_start:FORMAT} or {window_end:FORMAT}"


def fill(path: str, window: Window | None, zone: str) -> str:
    """The path of one window, its bounds shown in a time zone.

    Raises:
        ConfigError: The path has a placeholder and there is no window.
    """
    found = placeholders(path)
    if found and window is None:
        raise ConfigError(
            f"metadata.source.path {path!r} has the placeholder {found[0]}, which needs a window: "
            "pass window=, or --window START/END (or yesterday) on the command line"
        )

    def shown(match: re.Match[str]) -> str:
        assert window is not None
        bound = window.start if match.group(1) == "start" else window.end
        # strftime's own %s reads the local time as one of this machine's zone.
        layout = _SECONDS.sub(rf"\g<1>{int(bound.timestamp())}", match.group(2))
        return bound.astimezone(zone_of(zone)).strftime(layout)

    return _PLACEHOLDER.sub(shown, path)
