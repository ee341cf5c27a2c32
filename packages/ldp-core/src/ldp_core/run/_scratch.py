"""The folder of one run for what it needs on the way: spilled rows, files that are not in their place yet.

A killed run leaves its folder, which can be as large as its batch. The folder's name tells the machine, the
process and when that started, so the next run can remove those whose process is known dead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldp_core._signals import uninterrupted
from ldp_core.commit import _process

_PREFIX = "ldp-run-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder below the system's temporary one, removed in the end; those of dead runs go first."""
    import shutil
    import tempfile

    sweep_scratch()
    folder: Path | None = None
    try:
        with uninterrupted():
            folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{_process.mark()}-"))
        yield folder
    finally:
        if folder is not None:
            with uninterrupted():
                shutil.rmtree(folder, ignore_errors=True)


def sweep_scratch() -> int:
    """Remove the folders of runs whose process is known dead; returns how many."""
    import shutil
    import tempfile

    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _process.mark_is_dead(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed
