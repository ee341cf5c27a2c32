"""File locks: one holder at a time on this machine, freed by the system when the holder dies."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldp_core.errors import CommitConflict

logger = logging.getLogger("ldp_core")
PATIENCE = 5.0
"""Seconds of waiting after which somebody who watches is told why nothing happens."""


@contextmanager
def file_lock(path: Path, *, what: str, timeout: float = 300) -> Iterator[None]:
    """Hold a lock file; its folder is made.

    Args:
        path: The lock file. It stays behind: removing it would let two holders in.
        what: What is locked, for the message: ``table nyc.rides``.
        timeout: Seconds to wait for another holder.

    Raises:
        CommitConflict: Another process held it for the whole time.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(path))
    try:
        try:
            lock.acquire(timeout=min(timeout, PATIENCE))
        except Timeout:
            if timeout <= PATIENCE:
                raise
            logger.warning("%s is being written by another process; waiting for up to %g s", what, timeout)
            lock.acquire(timeout=timeout - PATIENCE)
    except Timeout as error:
        raise CommitConflict(
            f"{what} is being written by another process for more than {timeout:g} s",
            hint=f"wait for it to end; its lock is {path}",
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file if nobody else does, without waiting; gives whether it is held now.

    Args:
        path: The lock file; its folder is made, and it stays behind.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(path))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
