"""``ldp contract init``: look at rows and draft a contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from ldp_core._output import env_option, json_option, memory_option, note, print_json, progress, say

from ldp_quality.commands._named import FORMATS, named_rows

if TYPE_CHECKING:
    from ldp_quality.profiling.model import Profile

_ENDINGS = (".yaml", ".yml")


@click.command(short_help="Look at rows and draft a contract for them.")
@click.argument("data", metavar="CONFIG|TABLE|FILE|FOLDER")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT.yaml",
    help="The contract; NAME.odcs.yaml by default.",
)
@click.option("--name", help="What the table is called in the contract; its own name by default.")
@click.option("--force", is_flag=True, help="Overwrite the contract when it is there.")
@click.option(
    "--format",
    "word",
    type=click.Choice(FORMATS, case_sensitive=False),
    help="What a file holds; by default as it is named.",
)
@click.option(
    "--in",
    "places",
    multiple=True,
    metavar="CONFIG|FOLDER",
    help="Where a TABLE is searched: configs and folders; the present folder by default.",
)
@env_option
@memory_option
@json_option
def init(
    data: str,
    output: Path | None,
    name: str | None,
    force: bool,
    word: str | None,
    places: tuple[str, ...],
    env: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> int:
    """Look at all rows of a table, a file or a folder of files and draft a contract that they keep.

    A CONFIG stands for the table that it loads. Each promise of the draft has its evidence as a comment; what
    tomorrow's rows may break for a good reason is a comment only.
    """
    from ldp_core.errors import UsageError

    from ldp_quality.contract.lint import lint
    from ldp_quality.profiling.draft import draft_contract
    from ldp_quality.profiling.measure import profile

    found = named_rows(data, places, env, format=word)
    path = output or Path(f"{name or found.name}.odcs.yaml")
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(f"a contract with comments is YAML: {path} must end in .yaml")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", hint="give another -o, or --force to overwrite it")
    with progress(as_json=as_json).step("measuring"):
        seen = profile(found.rows, memory_limit=memory_limit)
    write(path, draft_contract(seen, name or found.name, id=found.pipeline, what=found.label))
    rules = len(lint(path).rules)
    if as_json:
        print_json({"contract": path, "data": found.label, "rules": rules, "profile": seen})
        return 0
    for line in _lines(seen, found.label):
        say(line)
    say(f"promises: {rules}")
    say(f"wrote {path}")
    note(f"next: look through it, then ldp contract lint {path}")
    return 0


def write(path: Path, text: str) -> None:
    """Write a file in one step, so that a broken run leaves no half of it.

    Raises:
        ConfigError: It cannot be written.
    """
    from ldp_core.errors import ConfigError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", file=str(path)) from error


def _lines(seen: Profile, label: str) -> list[str]:
    rows = "1 row" if seen.rows == 1 else f"{seen.rows:,} rows"
    columns = "1 column" if len(seen.columns) == 1 else f"{len(seen.columns)} columns"
    shown = seen.keys[:3]
    return [f"{label}: {rows}, {columns}", *(f"candidate key: {', '.join(key)}" for key in shown)]
