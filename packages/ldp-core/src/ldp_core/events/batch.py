"""Several runs of one process as one batch: sinks that hold events back let them go once, at its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

logger = logging.getLogger("ldp_core")

Flush = Callable[[], None]
_lock = Lock()
_depth = 0
_waiting: dict[Flush, str] = {}


@contextmanager
def batched() -> Iterator[None]:
    """Runs inside are one batch. What a sink cannot write at its end is one warning in the log."""
    global _depth
    with _lock:
        _depth += 1
    try:
        yield
    finally:
        for flush, name in _leave():
            try:
                flush()
            except Exception as error:
                logger.warning("events do not reach the sink %s: %s", name, error)


def later(name: str, flush: Flush) -> bool:
    """Leave a flush to the end of the batch; False where there is none.

    Args:
        name: The sink.
        flush: Lets its events go; the same one is called once.
    """
    with _lock:
        if _depth:
            _waiting[flush] = name
        return _depth > 0


def _leave() -> list[tuple[Flush, str]]:
    global _depth
    with _lock:
        _depth -= 1
        if _depth:
            return []
        ready = list(_waiting.items())
        _waiting.clear()
        return ready
