"""``ldp backfill``: a workflow for every window of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from ldp_core._output import env_option, json_option, memory_option, note, print_json, print_table, say

from ldp_orchestration.commands._options import jobs_option, max_windows_option

if TYPE_CHECKING:
    from ldp_core.window import Window

    from ldp_orchestration.backfilled import BackfillResult, BackfillWindow
    from ldp_orchestration.model import TaskMove


@click.command(short_help="Run a workflow for every window of a range.")
@click.argument("file")
@click.option(
    "--from", "start", required=True, metavar="START", help="Where the first window starts: a date or a time."
)
@click.option("--to", "end", metavar="END", help="Where the last one ends; the last complete one by default.")
@click.option("--dry-run", is_flag=True, help="Print the windows with their keys and states; create nothing.")
@click.option("--replace", is_flag=True, help="Load again what windows have published, in its place.")
@click.option("--only-missed", is_flag=True, help="Run only windows that never ran, or left nothing behind.")
@click.option("--run-backwards", is_flag=True, help="The newest window first.")
@click.option("--stop-on-failure", is_flag=True, help="Stop at the first window that fails or is blocked.")
@max_windows_option("Refuse a range with more windows.")
@jobs_option(
    "How many windows may run at the same time; each has an engine with the memory of --memory-limit."
)
@env_option
@memory_option
@json_option
def backfill(
    file: str,
    start: str,
    end: str | None,
    dry_run: bool,
    replace: bool,
    only_missed: bool,
    run_backwards: bool,
    stop_on_failure: bool,
    max_windows: int,
    jobs: int,
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Run FILE, a workflow or a dataset config with a window, for every window from START to END.

    A bound without an offset is in the time zone of the workflow; END is not part of the range. Windows that
    are published are skipped without being read, so the same command again does what is left. A window that
    fails, or that a data gate blocks, does not stop the others unless --stop-on-failure is given.

    The exit code is 1 when a window failed, 3 when data gates are the only problem.
    """
    from ldp_core.errors import Interrupted

    from ldp_orchestration.backfilling import backfill as run
    from ldp_orchestration.load import load_workflow
    from ldp_orchestration.telling import asides

    def tell(window: BackfillWindow, number: int, total: int) -> None:
        if window.outcome != "skipped":
            say(f"[{number}/{total}] {window.window}  {window.outcome}")
            for line in _errors(window):
                click.echo(f"ldp: error: {window.window}: {line}", err=True)

    def hear(window: Window, move: TaskMove) -> None:
        for text in asides(move):
            click.echo(f"ldp: warning: {window}: {text}", err=True)

    workflow = load_workflow(file, env)
    try:
        result = run(
            workflow,
            start,
            end,
            dry_run=dry_run,
            replace=replace,
            only_missed=only_missed,
            run_backwards=run_backwards,
            stop_on_failure=stop_on_failure,
            max_windows=max_windows,
            jobs=jobs,
            memory_limit=memory_limit,
            on_window=None if as_json else tell,
            on_task=hear,
        )
    except (KeyboardInterrupt, Interrupted):
        note("The same command again goes on: windows that are published are skipped")
        raise
    if as_json:
        print_json({"file": file, **result.to_dict()})
    elif dry_run:
        _show(result)
    else:
        _sum_up(result)
    return result.exit_code


def _errors(window: BackfillWindow) -> list[str]:
    """What went wrong in a window, a line each."""
    tasks = window.result.tasks if window.result else ()
    found = [f"{task.id}: {task.error}" for task in tasks if task.error]
    return [*found, *([window.error] if window.error else [])]


def _show(result: BackfillResult) -> None:
    """The windows, each with its keys and its state."""
    one = all(len(window.keys) <= 1 for window in result.windows)
    rows = [
        (
            str(window.window),
            window.state,
            " ".join(key if one else f"{name}={key}" for name, key in window.keys.items()),
        )
        for window in result.windows
    ]
    print_table(("window", "state", "key" if one else "keys"), rows, footer=False)


def _sum_up(result: BackfillResult) -> None:
    for text in result.notes:
        note(f"note: {text}")
    counts = ", ".join(f"{count} {name}" for name, count in result.counts().items())
    rest = f", {result.not_run} not run" if result.not_run else ""
    say(f"backfill {result.workflow}: {counts}{rest} in {result.duration_s:.1f} s. Events: {result.ledger}")
    if result.exit_code:
        note("Fix the cause and run the same command again: windows that are published are skipped")
