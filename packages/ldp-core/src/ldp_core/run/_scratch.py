"""The folder of one run for what it needs on the way: spilled rows, files that are not in their place yet.

A killed run leaves its folder, which can be as large as its batch. The folder's name tells the machine, the
process and when that started, so the next run can remove those whose process is known dead.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldp_core.commit import _process

_NAME = re.compile(r"^ldp-run-(?P<host>[0-9a-f]{12})-(?P<pid>\d+)-(?P<started>[0-9a-f]{12})-")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder below the system's temporary one, removed in the end; those of dead runs go first."""
    sweep_scratch()
    pid = _process.pid()
    prefix = f"ldp-run-{_digest(_process.host())}-{pid}-{_digest(_process.started(pid))}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def sweep_scratch() -> int:
    """Remove the folders of runs whose process is known dead; returns how many."""
    removed = 0
    here = _digest(_process.host())
    for folder in Path(tempfile.gettempdir()).glob("ldp-run-*"):
        name = _NAME.match(folder.name)
        if name is None or name["host"] != here:
            continue
        if _digest(_process.started(int(name["pid"]))) != name["started"]:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
