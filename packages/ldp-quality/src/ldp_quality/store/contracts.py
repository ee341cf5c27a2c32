"""Versions of contracts in the store: every one that was saved, as it was given."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError

from ldp_quality.store.database import Database
from ldp_quality.store.records import ContractVersion, moment_of

_COLUMNS = tuple(item.name for item in fields(ContractVersion))


def save(
    db: Database,
    contract_id: str,
    content: str,
    *,
    version: str,
    who: str,
    saved: datetime,
    note: str,
    accept: Callable[[ContractVersion | None], None] | None = None,
) -> ContractVersion:
    """Save a contract, unless it says what the last saved version of it says.

    One that goes back to what an older version said is a version of its own: the last one is what holds.

    Args:
        db: The store.
        contract_id: The contract.
        content: Its text.
        version: The version that it gives itself.
        who: Who saves it.
        saved: When.
        note: Why.
        accept: Asked about the last version before a new one is saved, while nobody else can save; what it
            raises ends the save.

    Returns:
        The version that was saved, or the last one where nothing changed.
    """
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    with db.transaction():
        db.lock()
        last = read(db, contract_id, limit=1)
        if last and last[0].sha256 == sha256:
            return last[0]
        if accept is not None:
            accept(last[0] if last else None)
        number = last[0].number + 1 if last else 1
        made = ContractVersion(contract_id, number, version, content, sha256, who, saved, note)
        values = [getattr(made, name) for name in _COLUMNS]
        values[_COLUMNS.index("saved")] = db.moment(saved)
        marks = ", ".join("?" * len(_COLUMNS))
        db.execute(f"INSERT INTO {{s}}contracts ({', '.join(_COLUMNS)}) VALUES ({marks})", values)
    return made


def read(
    db: Database, contract_id: str | None = None, *, number: int | None = None, limit: int | None = None
) -> list[ContractVersion]:
    """Versions of one contract, or of all: by contract, the last one first.

    Args:
        db: The store.
        contract_id: Only of this one.
        number: Only this one.
        limit: So many at most.
    """
    given = (("contract_id", contract_id), ("number", number))
    asked = [(name, value) for name, value in given if value is not None]
    where = f" WHERE {' AND '.join(f'{name} = ?' for name, _ in asked)}" if asked else ""
    most = "" if limit is None else f" LIMIT {int(limit)}"
    rows = db.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM {{s}}contracts{where} ORDER BY contract_id, number DESC{most}",
        [value for _, value in asked],
    )
    return [_version(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def text_of(path: Path) -> str:
    """The text of a contract's file, to the byte.

    Raises:
        ConfigError: It cannot be read, or is no object in UTF-8.
    """
    from ldp_core.config.load import load_document

    load_document(path)
    return path.read_bytes().decode("utf-8-sig")


def said(text: str, name: str | None, *, strict: bool = True) -> Mapping[str, Any]:
    """The data of a contract's text, in JSON or YAML.

    Args:
        text: The text.
        name: What it is called in messages.
        strict: Whether a text that is no contract is an error; else it says nothing.

    Raises:
        ConfigError: It is no object.
    """
    from ldp_core.config._json import parse_json
    from ldp_core.config._yaml import parse_yaml

    parse = parse_json if text.lstrip().startswith("{") else parse_yaml
    try:
        data = parse(text, name or "the contract")[0]
    except ConfigError:
        if strict:
            raise
        return {}
    if isinstance(data, dict):
        return data
    if strict:
        raise ConfigError("the contract is no object", file=name)
    return {}


def _version(values: dict[str, Any]) -> ContractVersion:
    return ContractVersion(**{**values, "saved": moment_of(values["saved"])})
