"""Short steps that an interrupt may not cut in two, and long ones that it must."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class _Asked:
    """Whether the process was asked to stop.

    A KeyboardInterrupt may get lost: a library takes it for an error of its own when it comes while that is
    imported.
    """

    came = False


def asked_to_stop() -> bool:
    """Whether SIGINT or SIGTERM came since the command began, as far as a command listens."""
    return _Asked.came


def remember(came: bool) -> None:
    """Note that a signal to stop came, or, when a command begins, that none did."""
    _Asked.came = came


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back the first SIGINT or SIGTERM until the block is left; a second one breaks in.

    Only the main thread takes signals in Python; in any other the block runs as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _NUMBERS}
    try:
        for number in _NUMBERS:
            signal.signal(number, hold)
        yield
    finally:
        for number, handler in before.items():
            # None is a handler that was not set from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


@contextmanager
def heard(stop: Callable[[], object]) -> Iterator[None]:
    """Call ``stop`` as soon as SIGINT or SIGTERM comes: Python's own handler waits until the engine returns.

    Nothing happens where somebody listens already. Signals do not reach a thread other than the main one:
    there ``stop`` is called by ``stop_threads``.
    """
    if threading.current_thread() is not threading.main_thread():
        with _hearing(threading.get_ident(), stop):
            yield
        return
    import socket

    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    if before != -1:
        signal.set_wakeup_fd(before)

    def listen() -> None:
        while number := ear.recv(1)[0]:
            if number in _NUMBERS:
                stop()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        if before == -1:
            signal.set_wakeup_fd(-1)
        mouth.send(b"\0")
        listener.join()
        ear.close()
        mouth.close()


_in_threads: dict[int, list[Callable[[], object]]] = {}
_lock = threading.Lock()


@contextmanager
def _hearing(thread: int, stop: Callable[[], object]) -> Iterator[None]:
    with _lock:
        _in_threads.setdefault(thread, []).append(stop)
    try:
        yield
    finally:
        with _lock:
            _in_threads[thread].remove(stop)
            if not _in_threads[thread]:
                del _in_threads[thread]


def stop_threads(threads: Collection[int]) -> None:
    """Interrupt what the engines of some threads are doing now; what they begin next is not touched.

    Args:
        threads: The idents of threads other than the main one.
    """
    with _lock:  # an engine is closed after it has left the list, so none is interrupted that is gone
        for thread in threads:
            for stop in _in_threads.get(thread, ()):
                stop()
