"""Where a contract says that its tables are: its ``servers``, as rows that checks can be asked of."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ldp_core._duck import ident
from ldp_core.errors import ConfigError
from ldp_core.spi import Spec

from ldp_quality.contract._variables import variables, without_value
from ldp_quality.contract.model import Contract, ContractTable

_FORMATS = {
    "parquet": "PARQUET",
    "csv": "CSV",
    "json": "JSONL",
    "jsonl": "JSONL",
    "ndjson": "JSONL",
    "xlsx": "XLSX",
}
_PLACE = re.compile(r"\{(?:model|table|object)\}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TOKEN, CREDENTIAL = "LDP_CATALOG_TOKEN", "LDP_CATALOG_CREDENTIAL"
"""The variables of the environment that open an Iceberg catalog."""


@dataclass(frozen=True)
class ServerRows:
    """The rows of one table on a server.

    Attributes:
        source: What ``run_checks`` takes.
        label: Where it is, for people.
    """

    source: Any
    label: str


@dataclass(frozen=True)
class _Server:
    """One entry of ``servers``, and the table that is wanted of it."""

    contract: Contract
    table: ContractTable
    values: Mapping[str, Any]
    key: str
    stored: str
    password_env: str | None = None

    @property
    def name(self) -> str:
        return str(self.values["server"])

    @property
    def folder(self) -> Path:
        return Path(self.contract.file).parent if self.contract.file else Path.cwd()

    def text(self, key: str) -> str | None:
        """What stands under a key; None where nothing does.

        Raises:
            ConfigError: A variable in it has no value.
        """
        value = self.values.get(key)
        if value is None or str(value) == "":
            return None
        open_ = variables(value)
        if open_:
            raise self.wrong(without_value(open_), key)
        return str(value)

    def needed(self, key: str) -> str:
        """The same, of a key that must be there."""
        found = self.text(key)
        if found is None:
            raise self.wrong("is required", key)
        return found

    def wrong(self, message: str, key: str = "", hint: str | None = None) -> ConfigError:
        """An error about the entry, or about one of its keys."""
        at = f"{self.key}.{key}" if key else self.key
        lines = self.contract.lines
        line = lines.line_of(at) if lines else None
        return ConfigError(message, file=self.contract.file, line=line, key=at, hint=hint)


def rows_at(
    contract: Contract,
    server: str,
    table: str | None = None,
    *,
    stored: str | None = None,
    environment: str | None = None,
    password_env: str | None = None,
) -> ServerRows:
    """The rows of a table where a contract says that it is. Reads nothing yet.

    Nothing in a contract is a secret: the user and the password of a database are those of ``PGUSER`` and
    ``PGPASSWORD``, keys of an object store those of its own variables, the token of an Iceberg catalog that
    of ``LDP_CATALOG_TOKEN`` or ``LDP_CATALOG_CREDENTIAL``.

    Args:
        contract: The contract.
        server: The name of one of its servers.
        table: One of its tables; may be left out where there is only one.
        stored: The table's name on the server; its ``physicalName`` by default.
        environment: Which of several servers of one name.
        password_env: The variable that holds a database's password, in place of ``PGPASSWORD``.

    Raises:
        ConfigError: There is no such server, nothing here reads its type, or a key of it is missing.
    """
    found = contract.table(table)
    at = _chosen(contract, server, environment)
    values = contract.values["servers"][at]
    entry = _Server(contract, found, values, f"servers[{at}]", stored or found.physical_name, password_env)
    type_ = str(values["type"])
    if type_ not in _READERS:
        known = ", ".join(sorted(_READERS))
        raise entry.wrong(f"a server of type {type_} is not read", "type", hint=f"these are: {known}")
    if password_env is not None and _READERS[type_] is not _postgres:
        raise entry.wrong(f"a server of type {type_} takes no password", "type")
    return _READERS[type_](entry)


def names(contract: Contract) -> list[str]:
    """What the servers of a contract are called, each once."""
    return list(dict.fromkeys(str(item["server"]) for item in contract.values.get("servers") or ()))


def _chosen(contract: Contract, server: str, environment: str | None) -> int:
    """The place of a server in the list."""
    every = list(enumerate(contract.values.get("servers") or ()))
    found = [(at, item) for at, item in every if item["server"] == server]
    if not found:
        known = ", ".join(names(contract)) or "none"
        raise ConfigError(
            f"the contract has no server {server}; it has: {known}", file=contract.file, key="servers"
        )
    mine = [at for at, item in found if len(found) == 1 or item.get("environment") == environment]
    if len(mine) == 1:
        return mine[0]
    known = ", ".join(str(item.get("environment") or "none") for _, item in found)
    raise ConfigError(
        f"the contract has several servers {server}, of the environments: {known}",
        file=contract.file,
        key="servers",
        hint="--env says which",
    )


def _postgres(entry: _Server) -> ServerRows:
    from ldp_quality.executors.postgres import PostgresTable

    host, port, database = entry.text("host"), entry.text("port"), entry.text("database")
    if host is not None and (re.search(r"[\s@?#]", host) or "://" in host):
        raise entry.wrong("is the name of a host alone, such as db.example.com", "host")
    if port is not None and not port.isdigit():
        raise entry.wrong(f"must be a number, not {port}", "port")
    place = f"[{host}]" if host and host.count(":") > 1 else quote(host or "", safe="")
    uri = f"postgresql://{place}{f':{port}' if port else ''}/{quote(database or '', safe='')}"
    stored = entry.stored
    if "." not in stored:
        schema = entry.text("schema") or "public"
        stored = f"{schema if _WORD.fullmatch(schema) else ident(schema)}.{stored}"
    source = PostgresTable(uri, stored, password_env=entry.password_env)
    return ServerRows(source, f"{stored} in PostgreSQL on {entry.name}")


def _duckdb(entry: _Server) -> ServerRows:
    schema, stored = entry.text("schema"), entry.stored
    relation = f"{ident(schema)}.{ident(stored)}" if schema and "." not in stored else stored
    path = entry.needed("database")
    return _file(entry, path, "DUCKDB", {"relation": relation}, f"{stored} in {path} on {entry.name}")


def _local(entry: _Server) -> ServerRows:
    return _files(entry, entry.needed("path"))


def _stored(entry: _Server) -> ServerRows:
    """Files of an object store."""
    endpoint = entry.text("endpointUrl")
    if endpoint is not None and os.environ.get("AWS_ENDPOINT_URL") != endpoint:
        raise entry.wrong(
            f"the store is at {endpoint}, and AWS_ENDPOINT_URL does not say so",
            "endpointUrl",
            hint=f"set AWS_ENDPOINT_URL={endpoint} and the keys of that store",
        )
    return _files(entry, entry.needed("location"))


def _iceberg(entry: _Server) -> ServerRows:
    catalog: dict[str, Any] = {"type": "rest", "uri": entry.needed("catalogUrl")}
    named = {"name": entry.text("catalog"), "warehouse": entry.text("warehouse")}
    catalog |= {name: value for name, value in named.items() if value}
    for key, variable in (("token_env", TOKEN), ("credential_env", CREDENTIAL)):
        if os.environ.get(variable):
            catalog[key] = variable
            break
    return _table(entry, catalog, entry.text("namespace"))


def _custom(entry: _Server) -> ServerRows:
    """A vendor's own: files by their format, or a local warehouse of Iceberg tables."""
    form = (entry.text("format") or "").lower()
    if form == "iceberg":
        warehouse = entry.text("warehouse") or entry.needed("path")
        catalog = {"type": "local", "warehouse_path": warehouse}
        return _table(entry, catalog, entry.text("schema") or entry.text("catalog"), key="schema")
    path = entry.text("path") or entry.text("location")
    if path is None or form not in _FORMATS:
        raise entry.wrong(
            "a custom server is read where it has a path and a format",
            "format",
            hint=f"format is iceberg or one of {', '.join(_FORMATS)}",
        )
    return _files(entry, path)


def _table(entry: _Server, catalog: dict[str, Any], space: str | None, key: str = "namespace") -> ServerRows:
    from ldp_core.query.handle import TableHandle
    from ldp_core.query.refs import TableRef

    given, _, name = entry.stored.rpartition(".")
    namespace = given or space
    if not namespace:
        raise entry.wrong("is required, or a table with its namespace", key)
    spec = Spec({**catalog, "identifier": namespace}, entry.folder, entry.key, entry.contract.file)
    ref = TableRef(spec, namespace, name, str(entry.contract.file))
    return ServerRows(TableHandle(ref), f"{ref.label} on {entry.name}")


def _files(entry: _Server, path: str) -> ServerRows:
    """Files below a path, in which ``{model}`` stands for the table."""
    word = entry.text("format")
    form = _FORMATS.get((word or _ending(path)).lower())
    if form is None:
        raise entry.wrong(
            f"files of the format {word} are not read" if word else "what is in the files?",
            "format",
            hint=f"these are: {', '.join(_FORMATS)}",
        )
    options: dict[str, Any] = {}
    encoding, delimiter = entry.text("encoding"), entry.text("delimiter")
    if encoding is not None and form == "CSV":
        options["encoding"] = encoding.lower()
    elif encoding is not None and form == "JSONL" and encoding.lower() not in ("utf-8", "utf8", "ascii"):
        raise entry.wrong(f"JSON is read in UTF-8, not in {encoding}", "encoding")
    if delimiter is not None and form == "CSV":
        options["delimiter"] = delimiter
    elif delimiter not in (None, "new_line") and form == "JSONL":
        raise entry.wrong("JSON is read line by line: new_line", "delimiter")
    place = _PLACE.sub(lambda _: entry.stored, path)
    return _file(entry, place, form, options, f"{place} on {entry.name}")


def _file(entry: _Server, path: str, form: str, options: Mapping[str, Any], label: str) -> ServerRows:
    from ldp_quality.executors.stored import FileTable

    return ServerRows(FileTable(path, form, entry.folder, options), label)


def _ending(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".gz").rpartition(".")[2]


_READERS: dict[str, Callable[[_Server], ServerRows]] = {
    "postgres": _postgres,
    "postgresql": _postgres,
    "duckdb": _duckdb,
    "local": _local,
    "s3": _stored,
    "azure": _stored,
    "iceberg": _iceberg,
    "custom": _custom,
}
