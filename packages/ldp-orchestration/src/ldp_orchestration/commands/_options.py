"""Options that several commands have, each with its own words for what they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def jobs_option(about: str) -> Decorator:
    """``--jobs N``."""
    return _count("--jobs", 1, about)


def max_windows_option(about: str) -> Decorator:
    """``--max-windows N``."""
    return _count("--max-windows", 1000, about)  # ranges.MAX_WINDOWS, which is not light to import


def _count(name: str, default: int, about: str) -> Decorator:
    """A whole number from 1."""
    return click.option(
        name, type=click.IntRange(min=1), default=default, show_default=True, metavar="N", help=about
    )
