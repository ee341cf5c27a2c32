"""Windows: the half-open stretch of time that one run is responsible for. Standard library only."""

from ldp_core.window.calendar import SIZES, iter_windows, midnight, shortcut, starts_window
from ldp_core.window.model import Window
from ldp_core.window.parse import parse_window

__all__ = [
    "SIZES",
    "Window",
    "iter_windows",
    "midnight",
    "parse_window",
    "shortcut",
    "starts_window",
]
