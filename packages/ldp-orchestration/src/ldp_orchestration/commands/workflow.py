"""``ldp workflow``: what a workflow would do, and doing it for a window."""

from __future__ import annotations

import click
from ldp_core._output import env_option, is_quiet, json_option, memory_option, print_json, say

from ldp_orchestration.commands._options import jobs_option

window_option = click.option(
    "--window",
    metavar="W",
    help="START/END, yesterday, last-week or last-month; what has no offset is in the workflow's time zone.",
)
many_jobs = jobs_option(
    "How many may run at the same time; each has an engine with the memory of --memory-limit."
)


@click.group(short_help="Check and run workflow files.")
def workflow() -> None:
    """Work with workflows: files that say which pipelines run, in what order, for each window.

    FILE is a workflow file, or a dataset config, which is a workflow of one task.
    """


@workflow.command(short_help="Check a workflow and show its tasks in order.")
@click.argument("file")
@window_option
@env_option
@json_option
def plan(file: str, window: str | None, env: str | None, as_json: bool) -> int:
    """Check FILE and every config that it names, and print the tasks in the order in which they run.

    With --window the key that each task publishes the window under is shown. Reads no data and writes
    nothing. The exit code is 1 when anything is wrong; `ldp workflow run` refuses exactly that.
    """
    from ldp_orchestration.plan import plan_workflow

    found = plan_workflow(file, window, env)
    if as_json:
        print_json(found.to_dict())
    elif found.valid:
        for line in found.lines():
            say(line)
    else:
        for line in found.lines():
            click.echo(line, err=True)
    return 0 if found.valid else 1


@workflow.command(short_help="Run a workflow for a window.")
@click.argument("file")
@window_option
@many_jobs
@env_option
@memory_option
@json_option
def run(
    file: str, window: str | None, jobs: int, env: str | None, memory_limit: str | None, as_json: bool
) -> int:
    """Run the tasks of FILE for a window, each after those that it depends on.

    A task that fails leaves those that depend on it out; the others run. Running the same window again does
    what is left: what was published is found by its key and skipped. Nothing runs when anything is wrong
    with FILE or a config that it names.

    The exit code is 1 when a task failed, 3 when data gates are the only problem.
    """
    from ldp_orchestration.graph import order
    from ldp_orchestration.live import watching
    from ldp_orchestration.load import load_workflow
    from ldp_orchestration.run import run_workflow
    from ldp_orchestration.telling import summary, task_line

    found = load_workflow(file, env)
    names = order({task.id: task.depends_on for task in found.tasks})
    with watching(found, names, quiet=as_json or is_quiet()) as view:
        result = run_workflow(
            found,
            window,
            jobs=jobs,
            memory_limit=memory_limit,
            on_task=view.on_task,
            progress=view.progress,
        )
    if as_json:
        print_json({"file": file, **result.to_dict(), "events": str(found.ledger)})
        return result.exit_code
    if view.console is not None:
        for task in result.tasks:
            say(task_line(task))
    for line in summary(result):
        say(line)
    return result.exit_code
