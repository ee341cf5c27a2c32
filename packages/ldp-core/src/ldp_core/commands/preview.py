"""``ldp preview``: the rows that a run would publish."""

from __future__ import annotations

import click

from ldp_core._output import (
    env_option,
    json_option,
    memory_option,
    note,
    print_json,
    print_table,
    progress,
    warn,
)


@click.command()
@click.argument("config", metavar="CONFIG")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Rows to print.")
@click.option("--mode", metavar="MODE", help="append, overwrite or upsert, above the config's write_mode.")
@click.option("--window", metavar="W", help="Only the rows of a window, as for ldp run.")
@click.option("--strict", is_flag=True, help="Make what would be a warning about data an error.")
@env_option
@memory_option
@json_option
def preview(
    config: str,
    limit: int,
    mode: str | None,
    window: str | None,
    strict: bool,
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Print rows as they would be published, after typing and transforms, and the checks' verdict.

    Writes nothing and creates nothing. Checks judge all rows, not only those printed; a check that would
    block the run makes the exit code 3.
    """
    from ldp_core.config import Config
    from ldp_core.plan.keyed import Ask
    from ldp_core.run.context import RunOptions
    from ldp_core.run.preview import preview as look

    options = RunOptions(memory_limit=memory_limit, strict=strict, progress=progress(as_json=as_json))
    found = look(Config.from_file(config, env=env), limit, options, mode, Ask(window))
    if as_json:
        print_json(found.to_dict())
    else:
        columns = [column.name for column in found.rows.schema]
        rows = zip(*(column.to_pylist() for column in found.rows.columns), strict=True)
        print_table(columns, list(rows), total=found.total)
        for line in [*found.loss_lines(), *found.notes]:
            note(line)
    for text in found.warnings:
        warn(text)
    for name, verdict in found.verdicts.items():
        note(f"{name}: {verdict.report.summary()}")
    return 3 if any(verdict.blocks for verdict in found.verdicts.values()) else 0
