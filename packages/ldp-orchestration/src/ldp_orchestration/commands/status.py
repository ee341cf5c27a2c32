"""``ldp status``: how every workflow and table is."""

from __future__ import annotations

import click
from ldp_core._output import env_option, json_option, note, print_json


@click.command(short_help="Show how every workflow and table is.")
@click.argument("folder", metavar="[DIR]", default=".")
@click.option("--now", metavar="T", help="The moment it is about, in UTC; now by default.")
@env_option
@json_option
def status(folder: str, now: str | None, env: str | None, as_json: bool) -> int:
    """Show each workflow and table under DIR: its last run, the last window, the verdict of the checks, how
    late it is against its schedule, its next fire, and the windows that were missed, with the command that
    fills them.

    Files that nothing schedules are there when they have a window, or their ledger tells of a run. Takes no
    lock and writes nothing. The exit code is 2 when a workflow is later than its metadata.sla.error_after,
    and 1 when a scheduled file is not valid.
    """
    from ldp_orchestration.overview import status as look
    from ldp_orchestration.schedule.telling import invalid_lines
    from ldp_orchestration.screen import show

    found = look(folder, now=now, env=env)
    if as_json:
        print_json(found.to_dict())
        return found.exit_code
    show(found)
    for line in invalid_lines(found.problems):
        click.echo(f"ldp: error: {line}", err=True)
    if not found.workflows and not found.problems:
        note(f"Nothing to tell of {folder}: no file has a schedule, a window or a run")
    return found.exit_code
