"""``ldp quarantine``: the rows that runs put aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from ldp_core._output import (
    env_option,
    json_option,
    memory_option,
    note,
    print_json,
    print_table,
    progress,
    say,
    warn,
)

if TYPE_CHECKING:
    from ldp_quality.quarantine import Quarantine, QuarantineBatch

_SHOWN = 20
_batch_option = click.option(
    "--batch", metavar="ID", required=True, help="The batch, or how its name begins."
)


@click.group()
def quarantine() -> None:
    """Look at rows that were put aside, and get them into the table after all."""


@quarantine.command("list", short_help="List the batches of rows that were put aside.")
@click.argument("config")
@click.option("--all", "closed", is_flag=True, help="Also those that do not count.")
@env_option
@json_option
def list_batches(config: str, closed: bool, env: str | None, as_json: bool) -> None:
    """List the batches of rows that runs of a config put aside, the newest first.

    A batch is open while main shows the publish of its run. With --all also: requeued (its rows went through
    the gate once more), withdrawn (what its run loaded was replaced since), unpublished (its run has not
    published, or was rolled back).
    """
    place = _place(config, env)
    found = place.batches(closed=closed)
    if as_json:
        print_json({"table": place.label, "batches": [item.to_dict() for item in found]})
        return
    if not found:
        say(f"No {'' if closed else 'open '}batches in {place.label}.")
        return
    say(f"Batches of {place.label}, newest first:")
    _print_batches(found)
    for item in found:
        if item.fate.why:
            note(f"batch {item.batch.id}: {item.fate.why}")


@quarantine.command(short_help="Show rows that were put aside, and why.")
@click.argument("config")
@click.option("--batch", metavar="ID", help="Of one batch; of all open ones by default.")
@click.option("--rule", metavar="NAME", help="Only rows that break this rule.")
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", help=f"Rows; {_SHOWN} on a terminal, else all."
)
@click.option(
    "--format",
    "word",
    type=click.Choice(["table", "csv", "jsonl", "parquet"]),
    help="How rows are written; the ending of --output decides by default, else table.",
)
@click.option("--output", metavar="FILE", help="Write to a file instead of standard output.")
@env_option
@json_option
def show(
    config: str,
    batch: str | None,
    rule: str | None,
    limit: int | None,
    word: str | None,
    output: str | None,
    env: str | None,
    as_json: bool,
) -> None:
    """Show rows that were put aside: their values, the rules they break, and why.

    Of a row that could not be read its file, line and text are shown. A file that --output writes can be
    corrected and given to ldp quarantine requeue --rows.
    """
    from ldp_quality.commands import _quarantine_rows

    place = _place(config, env)
    chosen = _quarantine_rows.format_of(word, output, as_json)
    with place.query(batch, rule) as query:
        if chosen == "table":
            _quarantine_rows.print_rows(query, place.label, _SHOWN if limit is None else limit)
            return
        rows = _quarantine_rows.write(query, chosen, output, limit)
    if output is not None:
        click.echo(f"{rows} {'row' if rows == 1 else 'rows'} written to {output} as {chosen}", err=True)


@quarantine.command(short_help="Let the rows of a batch go through the gate once more.")
@click.argument("config")
@_batch_option
@click.option("--rows", metavar="FILE", help="Corrected rows, as show --output writes them, with _ldp_row.")
@click.option(
    "--source", metavar="FILE", help="A corrected file of the source, for rows that could not be read."
)
@click.option(
    "--on-failure",
    type=click.Choice(("fail", "warn", "quarantine")),
    help="What a failed rule does in this run, above what the config says.",
)
@click.option("--dry-run", is_flag=True, help="Judge the rows and write nothing.")
@env_option
@memory_option
@json_option
def requeue(
    config: str,
    batch: str,
    rows: str | None,
    source: str | None,
    on_failure: str | None,
    dry_run: bool,
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Let the rows of a batch go through the gate once more, exactly once, under the window of their run.

    Rows that pass are added to the table. Rows that fail again, and rows that are left out of --rows, are put
    aside as a new batch, with the reasons. Without --rows the rows go as they are stored: the rules may have
    changed. Exits 3 where a rule that fails holds them back; then nothing is changed.
    """
    place = _place(config, env)
    given = {"rows": rows, "source": source, "on_failure": on_failure}
    if dry_run:
        return _try(place, batch, given, as_json)
    result = place.requeue(batch, memory_limit=memory_limit, progress=progress(as_json=as_json), **given)
    if as_json:
        print_json({"batch": place.find(batch).batch.id, **result.to_dict()})
    elif result.status == "skipped_duplicate":
        where = f", in snapshot {result.published_in}" if result.published_in is not None else ""
        say(f"batch {batch} was requeued already{where}")
    else:
        for line in result.lines():
            say(line)
    for text in result.warnings:
        warn(text)
    return 0


@quarantine.command(short_help="Remove batches for good.")
@click.argument("config")
@click.option("--batch", metavar="ID", help="The batch, or how its name begins.")
@click.option("--all", "every", is_flag=True, help="All batches but those whose runs may still publish.")
@click.option("--yes", "--apply", "yes", is_flag=True, help="Commit; without, only a preview.")
@env_option
@json_option
def drop(config: str, batch: str | None, every: bool, yes: bool, env: str | None, as_json: bool) -> None:
    """Remove batches for good, in one commit that rewrites no row; without --yes only say which.

    Rows of an open batch are in no other table: they are gone then.
    """
    from ldp_core.errors import UsageError

    place = _place(config, env)
    if (batch is not None) == every:
        raise UsageError("say which: --batch ID, or --all")
    found = [place.find(batch)] if batch is not None else place.batches(closed=True)
    kept = [item for item in found if every and item.fate.state == "unpublished" and not item.fate.over]
    gone = [item for item in found if item not in kept]
    rows = place.drop(item.batch.id for item in gone) if yes and gone else 0
    if as_json:
        body = {"batches": [item.to_dict() for item in gone], "kept": [item.batch.id for item in kept]}
        print_json({"table": place.label, **body, "rows": rows, "committed": bool(yes and gone)})
        return
    for item in kept:
        note(f"batch {item.batch.id} stays: its run may still publish (--batch {item.batch.id} drops it)")
    if not gone:
        say(f"No batches to drop in {place.label}.")
        return
    _print_batches(gone)
    if yes:
        say(f"{rows} {'row' if rows == 1 else 'rows'} dropped from {place.label}")
    else:
        note("nothing was dropped; --yes drops them")


def _place(config: str, env: str | None) -> Quarantine:
    from ldp_core.config import Config

    from ldp_quality.quarantine import Quarantine

    return Quarantine(Config.from_file(config, env=env))


def _try(place: Quarantine, batch: str, given: dict[str, Any], as_json: bool) -> int:
    """Judge, and say what a requeue would do."""
    found = place.preview(batch, **given)
    blocked = any(verdict.blocks for verdict in found.verdicts.values())
    if as_json:
        print_json({"batch": place.find(batch).batch.id, "blocked": blocked, **found.to_dict()})
    else:
        columns = [column.name for column in found.rows.schema]
        cells = zip(*(column.to_pylist() for column in found.rows.columns), strict=True)
        print_table(columns, list(cells), total=found.total)
        for verdict in found.verdicts.values():
            for line in verdict.report.summary().splitlines():
                note(line)
        note("nothing was written")
    for text in found.warnings:
        warn(text)
    return 3 if blocked else 0


def _print_batches(found: list[QuarantineBatch]) -> None:
    columns = ("batch", "at_utc", "window", "run_id", "attempt", "rows", "unread", "rules", "state")
    cells = [
        [
            int(item.batch.id) if item.batch.id.isdigit() else item.batch.id,
            f"{item.batch.at:%Y-%m-%d %H:%M:%S}",
            _window(item),
            item.batch.run_id,
            item.batch.attempt,
            item.batch.rows,
            item.batch.unread,
            ", ".join(f"{name}: {count}" for name, count in item.batch.rules.items()),
            item.fate.state,
        ]
        for item in found
    ]
    print_table(columns, cells)


def _window(item: QuarantineBatch) -> str:
    return str(item.batch.window) if item.batch.window else ""
