"""Identifiers of runs and events."""

from __future__ import annotations

import hashlib
import uuid


def new_id() -> str:
    """A new uuid7 as text: unique, and sorted by the time it was made."""
    import uuid_utils

    return str(uuid_utils.uuid7())


MOST_BYTES = 512
"""Of a key or a run id, in UTF-8: tables keep them in their metadata."""


def is_text(value: object) -> bool:
    """Whether a value says something and fits on a line."""
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def unfit(what: str, value: object) -> str | None:
    """Why a value can neither name a run nor stand as a key, in one line; None where it can.

    Args:
        what: What it is called.
        value: It.
    """
    if not isinstance(value, str) or not is_text(value):
        shown = repr(value)
        shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
        return f"{what} must be a non-empty string on one line, got {shown}"
    size = len(value.encode())
    return f"{what} has {size:,} bytes, and {MOST_BYTES} are the most" if size > MOST_BYTES else None


def run_hex(run_id: str) -> str:
    """32 hex digits that name a run in branch, tag and file names.

    The hex of a uuid, else the first 32 hex digits of the sha256 of the text.
    """
    try:
        return uuid.UUID(run_id).hex
    except ValueError:
        return hashlib.sha256(run_id.encode()).hexdigest()[:32]
