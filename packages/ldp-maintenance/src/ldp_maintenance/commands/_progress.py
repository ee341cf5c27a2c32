"""How far a run is, on a terminal: one line for the operation that works, with the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ldp_core._output import is_quiet

Report = Callable[[str, int, int, str], None]


@contextmanager
def reporting(*, wanted: bool | None, as_json: bool) -> Iterator[Report | None]:
    """A function that takes (operation, done, total, unit); None where nothing is drawn.

    Args:
        wanted: ``--progress`` or ``--no-progress``; None draws on a terminal.
        as_json: Whether the output is for a program.
    """
    import os

    on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    draw = wanted if wanted is not None else on_terminal and not as_json
    if not draw or is_quiet():
        yield None
        return
    if not on_terminal:
        yield _lines()
        return
    from ldp_core._progress import new_bar

    bar = new_bar()
    tasks: dict[str, Any] = {}

    def report(operation: str, done: int, total: int, unit: str) -> None:
        if operation not in tasks:
            for other in tasks.values():
                bar.update(other, visible=False)
            tasks[operation] = bar.add_task(operation, total=total, numbers="")
        bar.update(tasks[operation], total=total, completed=done, numbers=numbers(done, total, unit))

    with bar:
        yield report


def numbers(done: int, total: int, unit: str) -> str:
    """``3/12 files``, ``1.2 GB/4.0 GB``."""
    from ldp_core._progress import human_bytes

    if unit == "bytes":
        return f"{human_bytes(done)}/{human_bytes(total)}"
    return f"{done:,}/{total:,} {unit}"


def _lines() -> Report:
    """Lines on standard error for who asked for progress and has no terminal: one a tenth of the way."""
    import click

    said: dict[str, int] = {}

    def report(operation: str, done: int, total: int, unit: str) -> None:
        tenth = 10 * done // total if total else 10
        if said.get(operation, -1) < tenth:
            said[operation] = tenth
            click.echo(f"{operation}: {numbers(done, total, unit)}", err=True)

    return report
