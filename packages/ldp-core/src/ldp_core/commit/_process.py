"""Telling whether the process that staged files is still alive."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path

_MARK = re.compile(r"(?P<host>[0-9a-f]{12})-(?P<pid>\d+)-(?P<started>[0-9a-f]{12})")


def pid() -> int:
    """This process."""
    return os.getpid()


def host() -> str:
    """A name for this machine since its last boot, and for the space its process ids belong to."""
    parts = [platform.node()]
    for place in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id"):
        try:
            parts.append(Path(place).read_text().strip())
            break
        except OSError:
            continue
    try:
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    except OSError:
        parts.append("")
    return "/".join(parts)


def started(process: int) -> str:
    """When a process started, in the system's own words; empty where it does not run."""
    try:
        # Field 22 of proc(5) stat: clock ticks after boot. The command's name may hold spaces and ')'.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return _started_by_ps(process) if not Path("/proc/self/stat").exists() else ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def is_dead(host_name: str, process: int, start: str) -> bool:
    """Whether a process is known dead: it ran on this machine and does not any more."""
    return host_name == host() and started(process) != start


def mark() -> str:
    """This process in a form that a file's name can carry; ``mark_is_dead`` reads it."""
    return f"{_digest(host())}-{pid()}-{_digest(started(pid()))}"


def half_name() -> str:
    """What stands before the name of a file that this process is writing."""
    return f".half-{mark()}-"


def is_dead_half(uri: str) -> bool:
    """Whether a file is half written, by a process that is known dead."""
    name = uri.rsplit("/", 1)[-1]
    return name.startswith(".half-") and mark_is_dead(name)


def mark_is_dead(text: str) -> bool:
    """Whether the process of a mark, anywhere in a text, is known dead."""
    found = _MARK.search(text)
    if found is None or found["host"] != _digest(host()):
        return False
    return _digest(started(int(found["pid"]))) != found["started"]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _started_by_ps(process: int) -> str:
    try:
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(process)],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip()
