"""``ldp query``: SQL over Iceberg tables."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import IO, TYPE_CHECKING

import click

from ldp_core._output import env_option, json_option, memory_option, print_table, say

if TYPE_CHECKING:
    from ldp_core.query.session import Query

_SHOWN = 1000


@click.command(short_help="Run one SELECT over tables.")
@click.argument("words", nargs=-1, required=True, metavar="CONFIG|FOLDER... SQL")
@click.option("--snapshot", type=int, metavar="ID", help="Read this snapshot (one table only).")
@click.option(
    "--as-of", metavar="TIME", help="Read the table as it was at this time, in UTC (one table only)."
)
@click.option("--branch", metavar="NAME", help="Read a branch or a tag (one table only).")
@click.option(
    "--format",
    "word",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    help="How the rows are written; the ending of --output decides by default, else table.",
)
@click.option("--output", metavar="FILE", help="Write to a file instead of standard output.")
@click.option(
    "--max-rows", type=int, metavar="N", help=f"Rows to write; a table shows {_SHOWN} by default, files all."
)
@env_option
@memory_option
@json_option
def query(
    words: tuple[str, ...],
    snapshot: int | None,
    as_of: str | None,
    branch: str | None,
    word: str | None,
    output: str | None,
    max_rows: int | None,
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> None:
    """Run one SELECT over the tables of configs and folders.

    A table is known as namespace.table, and by its bare name where that is unique. The query can read these
    tables and nothing else: no file, no setting, no second statement.
    """
    from ldp_core.errors import UsageError
    from ldp_core.query import output as out
    from ldp_core.query.refs import find_tables
    from ldp_core.query.session import query as run
    from ldp_core.query.travel import Travel, parse_moment

    if len(words) < 2:
        raise UsageError("ldp query takes a config or a folder, and then the SQL")
    out.check_limit(max_rows)
    chosen = out.format_of(word, output, as_json)
    travel = Travel(snapshot, None if as_of is None else parse_moment(as_of), branch)
    tables = find_tables(words[:-1], env)
    with run(tables, words[-1], travel, memory_limit=memory_limit) as ready:
        if output is None:
            _print(ready, chosen, sys.stdout, max_rows)
            return
        with out.atomic(output) as partial:
            if chosen == "parquet":
                rows = out.write_parquet(ready, partial, max_rows)
            else:
                with partial.open("w", encoding="utf-8", newline="") as file:
                    rows = _print(ready, chosen, file, max_rows)
    click.echo(f"{rows} {'row' if rows == 1 else 'rows'} written to {output} as {chosen}", err=True)


def _print(ready: Query, chosen: str, file: IO[str], limit: int | None) -> int:
    from ldp_core.query import output as out

    if chosen == "json":
        return out.write_json(ready, file, limit)
    if chosen == "csv":
        return out.write_csv(ready, file, limit)
    names, rows, total = out.table_rows(ready, _SHOWN if limit is None else limit)
    with redirect_stdout(file):
        print_table(names, rows, footer=False)
        if total > len(rows):
            say(f"... {total - len(rows)} more {'row' if total - len(rows) == 1 else 'rows'}")
        say(f"({total} {'row' if total == 1 else 'rows'})")
    return total
