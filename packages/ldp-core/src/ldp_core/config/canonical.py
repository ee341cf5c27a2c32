"""Canonical JSON, and the hashes that stand on it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.window.model import instant

UNHASHED = frozenset({"observability", "schedule", "retries", "docs", "maintenance", "sla", "engine"})
"""Sections that change no row of a run."""
FREE_MAPS = frozenset({"properties", "properties_env", "columns", "vars"})
"""Keys whose objects have free keys, in which ``x-...`` is data."""
_UPPER = ("format", "engine")
_LOWER = ("write_mode",)
_PATHS = ("path", "warehouse_path", "warehouse")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, ``,`` and ``:`` without spaces, no escapes beyond what JSON needs.

    Raises:
        ValueError: The value holds NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """The sha256 of the UTF-8 canonical JSON of a value, as 64 hex digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def file_hash(path: str | Path) -> dict[str, str]:
    """``{"sha256": ...}`` of a file's bytes, which stands for a file that a config names.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        return {"sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


def idempotency_key(
    identifier: str, target: str, start: datetime | None = None, end: datetime | None = None
) -> str:
    """The key under which a window of a pipeline is published once.

    Args:
        identifier: Of the config.
        target: ``iceberg:<namespace>.<table>``, or that without ``iceberg:``.
        start: The start of the window, part of it.
        end: Its end, not part of it.
    """
    full = target if target.startswith("iceberg:") else f"iceberg:{target}"
    bounds = [instant(moment) if moment else "" for moment in (start, end)]
    return digest(["ldp/v1", "idempotency", identifier, full, *bounds])


def replace_key(key: str, spec_hash: str) -> str:
    """The key under which what a window has published is replaced once for a config as it is.

    Args:
        key: The key of the window.
        spec_hash: The hash of the config.
    """
    return digest(["ldp/v1", "replace", key, spec_hash])


def requeue_key(key: str, batch: str) -> str:
    """The key under which the rows of a quarantine batch are published once.

    Args:
        key: The key under which the batch was put aside.
        batch: The batch.
    """
    return digest(["ldp/v1", "requeue", key, batch])


def without_remarks(value: Any) -> Any:
    """Plain data without ``$schema`` and ``x-*`` keys, at any depth; the keys of free maps are data."""
    if isinstance(value, Mapping):
        return {
            name: dict(item) if name in FREE_MAPS and isinstance(item, Mapping) else without_remarks(item)
            for name, item in value.items()
            if name != "$schema" and not str(name).startswith("x-")
        }
    if isinstance(value, list | tuple):
        return [without_remarks(item) for item in value]
    return value


def relative(text: str, base_dir: Path) -> str:
    """A path, normalised and relative to the config's folder; a URI stays as it is."""
    if "://" in text or not text:
        return text
    if Path(text).is_absolute():
        return Path(os.path.relpath(text, base_dir.absolute())).as_posix()
    return Path(os.path.normpath(text)).as_posix()


def endpoint(values: Any, base_dir: Path, namespace: str | None = None) -> Any:
    """The hashed form of ``metadata.source`` or ``metadata.target``.

    Args:
        values: As written.
        base_dir: The config's folder.
        namespace: The namespace where the catalog is named in ``ldp.yaml``: all of it that is hashed.
    """
    if not isinstance(values, Mapping):
        return values
    body = _spelled(values, base_dir)
    catalog = body.get("catalog")
    if isinstance(catalog, Mapping):
        body["catalog"] = _spelled(catalog, base_dir)
    elif isinstance(catalog, str):
        body["catalog"] = {"namespace": namespace}
    if isinstance(body.get("credentials"), Mapping):
        body["credentials"] = _spelled(body["credentials"], base_dir)
    if isinstance(body.get("partition_by"), list):
        body["partition_by"] = [_lowered(item, "transform") for item in body["partition_by"]]
    return body


def _spelled(values: Mapping[str, Any], base_dir: Path) -> dict[str, Any]:
    body = dict(_lowered(values, "type"))
    for name in _UPPER:
        if isinstance(body.get(name), str):
            body[name] = body[name].upper()
    for name in _LOWER:
        body = _lowered(body, name)
    for name in _PATHS:
        if isinstance(body.get(name), str):
            body[name] = relative(body[name], base_dir)
        elif isinstance(body.get(name), list):
            body[name] = [relative(item, base_dir) if isinstance(item, str) else item for item in body[name]]
    return body


def _lowered(values: Any, name: str) -> Any:
    if isinstance(values, Mapping) and isinstance(values.get(name), str):
        return {**values, name: values[name].lower()}
    return values


def quality(value: Any) -> Any:
    """A list of checks as the object it stands for; ``on_failure`` under that name, in lower case."""
    if isinstance(value, list | tuple):
        return {"on_failure": "fail", "checks": list(value)}
    if isinstance(value, Mapping):
        words = [name for name in ("on_failure", "on_fail", "onFail", "onFailure") if name in value]
        if len(words) == 1:
            value = {"on_failure" if name == words[0] else name: item for name, item in value.items()}
    return _lowered(value, "on_failure")
