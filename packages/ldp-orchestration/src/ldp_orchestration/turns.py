"""The order in which windows that run side by side publish: that in which they run one at a time.

Reading, checking and writing of files go on at the same time; what becomes visible of a task becomes visible
window by window. So each load meets the table that it would meet if windows ran one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

_STEP = 0.2
"""Seconds between two looks whether the whole is to stop."""


class Turns:
    """Who has ended what; shared by the threads of the windows.

    Args:
        tasks: The tasks of each window.
    """

    def __init__(self, tasks: Collection[str]) -> None:
        self._tasks = frozenset(tasks)
        self._ended: dict[str, set[int]] = {name: set() for name in tasks}
        self._first: dict[str, int] = dict.fromkeys(tasks, 0)
        self._changed = threading.Condition()

    def wait(self, window: int, task: str, look: Callable[[], object]) -> None:
        """Wait until a task has ended in all windows before one.

        Args:
            window: The place of the window, from 0.
            task: The task.
            look: Called now and then; what it raises ends the wait.
        """
        with self._changed:
            while self._first[task] < window:
                self._changed.wait(_STEP)
                look()

    def ended(self, window: int, task: str | None = None) -> None:
        """A task of a window has ended; all of them, where none is named."""
        with self._changed:
            for name in self._tasks if task is None else (task,):
                ended = self._ended[name]
                ended.add(window)
                while self._first[name] in ended:
                    ended.discard(self._first[name])
                    self._first[name] += 1
            self._changed.notify_all()
