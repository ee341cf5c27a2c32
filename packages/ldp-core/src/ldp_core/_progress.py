"""How long steps show that they live: a bar on a terminal's standard error, nothing elsewhere.

A command calls ``ldp_core._output.progress()``; a Python caller gets ``SILENT``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ldp_core.spi import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


class Silent:
    """A progress that shows nothing."""

    @contextmanager
    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> Iterator[Callable[[int, int], None]]:
        """Begin a step that nobody sees."""
        del what, total_bytes, total_rows
        yield _ignore


class Terminal:
    """A progress that draws one line a step on standard error: rows, bytes, rate, time left."""

    @contextmanager
    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> Iterator[Callable[[int, int], None]]:
        """Begin a step; its line goes away when the step ends.

        Args:
            what: A word or two, such as ``reading rides.csv``.
            total_bytes: What the bytes told to the yielded function will come to, where known.
            total_rows: The same for rows; bytes win where both are known.
        """
        bar = new_bar()
        task = bar.add_task(what, total=total_bytes or total_rows, numbers="")
        by_bytes = bool(total_bytes) or not total_rows

        def report(rows: int, size: int) -> None:
            speed = bar.tasks[0].speed
            bar.update(
                task, completed=size if by_bytes else rows, numbers=_numbers(rows, size, speed, by_bytes)
            )

        with bar:
            yield report


SILENT: Progress = Silent()
"""For callers that draw nothing."""


def terminal_progress(*, quiet: bool = False) -> Progress:
    """A drawing progress when standard error is a terminal that can move its cursor, else a silent one."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return SILENT
    return Terminal()


def human_bytes(size: float) -> str:
    """A size in bytes as a few characters: ``914 MB`` (powers of 1000)."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def new_bar() -> RichProgress:
    """One transient line: what, bar, numbers, time left. ``NO_COLOR`` is rich's own to obey."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[numbers]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=8,
    )


def _numbers(rows: int, size: int, speed: float | None, by_bytes: bool) -> str:
    """Rows, bytes and rate, those that are known."""
    parts = []
    if rows:
        parts.append(f"{rows:,} rows")
    if size:
        parts.append(human_bytes(size))
    if speed:
        parts.append(f"{human_bytes(speed)}/s" if by_bytes else f"{speed:,.0f} rows/s")
    return "  ".join(parts)


def _ignore(rows: int, size: int) -> None:
    """Take a report and do nothing."""
    del rows, size
