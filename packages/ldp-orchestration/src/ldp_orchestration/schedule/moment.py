"""The moment that a tick, a list or a status is about, and whether a window in back-off waits at it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Any

from ldp_core.clock import Clock
from ldp_core.config.catalogs import FILE
from ldp_core.errors import LDPError
from ldp_core.window import Window
from ldp_core.window.model import instant
from ldp_core.window.parse import moment

from ldp_orchestration.backoff import next_try, waits
from ldp_orchestration.history import WindowRun
from ldp_orchestration.model import FAILED, Workflow

_MOST_FILES = 10_000
"""Of a folder with more files, that many are looked at."""


@dataclass(frozen=True)
class Moment:
    """A moment.

    Attributes:
        now: What is asked about: fires up to it have come.
        present: The time by the clock. The two differ where somebody asks about another day.
    """

    now: datetime
    present: datetime

    @classmethod
    def of(cls, now: datetime | str | None, clock: Clock) -> Moment:
        """The moment that somebody asked about; the present one where that is None.

        Raises:
            ConfigError: It is no moment.
        """
        present = clock().astimezone(UTC)
        return cls(present if now is None else moment(now, "now", "UTC"), present)


def told_of(workflow: Workflow, window: Window, at: Moment) -> dict[str, Any]:
    """What a tick tells of itself when a run begins: read back by ``waits_until``."""
    return {"tick": {"now": instant(at.now), "inputs": fingerprint(inputs(workflow, window))}}


def waits_until(workflow: Workflow, window: Window, run: WindowRun | None, at: Moment) -> datetime | None:
    """Until when a tick leaves a window alone because it keeps failing; None where it may run.

    The wait is over when it has passed by the clock, or between the moments that the ticks were asked about,
    or when a file that the window depends on is another one than it was when the last run began. That is seen
    by size and time of change as they were then, so it does not matter whose clock a file's time is from. Of
    a run that no tick began nothing was kept: a file counts as changed that is newer than the run's begin.
    """
    if run is None or run.status != FAILED or run.started is None or run.started > at.present:
        return None
    by_clock = next_try(run.failures, run.started)
    if not waits(by_clock, at.present):
        return None
    asked = _moment(run.tick.get("now"))
    if asked is not None:
        by_moment = next_try(run.failures, asked)
        if asked <= at.now and not waits(by_moment, at.now):
            return None
        if asked <= at.now and at.now != at.present:
            by_clock = by_moment
    return None if _changed(workflow, window, run) else by_clock


def _changed(workflow: Workflow, window: Window, run: WindowRun) -> bool:
    files = inputs(workflow, window)
    known = run.tick.get("inputs")
    if known is not None:
        return bool(fingerprint(files) != known)
    begun = run.started.timestamp() if run.started else 0.0
    return any(mtime >= begun for _, _, mtime in _stats(files))


def inputs(workflow: Workflow, window: Window) -> list[str]:
    """The files on this machine that a run of a window depends on."""
    found = [str(workflow.path)]
    for opened in workflow.opened.values():
        try:
            found += opened.inputs(window)
        except LDPError:
            continue
    above = {folder for name in found for folder in (Path(name).parent, *Path(name).parents)}
    found += [str(folder / FILE) for folder in above]
    return sorted(set(found))


def fingerprint(files: Iterable[str]) -> str:
    """Changes whenever one of the files does, comes or goes."""
    digest = hashlib.sha256()
    for name, size, mtime in _stats(files):
        digest.update(f"{name}\0{size}\0{mtime!r}\n".encode())
    return digest.hexdigest()[:16]


def _stats(files: Iterable[str]) -> Iterator[tuple[str, int, float]]:
    """Path, size and time of change of every file that is there; a folder stands for what is in it."""
    for name in files:
        for file in _named(Path(name)):
            try:
                stat = file.stat()
            except OSError:
                continue
            yield str(file), stat.st_size, stat.st_mtime


def _named(path: Path) -> Iterator[Path]:
    """The files that a path stands for: a folder for those within, a pattern for those that it fits."""
    if path.is_dir():
        yield from islice((file for file in sorted(path.rglob("*")) if file.is_file()), _MOST_FILES)
    elif has_magic(str(path)) and not path.exists():
        root = Path(path.anchor)
        yield from islice(sorted(root.glob(str(path.relative_to(root)))), _MOST_FILES)
    else:
        yield path


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
