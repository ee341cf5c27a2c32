"""``ldp contract save``, ``versions``, ``show``: the versions of a contract that were kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from ldp_core._output import cell, json_option, print_json, print_table, say, warn

from ldp_quality.commands._words import second

if TYPE_CHECKING:
    from ldp_quality.contract.diff import ContractDiff
    from ldp_quality.contract.model import Contract
    from ldp_quality.contract.versioning import Finding
    from ldp_quality.store.records import ContractVersion
    from ldp_quality.store.store import Store

_Command = TypeVar("_Command", bound=Callable[..., Any])
_LISTED = 8


def _store_options(command: _Command) -> _Command:
    password = click.option(
        "--password-env", metavar="NAME", help="The environment variable that holds the database's password."
    )
    place = click.option(
        "--store",
        metavar="URI|FILE",
        help="Where versions are kept: a SQLite file, postgresql://user@host/database (PGPASSWORD holds the "
        "password), or a config that keeps a history; by default .ldp/quality.db here.",
    )
    return place(password(command))


@click.command(short_help="Keep a version of a contract.")
@click.argument("file")
@click.option("--by", metavar="NAME", help="Who saves it; the user of this process by default.")
@click.option("--note", default="", metavar="TEXT", help="Why.")
@click.option(
    "--force", is_flag=True, help="Save it although its version does not say that something breaks."
)
@_store_options
@json_option
def save(
    file: str,
    by: str | None,
    note: str,
    force: bool,
    store: str | None,
    password_env: str | None,
    as_json: bool,
) -> None:
    """Keep the contract in FILE as its next version, and show what changed since the one before.

    A file that is kept already adds nothing. A change that breaks readers or writers asks for the next major
    version (of 0.x the next minor) and is refused without; a tightening or a loosening one asks for the next
    minor version, which is only a warning.
    """
    from ldp_quality.commands._place import place_of
    from ldp_quality.store.store import open_store

    read = _read(file)
    place = place_of(store, None, password_env)
    checked = _Check(read, force)
    with open_store(place.uri, password_env=place.password_env) as opened:
        made = opened.save_contract(Path(file), who=by, note=note, accept=checked)
        label = opened.label
    if checked.finding is not None:
        warn(cell(f"{file}: {checked.finding.message}{_wanted(checked.finding)}"))
    if as_json:
        print_json(
            {
                "store": label,
                "added": checked.asked,
                **_record(made, checked.changes),
                "warning": checked.finding.message if checked.finding else None,
            }
        )
        return
    if not checked.asked:
        say(cell(f"nothing changed: {_named(made)} in {label} says the same, saved {_by(made)}"))
        return
    say(cell(f"saved {_named(made)} in {label}, by {made.who}"))
    if checked.changes is not None:
        from ldp_quality.commands._contract_diff import show

        say()
        show(checked.changes)


@click.command(short_help="List the kept versions of a contract, and what changed in each.")
@click.argument("contract", required=False, metavar="[ID|FILE]")
@_store_options
@json_option
def versions(contract: str | None, store: str | None, password_env: str | None, as_json: bool) -> None:
    """List the kept versions of a contract, the last first, each with the classes of its changes.

    The contract is named by its id, or by a FILE that has it; without one the last version of each is listed.
    """
    with _opened(store, password_env) as opened:
        label = opened.label
        if contract is None:
            found = _last(opened.contracts())
            changes: dict[int, ContractDiff | None] = {}
        else:
            found = _versions(opened, _id(contract))
            changes = _changes(found)
    if as_json:
        told = [_record(item, changes.get(item.number)) for item in found]
        print_json({"store": label, "contract": found[0].contract_id if contract else None, "versions": told})
        return
    if contract is None:
        say(f"Contracts in {label}:")
        rows = [(item.contract_id, item.number, item.version, second(item.saved), item.who) for item in found]
        print_table(("contract", "versions", "version", "saved_utc", "by"), rows, footer=False)
        return
    say(cell(f"Versions of {found[0].contract_id} in {label}, the last first:"))
    listed = [
        (item.number, item.version, second(item.saved), item.who, _told(item, changes), item.note)
        for item in found
    ]
    print_table(("number", "version", "saved_utc", "by", "changes", "note"), listed, footer=False)


@click.command("show", short_help="Print a kept version of a contract.")
@click.argument("contract", metavar="ID|FILE")
@click.option(
    "--version", metavar="V", help="As the contract has it (2.0.0), or its number; the last by default."
)
@_store_options
@json_option
def show_version(
    contract: str, version: str | None, store: str | None, password_env: str | None, as_json: bool
) -> None:
    """Print a kept version of a contract as it was saved, to the byte.

    Of several that gave themselves the same version the last is meant.
    """
    from ldp_core.errors import UsageError

    with _opened(store, password_env) as opened:
        found, label = _versions(opened, _id(contract)), opened.label
    ways = (
        [item for item in found if version is None or item.version == version],
        [item for item in found if str(item.number) == version],
    )
    chosen = next((way[0] for way in ways if way), None)
    if chosen is None:
        known = ", ".join(f"{item.version or '?'} (number {item.number})" for item in found[:_LISTED])
        raise UsageError(f"{label} has no version {version} of {found[0].contract_id}; it has: {known}")
    if as_json:
        print_json({"store": label, **chosen.to_dict()})
        return
    click.echo(chosen.content, nl=False)


@dataclass
class _Check:
    """What is asked while nobody else can save: does the version say what changed?"""

    contract: Any
    force: bool
    asked: bool = False
    changes: ContractDiff | None = None
    finding: Finding | None = None

    def __call__(self, last: ContractVersion | None) -> None:
        """Look at the version that is there.

        Raises:
            ConfigError: The new one breaks something, and its version does not say so.
        """
        from ldp_core.errors import ConfigError

        from ldp_quality.contract.diff import diff
        from ldp_quality.contract.versioning import judge
        from ldp_quality.store.contracts import said

        self.asked = True
        if last is None:
            return
        try:
            self.changes = diff(said(last.content, last.label), self.contract)
        except ConfigError:  # saved as a text of any kind
            return
        found = judge(self.changes, last.version, self.contract.version)
        if found is not None and found.refused and not self.force:
            semver = f"by semver it is {found.wanted}; " if found.wanted else ""
            raise ConfigError(
                found.message,
                file=self.contract.file,
                line=self.contract.lines.line_of("version"),
                key="version",
                hint=f"{semver}--force saves it as it is",
            )
        self.finding = found


def _read(file: str) -> Contract:
    """The contract; one whose variables have no values yet is kept as it is.

    Raises:
        ConfigError: It has errors.
    """
    from ldp_quality.contract.load import load
    from ldp_quality.contract.model import Contract
    from ldp_quality.contract.read import contract_of

    loaded = load(file)
    if loaded.open and not loaded.problems:
        return contract_of(loaded.document)
    return Contract.from_file(file)


def _wanted(found: Finding) -> str:
    return f" (by semver it is {found.wanted})" if found.wanted else ""


def _opened(uri: str | None, password_env: str | None) -> Store:
    from ldp_quality.commands._place import place_of
    from ldp_quality.store.database import StoreNotFound

    try:
        return place_of(uri, None, password_env).open()
    except StoreNotFound as error:
        error.hint = "ldp contract save FILE makes it; --store names one that is elsewhere"
        raise


def _id(word: str) -> str:
    """The contract that a word means: that of a file, else the word."""
    if not Path(word).is_file():
        return word
    from ldp_core.config.load import load_document
    from ldp_core.errors import ConfigError

    found = load_document(word).data.get("id")
    if not isinstance(found, str) or not found:
        raise ConfigError("the contract has no id", file=word, key="id")
    return found


def _versions(store: Store, contract_id: str) -> list[ContractVersion]:
    """Every version of a contract, the last first.

    Raises:
        UsageError: There is none.
    """
    from ldp_core.errors import UsageError

    found = store.contracts(contract_id)
    if found:
        return found
    known = list(dict.fromkeys(item.contract_id for item in store.contracts()))
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    has = f"it has {', '.join(known[:_LISTED])}{more}" if known else "it has none yet"
    raise UsageError(f"no contract {contract_id} in {store.label}", hint=has)


def _last(every: list[ContractVersion]) -> list[ContractVersion]:
    """The last version of each contract."""
    found: dict[str, ContractVersion] = {}
    for item in every:
        found.setdefault(item.contract_id, item)
    return list(found.values())


def _changes(found: list[ContractVersion]) -> dict[int, ContractDiff | None]:
    """What changed in each version since the one before; None where they cannot be compared."""
    from ldp_core.errors import ConfigError

    from ldp_quality.contract.diff import diff
    from ldp_quality.store.contracts import said

    changes: dict[int, ContractDiff | None] = {}
    for new, old in pairwise(found):
        try:
            changes[new.number] = diff(said(old.content, old.label), said(new.content, new.label))
        except ConfigError:
            changes[new.number] = None
    return changes


def _told(item: ContractVersion, changes: dict[int, ContractDiff | None]) -> str:
    if item.number not in changes:
        return "the first"
    found = changes[item.number]
    if found is None:
        return "cannot be compared"
    counts = found.to_dict()["counts"]
    return ", ".join(f"{count} {impact}" for impact, count in counts.items() if count) or "only its text"


def _record(item: ContractVersion, changes: ContractDiff | None) -> dict[str, Any]:
    """A version without its text, and what changed in it."""
    told = {name: value for name, value in item.to_dict().items() if name != "content"}
    return {**told, "changes": changes.to_dict() if changes is not None else None}


def _named(item: ContractVersion) -> str:
    return f"{item.contract_id} {item.version} as number {item.number}".replace("  ", " ")


def _by(item: ContractVersion) -> str:
    return f"by {item.who} on {second(item.saved)} UTC"
