"""``ldp init``: look at data and write a first config."""

from __future__ import annotations

from pathlib import Path

import click

from ldp_core._output import json_option, memory_option, note, print_json, progress, say, warn


@click.command()
@click.argument("data", metavar="FILE|FOLDER")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT.yaml",
    help="The config; NAME.yaml by default.",
)
@click.option("--name", help="The name of the pipeline and of its table; the file's name by default.")
@click.option("--catalog", metavar="NAME", help="A catalog of ldp.yaml; a local one by default.")
@click.option("--namespace", default="lake", show_default=True, help="The namespace in a local catalog.")
@click.option("--force", is_flag=True, help="Overwrite the config when it is there.")
@memory_option
@json_option
def init(
    data: str,
    output: Path | None,
    name: str | None,
    catalog: str | None,
    namespace: str,
    force: bool,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Look at all of a file's or folder's data and write a config that loads it.

    The config has the columns' types, candidate keys, a partition and a first set of checks, each with what
    in the data speaks for it as a comment. It runs as it is. Nothing is loaded yet.
    """
    from ldp_core.commands._draft import draft

    found = draft(
        data,
        output,
        name=name,
        catalog=catalog,
        namespace=namespace,
        force=force,
        memory_limit=memory_limit,
        progress=progress(as_json=as_json),
    )
    if as_json:
        print_json(found.to_dict())
        return 0
    for line in found.warnings:
        warn(line)
    say(found.text())
    note(f"next: ldp run {found.config}")
    return 0
