"""Ticks in the foreground, for a container that has no scheduler."""

from __future__ import annotations

import logging
import math
import signal
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from ldp_core.clock import Clock, system_clock
from ldp_core.errors import ConfigError, LDPError, UsageError

from ldp_orchestration.discovery import discover
from ldp_orchestration.fires import next_fire
from ldp_orchestration.schedule.tick import tick
from ldp_orchestration.schedule.ticked import TickResult
from ldp_orchestration.sections.sla import seconds
from ldp_orchestration.waiting import Sleep, pause

logger = logging.getLogger("ldp_core")


class Stop(KeyboardInterrupt):
    """A supervisor asks for the end."""


def run_until_stopped(
    folder: str | Path,
    every: str | float = "60s",
    *,
    tell: Callable[[TickResult], object],
    clock: Clock = system_clock,
    sleep: Sleep = time.sleep,
    ticks: int | None = None,
    **options: Any,
) -> int:
    """Tick at each fire, and at least every so often, until SIGTERM.

    A tick that goes wrong as a whole is logged, and the next one comes all the same. Ticks that say the same
    are told once.

    Args:
        folder: Where the files are.
        every: The longest wait between two ticks: seconds, or a text such as ``30s`` or ``5m``.
        tell: Hears of every tick that has something new to say.
        clock: The time.
        sleep: Sleeps for some seconds, at most half a second at a time.
        ticks: After so many ticks it ends by itself.
        options: Those of ``tick``.

    Returns:
        0, when SIGTERM asked for the end or the ticks are done.

    Raises:
        UsageError: ``every`` is no length of time.
        ConfigError: There is no such folder.
    """
    longest = _length(every)
    if not Path(folder).is_dir():
        raise ConfigError(f"{folder} is no folder")
    stopping = _Stopping()
    told = None
    try:
        while ticks is None or ticks > 0:
            began = clock()
            result = _ticked(folder, clock, sleep, options)
            if result is not None:
                text = _essence(result)
                if text != told:
                    tell(result)
                told = text
            ticks = None if ticks is None else ticks - 1
            if ticks != 0:
                pause(_wait(folder, began, longest, clock, options), sleep, stopping.look)
    except BaseException:
        if stopping.asked:
            return 0
        raise
    finally:
        stopping.restore()
    return 0


def _length(every: str | float) -> float:
    try:
        found = seconds(every)
    except (ValueError, KeyError, IndexError):
        found = 0.0
    if not (found >= 1 and math.isfinite(found)):
        raise UsageError(f"--every must be at least one second, such as 30s or 5m, not {every!r}")
    return found


def _ticked(folder: str | Path, clock: Clock, sleep: Sleep, options: dict[str, Any]) -> TickResult | None:
    try:
        return tick(folder, clock=clock, sleep=sleep, **options)
    except (LDPError, OSError) as error:
        logger.error("the tick failed, and the next one tries again: %s", error)
        return None


def _essence(result: TickResult) -> tuple[Any, ...]:
    """What a tick says; the next one that says the same is not worth a line."""
    ran = [one for one in result.workflows for window in one.windows if window.result or window.error]
    return (
        result.overlapped,
        [one.file for one in result.problems],
        [(one.file, one.error) for one in result.workflows if one.error],
        [(one.file, w.window, w.next_try) for one in result.workflows for w in one.windows if w.next_try],
        result.now if ran else None,
    )


def _wait(
    folder: str | Path, began: datetime, longest: float, clock: Clock, options: dict[str, Any]
) -> float:
    """Seconds to the next tick: to the next fire since the last one began, at most as long as is said."""
    now = clock()
    wait = longest - (now - began).total_seconds()
    for one in discover(folder, options.get("env")).found:
        workflow = one.workflow
        if workflow.schedule is not None:
            fire = next_fire(workflow.schedule, workflow.zone, began)
            wait = min(wait, (fire - now).total_seconds())
    return max(wait, 0.0)


class _Stopping:
    """SIGTERM as ``Stop``, as long as the loop runs; remembers that it came."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        try:
            self._before = signal.signal(signal.SIGTERM, self._hear)
        except ValueError:  # not the main thread: whoever runs it there stops it
            return

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked = True
        raise Stop

    def look(self) -> None:
        """Stop, where the signal came and ``Stop`` got lost (see ``pause``)."""
        if self.asked:
            raise Stop

    def restore(self) -> None:
        """Give the signal back."""
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
