"""Waiting in short steps: a signal that comes right before a long sleep would be heard at its end only."""

from __future__ import annotations

from collections.abc import Callable

from ldp_core._signals import asked_to_stop
from ldp_core.errors import Interrupted

STEP = 0.5
"""The longest single sleep, in seconds."""

Sleep = Callable[[float], object]


def pause(seconds: float, sleep: Sleep, look: Callable[[], object] | None = None) -> None:
    """Wait.

    Args:
        seconds: How long.
        sleep: Sleeps for some seconds; called for at most ``STEP`` at a time.
        look: Called before each step; what it raises ends the wait.

    Raises:
        Interrupted: A signal came, and its KeyboardInterrupt got lost: Python ignores what is raised while it
            finalizes an object.
    """
    left = seconds
    while left > 0:
        if asked_to_stop():
            raise Interrupted("interrupted while waiting")
        if look is not None:
            look()
        step = min(left, STEP)
        sleep(step)
        left -= step
