"""Reading a ledger of events on from where it was left: what was read once is not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from ldp_core.events.jsonl import parts

_HEAD = 64
"""Bytes that tell one file of a ledger from all others: the id of its first event is among them."""


class Follower:
    """Reads the lines of a ledger that were added since it was asked last.

    Args:
        path: The file that is written; those that were set aside are read before it.
        keep: Which lines are wanted.
    """

    def __init__(self, path: Path, keep: Callable[[bytes], bool]) -> None:
        self.path = path
        self._keep = keep
        self._read: dict[bytes, int] = {}

    def lines(self) -> tuple[bool, list[bytes]]:
        """Whether the ledger is another one than before, and the lines that are new, oldest first.

        Of a line that a writer has not ended yet, nothing is given.
        """
        with ExitStack() as stack:
            found: dict[bytes, IO[bytes]] = {}
            for file in parts(self.path):
                stack.enter_context(file)
                found.setdefault(file.read(_HEAD), file)
            found.pop(b"", None)
            anew = not self._follows(found)
            if anew:
                self._read = {}
            return anew, [line for head, file in found.items() for line in self._more(head, file)]

    def _follows(self, found: dict[bytes, IO[bytes]]) -> bool:
        """Whether what was read is still there."""
        return all(head in found and _size(found[head]) >= end for head, end in self._read.items())

    def _more(self, head: bytes, file: IO[bytes]) -> Iterator[bytes]:
        at = file.seek(self._read.get(head, 0))
        for line in file:
            if not line.endswith(b"\n"):
                break
            at += len(line)
            if self._keep(line):
                yield line
        if at:
            self._read[head] = at


def _size(file: IO[bytes]) -> int:
    return file.seek(0, 2)
