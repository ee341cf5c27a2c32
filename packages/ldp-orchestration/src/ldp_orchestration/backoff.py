"""How long a window that keeps failing is left alone: 5, 10, 20 ... minutes, a day at most. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST_WAIT = timedelta(minutes=5)
LONGEST_WAIT = timedelta(days=1)

SLACK = timedelta(seconds=30)
"""A tick that comes this much too early does not wait for the next one: schedulers are not to the second."""


def wait_after(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: nothing after none, then 5, 10, 20 ... minutes."""
    if failures < 1:
        return timedelta(0)
    doubled: int = 2 ** min(failures - 1, 16)
    return min(FIRST_WAIT * doubled, LONGEST_WAIT)


def next_try(failures: int, last_failed_at: datetime | None, changed: bool = False) -> datetime | None:
    """When a window that failed may be tried again.

    Args:
        failures: How many runs of the window failed in a row; 0 where the last one did not fail. A run that a
            gate blocked is no failure, and ends the row.
        last_failed_at: When the last of them *began*: counted from there, a tick every five minutes meets it.
        changed: Whether a config or a source file of the window was changed since, which ends the wait.

    Returns:
        The moment; None where there is nothing to wait for.
    """
    if failures < 1 or last_failed_at is None or changed:
        return None
    return last_failed_at + wait_after(failures)


def waits(until: datetime | None, now: datetime) -> bool:
    """Whether a tick leaves a window alone that ``next_try`` gave a moment for."""
    return until is not None and now + SLACK < until
