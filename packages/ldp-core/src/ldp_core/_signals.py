"""Short steps that an interrupt may not cut in two, and long ones that it must."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


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

    Nothing happens in a thread other than the main one, nor where somebody listens already.
    """
    if threading.current_thread() is not threading.main_thread():
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
