"""What the engine says when the machine is the trouble and not the data: no room, no memory, no right."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

from ldp_core.errors import LDPError

REMEDIES = {
    errno.ENOSPC: "make room and run it again",
    errno.EDQUOT: "make room and run it again",
    errno.EACCES: "let this user read and write there",
    errno.EPERM: "let this user read and write there",
    errno.EROFS: "write to another place, or make this one writable",
    errno.EISDIR: "move the folder away that stands in a file's place",
    errno.ENOTDIR: "move the file away that stands in a folder's place",
    errno.EFBIG: "let files grow larger there (ulimit -f), or write to another place",
    errno.EIO: "look at the disk, then run it again",
    errno.EMFILE: "let the process open more files (ulimit -n)",
    errno.ENFILE: "let the system open more files",
}
"""What to do about errors of the file system that no command foresees."""
_NUMBERS = {os.strerror(number): number for number in REMEDIES}
_PLACE = re.compile(r'"(?P<place>.+)": (?P<why>[^"]+)$')
_NESTED = '{"exception_type"'
_MEMORY = "Out of Memory Error: "


def file_error(number: int, place: str = "") -> LDPError:
    """An error of the file system: what, where and what to do.

    Args:
        number: One of ``REMEDIES``.
        place: The file or the folder; empty where nobody said.
    """
    why = os.strerror(number)
    text = f"{why[:1].lower()}{why[1:]}{f': {place}' if place else ''}"
    return LDPError(text, hint=REMEDIES[number], retriable=True)


def words(error: Exception) -> str:
    """The first line of what DuckDB says, without the JSON that it wraps the errors of its threads in."""
    text = str(error).strip()
    while (at := text.find(_NESTED)) >= 0:
        try:
            inner = json.JSONDecoder().raw_decode(text, at)[0]
            text = str(inner["exception_message"])
            if inner["exception_type"] == "Out of Memory":
                text = _MEMORY + text
        except (ValueError, KeyError):
            break
    return (text.splitlines() or [""])[0]


def trouble(error: Exception, spill: Path | str | None = None) -> LDPError | None:
    """An error of DuckDB that tells of the machine, with the place and what to do; None for any other.

    Args:
        error: It.
        spill: The folder that the engine spills into; that of the system by default.
    """
    said = words(error)
    if type(error).__name__ == "OutOfMemoryException" or said.startswith(_MEMORY):
        return _memory(str(error), said.removeprefix(_MEMORY), spill)
    of_files = type(error).__name__ == "IOException" or _NESTED in str(error)
    found = _PLACE.search(said) if of_files else None  # a value in the data may read like that too
    number = _NUMBERS.get(found["why"]) if found else None
    return file_error(number, found["place"]) if found and number is not None else None


def _memory(text: str, said: str, spill: Path | str | None) -> LDPError:
    if "max_temp_directory_size" not in text:
        return LDPError(f"the engine ran out of memory: {said}", hint="raise --memory-limit")
    import tempfile

    return LDPError(
        f"no room to spill rows into {spill or tempfile.gettempdir()}: {said.removesuffix('.')}",
        hint="make room there or raise --memory-limit; TMPDIR names another folder",
        retriable=True,
    )
