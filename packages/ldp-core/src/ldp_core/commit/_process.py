"""Telling whether the process that staged files is still alive."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


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
