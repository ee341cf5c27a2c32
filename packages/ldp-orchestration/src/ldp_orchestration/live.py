"""A run of a workflow on a terminal: a line a task with its state, attempt, rows and time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ldp_core._output import say

from ldp_orchestration.model import GOOD, Retries, TaskMove, Workflow
from ldp_orchestration.telling import asides, task_line, trouble

if TYPE_CHECKING:
    from ldp_core.spi import Progress
    from rich.table import Table

_STYLES = {
    "running": "cyan",
    "waiting": "yellow",
    "pending": "dim",
    "failed": "red",
    "blocked_quality": "red",
}


@dataclass
class _Line:
    """What is known of a task by now."""

    state: str = "pending"
    attempt: int = 0
    rows: int | None = None
    started: float | None = None
    spent: float = 0.0


@dataclass
class _Steps:
    """A progress that counts the rows of a task."""

    line: _Line

    @contextmanager
    def step(
        self, what: str, *, total_bytes: int | None = None, total_rows: int | None = None
    ) -> Iterator[Callable[[int, int], None]]:
        """Begin a step; the rows that it reports are shown."""
        del what, total_bytes, total_rows

        def report(rows: int, size: int) -> None:
            del size
            self.line.rows = rows

        yield report


@dataclass
class Plain:
    """Lines: how each task ended on standard output, troubles on standard error.

    Attributes:
        retries: Of each task, to say whether it is tried again.
        quiet: Print troubles alone, such as where a program reads the result.
        console: The terminal that a live view draws on.
    """

    retries: Mapping[str, Retries]
    quiet: bool = False
    console: Any = None

    def on_task(self, move: TaskMove) -> None:
        """Tell what happened to a task."""
        if move.outcome is not None and (text := trouble(move.outcome, self.retries[move.id])):
            self.complain("error", text)
        for text in asides(move):
            self.complain("warning", text)
        if move.outcome is not None:
            self.ended(move)

    def complain(self, word: str, text: str) -> None:
        """Print a trouble."""
        import click

        click.echo(f"ldp: {word}: {text}", err=True)

    def ended(self, move: TaskMove) -> None:
        """Print how a task ended."""
        if not self.quiet and move.outcome is not None:
            say(task_line(move.outcome))

    def progress(self, task: str) -> Progress:
        """Where the long steps of a task report: nowhere."""
        from ldp_core._progress import SILENT

        del task
        return SILENT


@dataclass
class Live(Plain):
    """The same on a terminal: a table that changes as the tasks do, troubles above it."""

    lines: dict[str, _Line] = field(default_factory=dict)

    def on_task(self, move: TaskMove) -> None:
        """Take what happened to a task into the table."""
        line = self.lines[move.id]
        now = time.monotonic()
        line.started = line.started or now
        line.state, line.attempt, line.spent = move.state, move.attempt, now - line.started
        if move.outcome is not None:
            line.state, line.spent, line.started = move.outcome.status, move.outcome.duration_s, None
            done = move.outcome.result
            line.rows = done.rows_written if done is not None else line.rows
        super().on_task(move)

    def complain(self, word: str, text: str) -> None:
        """Print a trouble above the table."""
        self.console.print(f"ldp: {word}: {text}", markup=False, highlight=False, soft_wrap=True)

    def ended(self, move: TaskMove) -> None:
        """The table tells it; the lines are printed when it goes away."""

    def progress(self, task: str) -> Progress:
        """Counts the rows of a task in its line."""
        return _Steps(self.lines[task])

    def table(self) -> Table:
        """The tasks as they are now."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for name in ("task", "state"):
            table.add_column(name)
        for name in ("attempt", "rows", "time"):
            table.add_column(name, justify="right")
        for name, line in self.lines.items():
            spent = line.spent if line.started is None else time.monotonic() - line.started
            table.add_row(
                Text(name),
                Text(line.state, style="green" if line.state in GOOD else _STYLES.get(line.state, "")),
                str(line.attempt or ""),
                "" if line.rows is None else f"{line.rows:,}",
                f"{spent:.1f} s" if line.attempt else "",
            )
        return table


@contextmanager
def watching(workflow: Workflow, order: list[str], *, quiet: bool) -> Iterator[Plain]:
    """Show a run while it lasts: live where standard error is a terminal that can move its cursor.

    Args:
        workflow: What is run.
        order: Its tasks in the order in which they are shown.
        quiet: Print troubles alone.
    """
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield Plain(workflow.retries, quiet)
        return
    from rich.console import Console
    from rich.live import Live as Screen

    console = Console(stderr=True)
    view = Live(workflow.retries, quiet, console, {name: _Line() for name in order})
    with Screen(
        get_renderable=view.table,
        console=console,
        refresh_per_second=8,
        transient=True,
        redirect_stdout=False,
    ):
        yield view
