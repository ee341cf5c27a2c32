"""The rows that a contract is tested on, as a command line names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, SourceNotFound, TableNotFound, UsageError

if TYPE_CHECKING:
    from ldp_core.config import Config
    from ldp_core.query.refs import TableRef

    from ldp_quality.contract.model import Contract, ContractTable

FORMATS = ("CSV", "JSONL", "PARQUET", "XLSX")
"""What a file may hold."""
_CONFIGS = (".json", ".yaml", ".yml")


@dataclass(frozen=True)
class Wanted:
    """What a command line says of the rows.

    Attributes:
        target: A config, a folder or a file.
        postgres: The URI of a database.
        table: A table of the contract, or where it lies.
        format: What is in a file.
        password_env: The variable with the database's password.
        env: An environment of ``ldp.yaml``.
    """

    target: str | None = None
    postgres: str | None = None
    table: str | None = None
    format: str | None = None
    password_env: str | None = None
    env: str | None = None


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
    if (wanted.target is None) == (wanted.postgres is None):
        if wanted.target is None:
            raise UsageError(
                "the contract needs rows to be tested on",
                hint="name a config that loads the table, a folder with its catalog, a file (CSV, Parquet, "
                "JSONL), or --postgres URI; the contract's own servers are not read",
            )
        raise UsageError(f"{wanted.target} and --postgres both name rows", hint="name one of them")
    if wanted.password_env is not None and wanted.postgres is None:
        raise UsageError("--password-env is for --postgres")
    if wanted.format is not None and wanted.postgres is not None:
        raise UsageError("--format is for files")
    if wanted.postgres is not None:
        return _of_database(contract, wanted, wanted.postgres)
    target = str(wanted.target)
    if wanted.format is None and target.lower().endswith(_CONFIGS):
        return _of_config(contract, wanted, target)
    if wanted.format is None and Path(target).is_dir():
        return _of_folder(contract, wanted, target)
    return _of_file(contract, wanted, target)


def _of_database(contract: Contract, wanted: Wanted, uri: str) -> Rows:
    from ldp_quality.executors.postgres import PostgresTable

    table, stored = _stored(contract, wanted.table)
    stored = stored if "." in stored else f"public.{stored}"
    return Rows(
        table, PostgresTable(uri, stored, password_env=wanted.password_env), f"{stored} in PostgreSQL"
    )


def _of_config(contract: Contract, wanted: Wanted, file: str) -> Rows:
    from ldp_core.config import Config
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import find_tables

    config = Config.from_file(file, env=wanted.env)
    config.validate("target")
    table = _table(contract, wanted.table, str(config.target.get("name")))
    base = config.spec("target").base_dir
    if config.target_kind() != "ICEBERG":
        return _of_target(config, table, file)
    ref = find_tables([file], wanted.env)[0]
    return Rows(table, TableHandle(ref), f"{ref.label} of {file}", base)


def _of_target(config: Config, table: ContractTable, file: str) -> Rows:
    """The file that a config writes."""
    from ldp_quality.executors.stored import FileTable

    target = config.spec("target")
    path = target.get("path")
    if not isinstance(path, str):
        raise ConfigError(
            f"a target of the format {config.target_kind()} cannot be read back",
            file=file,
            key="metadata.target.format",
        )
    source = FileTable(path, config.target_kind(), target.base_dir)
    return Rows(table, source, f"{path} of {file}", target.base_dir)


def _of_folder(contract: Contract, wanted: Wanted, folder: str) -> Rows:
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import find_tables

    try:
        refs = find_tables([folder], wanted.env)
    except TableNotFound as error:
        error.hint = "name a config, a folder with a catalog, or files with --format PARQUET"
        raise
    table, stored = _stored(contract, wanted.table)
    ref = _ref(refs, stored, folder)
    return Rows(table, TableHandle(ref), f"{ref.label} in {folder}")


def _ref(refs: list[TableRef], stored: str, folder: str) -> TableRef:
    found = [ref for ref in refs if stored.casefold() in (ref.label.casefold(), ref.name.casefold())]
    if len(found) == 1:
        return found[0]
    known = ", ".join(ref.label for ref in found or refs)
    if found:
        raise UsageError(
            f"{stored} is more than one table: {known}", hint="--table NAMESPACE.TABLE names one"
        )
    raise TableNotFound(
        f"{folder} has no table {stored}; it has: {known}", hint="--table NAMESPACE.TABLE names another"
    )


def _of_file(contract: Contract, wanted: Wanted, path: str) -> Rows:
    from ldp_quality.executors.stored import FileTable

    local = "://" not in path and not any(sign in path for sign in "*?[")
    if local and not Path(path).exists():
        raise SourceNotFound(f"there is no file or folder {path}")
    try:
        source = FileTable(path, wanted.format)
    except ConfigError:
        raise UsageError(f"what is in {path}?", hint=f"--format says it: {', '.join(FORMATS)}") from None
    return Rows(_table(contract, wanted.table), source, path)


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
