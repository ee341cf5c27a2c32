"""A table-config file made of the ``x-iceberg`` blocks of a Singer or Meltano catalog.

A block may stand in the stream, in the metadata of the stream (the entry with an empty breadcrumb, where
Meltano puts what a project says), or in the stream's schema. Where several do, the metadata beats the stream,
and the stream beats the schema, key by key. It may be text that is JSON: Meltano takes an object under
``metadata`` apart and drops its parts, for they name no column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ldp_core.config.load import load_document
from ldp_core.config.validate import check
from ldp_core.errors import ConfigError, Problem

from ldp_maintenance.config.problems import setting_problems
from ldp_maintenance.config.shapes import SETTINGS

BLOCK = "x-iceberg"


def from_singer(
    path: str, namespace: str, warehouse: str | None = None, *, evolution: bool = True
) -> dict[str, Any]:
    """The file.

    Args:
        path: The catalog.
        namespace: Of the tables.
        warehouse: That the file is for; by default ``x-iceberg.warehouse`` at the top of the catalog.
        evolution: False turns partition evolution off where a block says nothing of it, and by ``defaults``
            for all other tables of the warehouse. Else the file is for the tables of the blocks alone.

    Raises:
        ConfigError: It is no such catalog, or a block is not right; carries every problem, with its line.
    """
    document = load_document(path)
    streams = document.data.get("streams")
    if not isinstance(streams, list):
        raise ConfigError("there is no list of streams", file=document.name, key="streams")
    top = document.data.get(BLOCK)
    warehouse = warehouse or (top.get("warehouse") if isinstance(top, Mapping) else None)
    if not isinstance(warehouse, str):
        raise ConfigError("the warehouse is not named", file=document.name, hint="--warehouse NAME")
    if any(not part.strip() for part in namespace.split(".")):
        raise ConfigError(f"{namespace!r} is no namespace: a part of it is empty")
    tables: dict[str, Any] = {}
    problems: list[Problem] = []
    for at, stream in enumerate(streams):
        if not isinstance(stream, Mapping) or not _selected(stream):
            continue
        name, block, wrong = _name(stream), *_block(stream)
        if block is None and not wrong:
            continue
        if not wrong:
            wrong = [*check(SETTINGS, block), *setting_problems(block or {})]
        if not name or "." in name or name in tables:
            why = "is there twice" if name in tables else "is no table name"
            wrong.append(Problem(f"the stream {name!r} {why}", hint="set its alias or table_name"))
        key = f"streams[{at}]"
        line = document.line_of(key)
        for item in wrong:
            inner = f"{key}.{BLOCK}.{item.key}".rstrip(".")
            problems.append(replace(item, key=inner, file=document.name, line=line))
        tables[name] = block
    if problems:
        raise ConfigError.from_problems(tuple(problems))
    off = {"partition_evolution": {"enabled": False}}
    if not evolution:
        tables = {name: {**off, **block} for name, block in tables.items()}
    return {
        "version": 2,
        "warehouse": warehouse,
        **({} if evolution else {"defaults": off}),
        "namespaces": {namespace: {"tables": tables}},
    }


def _of_stream(stream: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of the stream itself: the entry whose breadcrumb is empty."""
    entries = stream.get("metadata")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and not entry.get("breadcrumb"):
            found = entry.get("metadata")
            return found if isinstance(found, Mapping) else {}
    return {}


def _block(stream: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The blocks of a stream as one, None where there is none; and what is wrong with them."""
    schema = stream.get("schema")
    found: dict[str, Any] | None = None
    for place in (schema if isinstance(schema, Mapping) else {}, stream, _of_stream(stream)):
        block = place.get(BLOCK)
        if isinstance(block, str):
            block = _parsed(block)
        if isinstance(block, Mapping):
            found = {**(found or {}), **block}
        elif block is not None:
            return None, [Problem("must be an object, or text that is the JSON of one")]
    return found, []


def _parsed(text: str) -> Any:
    """Text as JSON, else as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _selected(stream: Mapping[str, Any]) -> bool:
    """Whether the stream is extracted at all; a catalog that does not say so selects it."""
    return _of_stream(stream).get("selected", stream.get("selected", True)) is not False


def _name(stream: Mapping[str, Any]) -> str:
    """The table that a stream is loaded into."""
    for key in ("table_name", "stream_alias", "alias", "stream", "tap_stream_id"):
        if isinstance(stream.get(key), str) and stream[key]:
            return str(stream[key]).rsplit("-", 1)[-1] if key == "tap_stream_id" else str(stream[key])
    return ""
