"""Work side by side in threads, which an interrupt of the main thread stops soon and whole."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from ldp_core._signals import stop_threads
from ldp_core.errors import Interrupted

T = TypeVar("T")
_STEP = 0.05
"""Seconds between two calls to engines to stop what they are doing."""
_LOOK = 0.2
"""Seconds between two looks whether the whole is to stop."""


@dataclass
class Workers(Generic[T]):
    """Threads that each do one piece of work; used as a context.

    When an error or an interrupt leaves the block they are stopped first: a thread that is about to publish
    finishes that, and nothing else of it takes effect.

    Attributes:
        above: Looks whether the whole is to stop, for work that is itself a part of work side by side.
        stopping: Set when no more work is to begin; work that waits looks at it.
        running: How many have not ended.
    """

    above: Callable[[], object] | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    _ended: queue.SimpleQueue[tuple[T | None, BaseException | None]] = field(
        default_factory=queue.SimpleQueue
    )
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self.stop()

    def start(self, work: Callable[[], T]) -> None:
        """Begin a piece of work in a thread of its own."""

        def run() -> None:
            try:
                self._ended.put((work(), None))
            except BaseException as error:
                self._ended.put((None, error))

        # Daemons: after a second interrupt the process ends without them, and nothing of theirs is published.
        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        self.running += 1
        thread.start()

    def ended(self) -> T:
        """Wait for the next piece of work that ends; gives what it gave, raises what it raised."""
        result, error = self._next()
        self.running -= 1
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        if error is not None:
            raise error
        return result  # type: ignore[return-value]

    def _next(self) -> tuple[T | None, BaseException | None]:
        while self.above is not None:
            self.above()
            try:
                return self._ended.get(timeout=_LOOK)
            except queue.Empty:
                continue
        return self._ended.get()

    def left(self) -> list[T]:
        """What the work gave that ended well and that nobody asked for, once all of it was stopped."""
        found = []
        while not self._ended.empty():
            result, error = self._ended.get()
            if error is None:
                found.append(result)
        return found  # type: ignore[return-value]

    def look(self) -> None:
        """Raise where the work is to stop.

        Raises:
            Interrupted: It is.
        """
        if self.above is not None:
            self.above()
        if self.stopping.is_set():
            raise Interrupted("the run was interrupted")

    def stop(self) -> None:
        """Interrupt what the engines of the threads are doing until all of them have ended."""
        self.stopping.set()
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            stop_threads([thread.ident for thread in alive if thread.ident is not None])
            alive[0].join(_STEP)


def side_by_side(work: Iterator[Callable[[], T]], jobs: int) -> Generator[T]:
    """Results of pieces of work that do not need each other, as they end, at most ``jobs`` at a time.

    Args:
        work: The pieces; the next one is asked for when there is room for it.
        jobs: How many threads.
    """
    made: Workers[T] = Workers()
    with made:
        more = True
        while more or made.running:
            while more and made.running < jobs:
                piece = next(work, None)
                more = piece is not None
                if piece is not None:
                    made.start(piece)
            if made.running:
                yield made.ended()
