"""The ledger of events: one JSON line an event, appended whole, in files of bounded size.

The file that is written is ``events.jsonl``. Where a line would make it larger than ``LIMIT`` it is first
renamed to ``events.1.jsonl``, the next one to ``events.2.jsonl``, and so on: a file that was set aside never
changes again, and none is ever removed. Readers go through all of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ldp_core.events.model import Event, Sink
from ldp_core.fs import local_path
from ldp_core.locks import file_lock
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

DEFAULT_PATH = ".ldp/events.jsonl"
LIMIT = 16 * 1024 * 1024
"""Bytes of one file of the ledger."""
_BLOCK = 64 * 1024
_LOCK_SECONDS = 30


class JsonlSink:
    """``type: jsonl``."""

    shape = Shape(
        keys=(
            Key("type", Text(), "jsonl."),
            Key("path", Text(), "The file; a relative one starts at the config.", default=DEFAULT_PATH),
        ),
        doc="Appends each event to a file as a line of JSON.",
    )

    def open(self, spec: Spec) -> Sink:
        """Appends events to the file.

        Raises:
            ConfigError: It is no file of this machine.
        """
        return _Ledger(local_path(spec.path(str(spec.get("path") or DEFAULT_PATH))).absolute())


@dataclass(frozen=True)
class _Ledger:
    path: Path

    def __call__(self, event: Event) -> None:
        append(self.path, event)

    def together(self, events: Sequence[Event]) -> None:
        """Take several events at once, which costs hardly more than one."""
        append(self.path, *events)


def append(path: Path, *events: Event, limit: int = LIMIT) -> None:
    """Append events as whole lines: one write under a lock, each on a line of its own.

    The folder is made. A line that a killed writer left half is ended first, so it spoils no other.

    Args:
        path: The file.
        events: What happened.
        limit: The bytes that the file may have; a larger one is set aside.

    Raises:
        OSError: The file cannot be written.
        CommitConflict: Another process held its lock for half a minute.
    """
    lines = b"".join(map(_line, events))
    path.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(
        path.with_name(f".{path.name}.lock"), what=f"the event file {path}", timeout=_LOCK_SECONDS
    ):
        _rotate(path, len(lines), limit)
        with path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    lines = b"\n" + lines
            file.write(lines)


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a ledger, oldest first; broken lines are left out, no file is no events."""
    for handle in parts(path):
        with handle:
            for line in handle:
                event = parsed(line)
                if event is not None:
                    yield event


def parts(path: Path) -> Iterator[IO[bytes]]:
    """The files of a ledger, oldest first, opened one after the other; whoever takes one closes it."""
    # The newest file is opened first: should it be set aside meanwhile, it is still read, and read once.
    current = _opened(path)
    for file in reversed(_older(path, current)):
        handle = _opened(file)
        if handle is not None:
            yield handle
    if current is not None:
        yield current


def read_back(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a ledger, newest first, read from its end: the first come without reading the rest."""
    yield from filter(None, map(parsed, lines_back(path)))


def lines_back(path: Path) -> Iterator[bytes]:
    """The lines of a ledger, newest first, read from its end; some may be broken or empty."""
    current = _opened(path)
    for file in (path, *_older(path, current)):
        handle = current if file is path else _opened(file)
        if handle is None:
            continue
        with handle:
            yield from _lines_back(handle)


def exists(path: Path) -> bool:
    """Whether there is a ledger."""
    return path.exists() or bool(_set_aside(path))


def _lines_back(file: IO[bytes]) -> Iterator[bytes]:
    position = file.seek(0, os.SEEK_END)
    rest = b""
    while position:
        step = min(_BLOCK, position)
        position -= step
        file.seek(position)
        lines = (file.read(step) + rest).split(b"\n")
        rest = lines[0]
        yield from reversed(lines[1:])
    yield rest


def _rotate(path: Path, more: int, limit: int) -> None:
    """Set the file aside where it has no room; called under its lock."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return
    if size and size + more > limit:
        last = max(_set_aside(path), default=0)
        path.rename(_numbered(path, last + 1))


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number}{path.suffix}")


def _set_aside(path: Path) -> list[int]:
    """The numbers of the files that were set aside."""
    pattern = re.compile(rf"{re.escape(path.stem)}\.(\d+){re.escape(path.suffix)}")
    try:
        names = [file.name for file in path.parent.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [int(found[1]) for name in names if (found := pattern.fullmatch(name))]


def _older(path: Path, current: IO[bytes] | None) -> list[Path]:
    """The files that were set aside, newest first, but for the one that is open already."""
    files = [_numbered(path, number) for number in sorted(_set_aside(path), reverse=True)]
    if current is None or not files:
        return files
    own = os.fstat(current.fileno())
    return [file for file in files if not os.path.samestat(own, file.stat())]


def _opened(path: Path) -> IO[bytes] | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def parsed(line: bytes) -> dict[str, Any] | None:
    """The event of a line; None where it is none."""
    if not line.strip():
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event_id" in event and "type" in event else None


SINK = JsonlSink()
