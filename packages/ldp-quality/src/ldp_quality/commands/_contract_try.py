"""``ldp contract test``: a contract tried on rows, before anything depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from ldp_core._output import cell, env_option, json_option, memory_option, print_json, print_table, say

from ldp_quality.commands._named import FORMATS
from ldp_quality.commands._rows import Wanted, rows_of
from ldp_quality.commands._vars import var_option
from ldp_quality.commands._words import number, percent, right

if TYPE_CHECKING:
    from ldp_quality.contract.trial import Trial

_WORDS = {"fail": "fail", "not_run": "not run", "warn": "warn", "pass": "pass"}


@click.command(short_help="Run the rules of a contract on a table or a file.")
@click.argument("contract")
@click.argument("target", required=False, metavar="[CONFIG|TABLE|FILE|FOLDER]")
@click.option(
    "--postgres",
    metavar="URI",
    help="A database, postgresql://user@host/database, that judges its own table.",
)
@click.option(
    "--server",
    metavar="NAME",
    help="One of the contract's own servers; --env says which of several so called.",
)
@click.option(
    "--table",
    metavar="NAME",
    help="A table of the contract; or namespace.table (in PostgreSQL schema.table), where its rows are.",
)
@click.option("--where", metavar="SQL", help="Only the rows for which this condition is true.")
@click.option("--now", metavar="TIME", help="The moment that freshness is measured from, in place of now.")
@click.option(
    "--format",
    "word",
    type=click.Choice(FORMATS, case_sensitive=False),
    help="What a file holds; by default as it is named.",
)
@click.option(
    "--password-env", metavar="NAME", help="The environment variable that holds the database's password."
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
def test(
    contract: str,
    target: str | None,
    postgres: str | None,
    server: str | None,
    table: str | None,
    where: str | None,
    now: str | None,
    word: str | None,
    password_env: str | None,
    places: tuple[str, ...],
    given: dict[str, Any],
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Run every rule of CONTRACT on rows, and show what each found, the worst first. Writes nothing.

    The rows are those of the table that a config loads, of a table of a catalog, of a file (CSV, Parquet,
    JSONL), of the contract's table in a folder (or of the files there), of a table in PostgreSQL, or of the
    place that the contract itself names: --server.

    Exits 0 when no rule fails, 3 when one fails or could not be evaluated. A rule that LDP never runs is
    shown with the reason, and the result is not green.
    """
    from dataclasses import replace

    from ldp_core.errors import ConfigError, UsageError

    from ldp_quality.contract.model import Contract
    from ldp_quality.contract.trial import try_contract
    from ldp_quality.engine import context_of

    try:
        context = context_of({} if now is None else {"now": now})
    except ConfigError as error:
        raise UsageError(f"--{error.message}") from None
    read = Contract.from_file(contract, given)
    rows = rows_of(read, Wanted(target, postgres, table, word, password_env, env, places, server))
    found = try_contract(
        read,
        rows.table,
        rows.source,
        where=where,
        context=replace(context, base_dir=rows.base_dir),
        memory_limit=memory_limit,
    )
    if as_json:
        print_json({"target": rows.label, **found.to_dict()})
    else:
        _show(found, rows.label)
    return 3 if found.failed else 0


def _show(found: Trial, label: str) -> None:
    contract = found.contract
    counted = "" if found.rows is None else f": {number(found.rows)} row{'' if found.rows == 1 else 's'}"
    where = f" where {found.where}" if found.where else ""
    say(cell(f"{contract.id} {contract.version}, table {found.table.name}, on {label}{where}{counted}"))
    say()
    pairs = found.worst_first()
    columns: dict[str, list[Any]] = {
        "status": [result.status for _, result in pairs],
        "rule": [result.name for _, result in pairs],
        "failing_rows": [result.failing_rows for _, result in pairs],
        "share": [result.share for _, result in pairs],
        "line": [rule.origin.line for rule, _ in pairs],
    }
    for name, word in (("failing_rows", number), ("share", percent)):
        columns[name] = right(name, [word(value) if value else "" for value in columns[name]])
    print_table(tuple(columns), list(zip(*columns.values(), strict=True)), footer=False)
    say()
    for line in found.report.summary().splitlines():
        say(cell(line))  # names of rules are whatever a contract says
    say()
    say(_verdict(found))


def _verdict(found: Trial) -> str:
    counts, total = found.counts, len(found.rules)
    told = ", ".join(f"{count} {_WORDS[status]}" for status, count in counts.items() if count)
    unknown = "; not green, for nobody knows whether what was not run holds" if counts["not_run"] else ""
    return f"{total} rule{'' if total == 1 else 's'}: {told}{unknown}"
