"""The options of commands that work on one window of a config."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--window",
        metavar="W",
        help="START/END (ISO 8601, in the config's time zone), yesterday, last-week or last-month.",
    ),
    click.option(
        "--idempotency-key", metavar="KEY", help="A key in place of the window's, to load a window once more."
    ),
    click.option("--run-id", metavar="ID", help="The run: a uuid or any text; made when it is not given."),
    click.option(
        "--attempt",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="The attempt of the run; a later one keeps all earlier ones from publishing.",
    ),
    click.option(
        "--overlap",
        type=click.Choice(["refuse", "allow"]),
        help="Whether an append may load a window that overlaps a published one, above the config's own.",
    ),
    click.option("--adopt", is_flag=True, help="Take over what another config published under the same key."),
)


def window_options(command: F) -> F:
    """``--window``, ``--idempotency-key``, ``--run-id``, ``--attempt``, ``--overlap`` and ``--adopt``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
