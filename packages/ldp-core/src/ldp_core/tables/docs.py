"""``metadata.docs`` of a config in an Iceberg table: a description a column, and properties of the table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PROPERTIES = {
    "description": "comment",
    "owner": "owner",
    "layer": "ldp.docs.layer",
    "grain": "ldp.docs.grain",
    "primary_key": "ldp.docs.primary-key",
    "tags": "ldp.docs.tags",
    "refresh": "ldp.docs.refresh",
}
"""Which property each part of the docs becomes; ``comment`` and ``owner`` are what other engines show."""


def properties(docs: Mapping[str, Any] | None) -> dict[str, str]:
    """The table properties that docs become; lists and objects as JSON."""
    found = {}
    for key, name in PROPERTIES.items():
        value = (docs or {}).get(key)
        if value is not None:
            found[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


def columns(docs: Mapping[str, Any] | None) -> dict[str, str]:
    """The descriptions by column name."""
    return {str(name): str(text) for name, text in ((docs or {}).get("columns") or {}).items()}


def changed(existing: Mapping[str, str], docs: Mapping[str, Any] | None) -> dict[str, str]:
    """The properties of the docs that the table does not have yet, or has otherwise."""
    return {name: text for name, text in properties(docs).items() if existing.get(name) != text}
