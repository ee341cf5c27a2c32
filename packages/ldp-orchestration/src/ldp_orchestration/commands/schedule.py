"""``ldp schedule``: what is due is run, and what is scheduled is shown, with no service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from ldp_core._output import env_option, json_option, memory_option, note, print_json, say

from ldp_orchestration.commands._options import jobs_option, max_windows_option

if TYPE_CHECKING:
    from ldp_core.window import Window

    from ldp_orchestration.model import TaskMove
    from ldp_orchestration.schedule.ticked import TickResult

now_option = click.option(
    "--now", metavar="T", help="The moment that it is about, in UTC; the present one by default."
)
force_option = click.option("--force", is_flag=True, help="Run windows that keep failing without waiting.")
many_windows = max_windows_option(
    "How many windows of each file may run; the others are left to the next tick."
)
many_jobs = jobs_option(
    "How many windows of a catch-up, or else tasks of a window, may run at the same time."
)
folder_argument = click.argument("folder", metavar="DIR")


@click.group(short_help="Run what is due, with no service.")
def schedule() -> None:
    """Run and show what is scheduled under a folder.

    A workflow file or a dataset config is scheduled when it has a metadata.schedule, or a `when` such as
    daily. cron, launchd, systemd or the Windows Task Scheduler calls `ldp schedule tick`; `install` prints
    how. `ldp schedule run` does without them, in a container.
    """


@schedule.command(short_help="Run every window that is due and not done.")
@folder_argument
@now_option
@many_windows
@force_option
@many_jobs
@env_option
@memory_option
@json_option
def tick(folder: str, as_json: bool, **options: Any) -> int:
    """Run every window that is due and not done, of every scheduled file under DIR, and end.

    A window that failed, that a gate blocked or that was cut short is carried on as the next attempt of its
    run. One that keeps failing is left alone for 5, 10, 20 ... minutes, a day at most, unless its config or
    its source changes. One tick at a time: where another runs, this one does nothing and exits with 0.

    The exit code is 1 when a window failed (or waits because it did), a workflow could not be ticked or a
    file is not valid, and 3 when data gates are the only problem.
    """
    from ldp_core.errors import Interrupted

    from ldp_orchestration.schedule.tick import tick as run

    try:
        result = run(folder, **options, on_task=_hear, **({} if as_json else _listeners()))
    except (KeyboardInterrupt, Interrupted):
        note("The next tick goes on where this one stopped")
        raise
    if as_json:
        _complain(result)
        print_json(result.to_dict())
    else:
        tell(result)
    return result.exit_code


@schedule.command("list", short_help="Show what is scheduled, due and missed.")
@folder_argument
@now_option
@max_windows_option("How many missed windows of each file are named, the oldest first.")
@env_option
@json_option
def list_(folder: str, now: str | None, max_windows: int, env: str | None, as_json: bool) -> int:
    """Show the scheduled files under DIR: next fire, last window, what is due, and what was missed.

    A window was missed when its time has come, it is not done, and no tick will run it; the command that
    fills it is printed with it. At most --max-windows of them are named, the oldest first. Takes no lock and
    writes nothing. The exit code is 1 when a file is not valid.
    """
    from ldp_orchestration.schedule.listing import list_scheduled
    from ldp_orchestration.schedule.telling import invalid_lines

    found = list_scheduled(folder, now=now, max_windows=max_windows, env=env)
    if as_json:
        print_json(found.to_dict())
        return found.exit_code
    for one in found.scheduled:
        for line in one.lines():
            say(line)
    for line in invalid_lines(found.problems):
        click.echo(f"ldp: error: {line}", err=True)
    if not found.scheduled and not found.problems:
        note(f"Nothing is scheduled under {folder}: a file needs metadata.schedule")
    return found.exit_code


@schedule.command(short_help="Tick in the foreground, for a container.")
@folder_argument
@click.option(
    "--every", metavar="TIME", default="60s", show_default=True, help="The longest wait between two ticks."
)
@many_windows
@many_jobs
@env_option
@memory_option
def run(folder: str, every: str, **options: Any) -> int:
    """Tick at each fire, and at least once in every TIME (such as 30s or 5m), until it is stopped.

    A line is printed for each tick that has something to say. SIGTERM ends it with exit code 0, since that is
    how a supervisor stops it: a window that is cut short is carried on by the next tick. SIGINT ends it with
    130, as everywhere. A tick that fails does not end it.
    """
    from ldp_orchestration.schedule.loop import run_until_stopped

    return run_until_stopped(folder, every, tell=tell, **options, on_task=_hear, **_listeners())


@schedule.command(short_help="Print how the system calls the tick.")
@folder_argument
@click.option(
    "--print",
    "kind",
    required=True,
    type=click.Choice(("cron", "launchd", "systemd", "windows")),
    help="The scheduler of the system.",
)
@click.option("--ldp", metavar="PATH", help="The ldp to call; the one that runs now by default.")
def install(folder: str, kind: str, ldp: str | None) -> int:
    """Print the recipe with which the system calls `ldp schedule tick DIR` every five minutes.

    Nothing is installed: the recipe begins with a comment that says where it goes.
    """
    from pathlib import Path

    from ldp_core.errors import ConfigError

    from ldp_orchestration.recipes import recipe
    from ldp_orchestration.schedule.executable import executable

    if not Path(folder).is_dir():
        raise ConfigError(f"{folder} is no folder")
    click.echo(recipe(kind, Path(folder).absolute(), executable(ldp)), nl=False)
    return 0


def _listeners() -> dict[str, Any]:
    """What a tick tells while it runs."""
    from ldp_orchestration.schedule.telling import again, errors_of

    def on_window(file: str, window: Any) -> None:
        say(f"{file}: {window.window}  {window.outcome}")
        for line in errors_of(window):
            click.echo(f"ldp: error: {file}: {line}", err=True)
        if text := again(window):
            note(f"{file}: {window.window}: {text}")

    return {"on_window": on_window, "on_note": lambda file, text: note(f"{file}: {text}")}


def _hear(file: str, window: Window, move: TaskMove) -> None:
    """An attempt that another one follows, and warnings: a tick that only waits for it must not be silent."""
    from ldp_orchestration.telling import asides

    for text in asides(move):
        click.echo(f"ldp: warning: {file}: {window}: {text}", err=True)


def tell(result: TickResult) -> None:
    """The end of a tick, for people."""
    from ldp_orchestration.schedule.telling import summary, waiting_lines

    if result.overlapped:
        note(f"Another tick is running: it holds {result.lock}; nothing was done")
        return
    _complain(result)
    for line in waiting_lines(result):
        note(line)
    last = summary(result)
    if last is not None:
        say(last)


def _complain(result: TickResult) -> None:
    """What is not valid, and what could not be ticked."""
    from ldp_orchestration.schedule.telling import invalid_lines

    for line in invalid_lines(result.problems):
        click.echo(f"ldp: error: {line}", err=True)
    for one in result.workflows:
        if one.error:
            click.echo(f"ldp: error: {one.file}: {one.error}", err=True)
