"""``ldp contract diff``: what changed from one version of a contract to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click
from ldp_core._output import cell, json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ldp_core.config.load import Document

    from ldp_quality.contract.diff import ContractDiff

_CLASSES = ("breaking", "tightening", "loosening", "informational")


@click.command(short_help="Show what changed from one version of a contract to another.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--fail-on",
    type=click.Choice(_CLASSES),
    help="Exit with 3 when there is a change of this class or a worse one.",
)
@json_option
def diff(old: str, new: str, fail_on: str | None, as_json: bool) -> int:
    """Show what changed from the contract OLD to the contract NEW, the worst first.

    Each change is breaking (readers or writers by the old contract fail), tightening (data that passed may
    be refused), loosening (data may come that was refused) or informational.
    """
    from ldp_core.errors import ConfigError

    from ldp_quality.contract.diff import diff as compare

    before, after = _read(old), _read(new)
    try:
        found = compare(before.data, after.data)
    except ConfigError as error:
        error.file, error.line = new, after.line_of(error.key or "")
        raise
    if as_json:
        print_json(found)
    else:
        show(found)
    reached = found.at_least(fail_on) if fail_on else ()
    if reached:
        note(f"{_count(len(reached))} {fail_on}{'' if fail_on == _CLASSES[0] else ' or worse'}")
    return 3 if reached else 0


def _read(path: str) -> Document:
    from ldp_core.errors import ConfigError

    from ldp_quality.contract.load import load

    loaded = load(path)
    wrong = tuple(problem for problem in loaded.problems if problem.severity == "error")
    if wrong:
        raise ConfigError.from_problems(wrong)
    return loaded.document


def show(found: ContractDiff) -> None:
    """Print what changed, the worst first."""
    versions = [version for version in (found.old_version, found.new_version) if version]
    if len(set(versions)) == 1:
        versions = versions[:1]
    title = f"{found.contract or 'contract'} {' -> '.join(versions)}".rstrip()
    say(cell(f"{title}: {', '.join(_counts(found)) or 'nothing changed'}"))
    for impact in _CLASSES:
        changes = found.of(impact)
        if changes:
            say()
            rows = [(change.path, change.message) for change in changes]
            print_table((impact, "change"), rows, footer=False)


def _counts(found: ContractDiff) -> Iterator[str]:
    return (f"{len(found.of(impact))} {impact}" for impact in _CLASSES if found.of(impact))


def _count(number: int) -> str:
    return f"{number} change{' is' if number == 1 else 's are'}"
