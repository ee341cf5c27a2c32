"""The rows that a contract is tested on, and the table of the contract that they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, UsageError

from ldp_quality.commands._named import MEANINGS, named_rows
from ldp_quality.contract.servers import names, rows_at

if TYPE_CHECKING:
    from ldp_quality.contract.model import Contract, ContractTable


@dataclass(frozen=True)
class Wanted:
    """What a command line says of the rows.

    Attributes:
        target: What ``named_rows`` reads: a config, a table, a folder or a file.
        postgres: The URI of a database.
        server: One of the contract's own servers.
        table: A table of the contract, or where it lies.
        format: What is in a file.
        password_env: The variable with the database's password.
        env: An environment of ``ldp.yaml``.
        places: Where a table is searched.
    """

    target: str | None = None
    postgres: str | None = None
    table: str | None = None
    format: str | None = None
    password_env: str | None = None
    env: str | None = None
    places: tuple[str, ...] = ()
    server: str | None = None


@dataclass(frozen=True)
class Rows:
    """Rows to test.

    Attributes:
        table: What they are to the contract.
        source: What ``run_checks`` takes.
        label: How they are called.
        base_dir: Where relative paths in rules start; None for the contract's folder.
    """

    table: ContractTable
    source: Any
    label: str
    base_dir: Path | None = None


def rows_of(contract: Contract, wanted: Wanted) -> Rows:
    """The rows, and the table of the contract that they are.

    Raises:
        UsageError: Nothing or too much is named.
        ConfigError: The contract has no such table, or a config is wrong.
        SourceNotFound: There is no such file or folder.
        TableNotFound: There is no such table.
    """
    given = {wanted.target: wanted.target, "--postgres": wanted.postgres, "--server": wanted.server}
    named = [word for word, value in given.items() if value is not None]
    if not named:
        own = ", ".join(names(contract))
        more = f", or --server NAME, of the contract's own: {own}" if own else ""
        raise UsageError(
            "the contract needs rows to be tested on", hint=f"name {MEANINGS}, or --postgres URI{more}"
        )
    if len(named) > 1:
        raise UsageError(f"{' and '.join(map(str, named))} both name rows", hint="name one of them")
    if wanted.password_env is not None and wanted.target is not None:
        raise UsageError("--password-env is for --postgres and --server")
    if wanted.format is not None and wanted.target is None:
        raise UsageError("--format is for files")
    if wanted.server is not None:
        return _of_server(contract, wanted, wanted.server)
    if wanted.postgres is not None:
        return _of_database(contract, wanted, wanted.postgres)
    return _of_word(contract, wanted, str(wanted.target))


def _of_database(contract: Contract, wanted: Wanted, uri: str) -> Rows:
    from ldp_quality.executors.postgres import PostgresTable

    table, stored = _stored(contract, wanted.table)
    stored = stored if "." in stored else f"public.{stored}"
    return Rows(
        table, PostgresTable(uri, stored, password_env=wanted.password_env), f"{stored} in PostgreSQL"
    )


def _of_server(contract: Contract, wanted: Wanted, server: str) -> Rows:
    table, stored = _stored(contract, wanted.table)
    found = rows_at(
        contract,
        server,
        table.name,
        stored=stored,
        environment=wanted.env,
        password_env=wanted.password_env,
    )
    return Rows(table, found.source, found.label)


def _of_word(contract: Contract, wanted: Wanted, word: str) -> Rows:
    folder = Path(word).is_dir() and wanted.format is None
    table, stored = _stored(contract, wanted.table) if folder else (None, None)
    found = named_rows(word, wanted.places, wanted.env, format=wanted.format, wanted=stored)
    if table is None:
        table = _table(contract, wanted.table, found.name if found.catalogued else None)
    return Rows(table, found.rows, found.whole, found.base_dir)


def _table(contract: Contract, named: str | None, loaded: str | None = None) -> ContractTable:
    """A table of the contract: the one that is named, the only one, or the one that a config loads."""
    if named is None and len(contract.tables) > 1 and loaded is not None:
        named = loaded
    try:
        return contract.table(named)
    except ConfigError as error:
        if named is None and contract.tables:
            error.hint = "--table NAME says which"
        raise


def _stored(contract: Contract, named: str | None) -> tuple[ContractTable, str]:
    """A table of the contract, and its name where it is stored.

    A name that the contract does not have says where the rows are, of its only table or of the one whose name
    is the last part.
    """
    if named is None:
        table = _table(contract, None)
        return table, table.physical_name
    last = named.rpartition(".")[2]
    for table in contract.tables:
        if named in (table.name, table.physical_name):
            return table, table.physical_name
    for table in contract.tables:
        if last in (table.name, table.physical_name):
            return table, named
    only = contract.tables[0] if len(contract.tables) == 1 else None
    return (only or contract.table(named)), named
