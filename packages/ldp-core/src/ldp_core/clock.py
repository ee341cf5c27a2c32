"""The time, as one function that tests replace."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def system_clock() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)
