"""The ledger of events: one JSON line an event, appended whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ldp_core.events.model import Event, Sink
from ldp_core.locks import file_lock
from ldp_core.shape import Key, Shape, Text
from ldp_core.spi import Spec

DEFAULT_PATH = ".ldp/events.jsonl"
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
        """A function that appends one event."""
        path = Path(spec.path(str(spec.get("path") or DEFAULT_PATH)))

        def write(event: Event) -> None:
            append(path, event)

        return write


def append(path: Path, event: Event) -> None:
    """Append one event as a whole line: one write under a lock, on a line of its own.

    The folder is made. A line that a killed writer left half is ended first, so it spoils no other.

    Raises:
        OSError: The file cannot be written.
        CommitConflict: Another process held its lock for half a minute.
    """
    line = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f".{path.name}.lock")
    with file_lock(lock, what=f"the event file {path}", timeout=_LOCK_SECONDS), path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file, oldest first; broken lines are left out, no file is no events."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            event = _event(line)
            if event is not None:
                yield event


def read_back(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file, newest first, read from its end: the first ones come without reading the rest."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        position = file.seek(0, os.SEEK_END)
        rest = b""
        while position:
            step = min(_BLOCK, position)
            position -= step
            file.seek(position)
            lines = (file.read(step) + rest).split(b"\n")
            rest = lines[0]
            for line in reversed(lines[1:]):
                event = _event(line)
                if event is not None:
                    yield event
        event = _event(rest)
        if event is not None:
            yield event


def _event(line: bytes) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event_id" in event and "type" in event else None


SINK = JsonlSink()
