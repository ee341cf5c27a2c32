"""What the store asks of a database, so that SQLite and PostgreSQL are one to everything above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from ldp_core.errors import LDPError

PATIENCE = 30
"""Seconds that a writer waits for another one."""


class StoreError(LDPError):
    """The store of quality history cannot be opened, read or written."""

    code = "quality_store"


class StoreNotFound(StoreError):
    """There is no store yet."""

    code = "quality_store_not_found"


def not_found(label: str) -> StoreNotFound:
    """The error that there is no store, and what to do."""
    return StoreNotFound(
        f"there is no quality history in {label}",
        hint="runs of a config with the sink quality_store in metadata.observability keep one; "
        "--store names one that is elsewhere",
    )


class Database(Protocol):
    """A connection to one store.

    The SQL is what both databases understand; ``?`` stands for a value, ``{s}`` before the name of a table
    for the schema, ``{moment}`` for the type of a time.
    """

    label: str
    """Where it is, for people; holds no secret."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of one statement; none where it gives none.

        Raises:
            StoreError: It does not run.
        """

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows."""

    def transaction(self) -> AbstractContextManager[None]:
        """What is written inside takes effect as one, or not at all."""

    def lock(self) -> None:
        """Let nobody else hold this lock until the transaction ends. Waits for who has it."""

    def has_schema(self) -> bool:
        """Whether the tables of the store are there.

        Raises:
            StoreError: The place belongs to something else.
        """

    def create_schema(self) -> None:
        """Mark the place as the store's, inside a transaction."""

    def moment(self, value: datetime | None) -> Any:
        """A moment as this database keeps it."""

    def close(self) -> None:
        """Let the connection go."""
