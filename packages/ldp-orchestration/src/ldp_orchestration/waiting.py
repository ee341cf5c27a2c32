"""Waiting in short steps: a signal that comes right before a long sleep would be heard at its end only."""

from __future__ import annotations

from collections.abc import Callable

STEP = 0.5
"""The longest single sleep, in seconds."""

Sleep = Callable[[float], object]


def pause(seconds: float, sleep: Sleep, look: Callable[[], object] | None = None) -> None:
    """Wait.

    Args:
        seconds: How long.
        sleep: Sleeps for some seconds; called for at most ``STEP`` at a time.
        look: Called before each step; what it raises ends the wait.
    """
    left = seconds
    while left > 0:
        if look is not None:
            look()
        step = min(left, STEP)
        sleep(step)
        left -= step
