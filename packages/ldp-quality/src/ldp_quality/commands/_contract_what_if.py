"""``ldp contract what-if``: what a contract would have said of the snapshots that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from ldp_core._output import (
    cell,
    env_option,
    json_option,
    memory_option,
    print_json,
    print_table,
    progress,
    say,
)

from ldp_quality.commands._vars import var_option
from ldp_quality.commands._words import number, second

if TYPE_CHECKING:
    from ldp_quality.contract.what_if import Replayed, WhatIf

_LAST = 30
_SHOWN = 3


@click.command("what-if", short_help="Replay a contract over the last snapshots of a table.")
@click.argument("contract")
@click.argument("target", required=False, metavar="[CONFIG|TABLE|FOLDER]")
@click.option(
    "--table",
    metavar="NAME|CONFIG",
    help="A table of the contract; or namespace.table, where it is stored. Alone it is what TARGET says.",
)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=_LAST,
    show_default=True,
    metavar="N",
    help="Snapshots at most.",
)
@click.option(
    "--in",
    "places",
    multiple=True,
    metavar="CONFIG|FOLDER",
    help="Where a TABLE is searched: configs and folders; the present folder by default.",
)
@var_option
@env_option
@memory_option
@json_option
def what_if(
    contract: str,
    target: str | None,
    table: str | None,
    last: int,
    places: tuple[str, ...],
    given: dict[str, Any],
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> None:
    """Judge the last snapshots of a table's main by CONTRACT: which of them would the gate have held back?

    A snapshot that appended is judged by the rows that it added, any other by the whole table as it was then.
    Freshness is measured from the end of a snapshot's window, else from its commit. What a contract says of
    failures (onFailure) counts. It is a question, so it exits 0 whatever the answer is, and it writes
    nothing.
    """
    from ldp_core.errors import UsageError
    from ldp_core.query.handle import TableHandle

    from ldp_quality.commands._rows import Wanted, rows_of
    from ldp_quality.contract.model import Contract
    from ldp_quality.contract.what_if import what_if as replay

    word, own = (table, None) if target is None else (target, table)
    if word is None:
        raise UsageError(
            "whose snapshots?", hint="name a config that loads the table, a table of a catalog, or a folder"
        )
    read = Contract.from_file(contract, given)
    rows = rows_of(read, Wanted(target=word, table=own, env=env, places=places))
    if not isinstance(rows.source, TableHandle):
        raise UsageError(f"{rows.label} has no snapshots", hint="only an Iceberg table has; name one")
    with progress(as_json=as_json).step("replaying"):
        found = replay(
            read, rows.source, rows.table.name, last=last, memory_limit=memory_limit, base_dir=rows.base_dir
        )
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(found: WhatIf) -> None:
    contract, count = found.contract, len(found.snapshots)
    say(cell(f"{contract.id} {contract.version}, table {found.table.name}, on {found.label}: {_span(found)}"))
    if count:
        say()
        columns: dict[str, list[Any]] = {
            "committed_at_utc": [second(item.committed) for item in found.snapshots],
            "window or run": [item.window or item.run_id for item in found.snapshots],
            "judged": [_judged(item) for item in found.snapshots],
            "status": [item.report.status for item in found.snapshots],
            "blocked": ["yes" if item.blocked else "" for item in found.snapshots],
            "broken": [_failed(item) for item in found.snapshots],
        }
        print_table(tuple(columns), list(zip(*columns.values(), strict=True)), footer=False)
        say()
        statuses = ("fail", "not_run", "warn", "pass")
        rows = [
            (item.name, item.line, *(item.counts.get(status, 0) for status in statuses))
            for item in found.tallies
        ]
        print_table(("rule", "line", *statuses), rows, footer=False)
    say()
    say(str(found))


def _span(found: WhatIf) -> str:
    """How many snapshots were looked at, and why not as many as were asked for."""
    count = len(found.snapshots)
    if not found.available:
        return "no snapshot that changed rows"
    if count == found.available < found.asked:
        gone = "older ones have expired" if found.expired else "there are no older ones"
        return f"{_count(count)}, not {found.asked}: {gone}"
    more = "" if count == found.available else f" of {found.available}"
    return f"the last {_count(count)}{more}"


def _count(count: int) -> str:
    return f"{count} snapshot{'' if count == 1 else 's'}"


def _judged(item: Replayed) -> str:
    """Which rows, and how many of them."""
    what = "added" if item.covered == "added" else f"table after {item.operation}"
    return what if item.rows is None else f"{number(item.rows)} {what}"


def _failed(item: Replayed) -> str:
    """The rules that failed or could not be evaluated."""
    names = item.broken
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
