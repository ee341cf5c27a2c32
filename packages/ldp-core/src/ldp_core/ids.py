"""Identifiers of runs and events."""

from __future__ import annotations

import hashlib
import uuid


def new_id() -> str:
    """A new uuid7 as text: unique, and sorted by the time it was made."""
    import uuid_utils

    return str(uuid_utils.uuid7())


def is_text(value: object) -> bool:
    """Whether a value can name a run or stand as a key: text that says something and fits on a line."""
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def run_hex(run_id: str) -> str:
    """32 hex digits that name a run in branch, tag and file names.

    The hex of a uuid, else the first 32 hex digits of the sha256 of the text.
    """
    try:
        return uuid.UUID(run_id).hex
    except ValueError:
        return hashlib.sha256(run_id.encode()).hexdigest()[:32]
