"""A store in a SQLite file.

It keeps SQLite's own journal in place of a write-ahead log: readers then need no right to write, a killed
writer's half is rolled back by whoever opens the file next, and a file that is copied is whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ldp_quality.store.database import PATIENCE, StoreError, not_found
from ldp_quality.store.records import instant

APPLICATION = 0x4C445051
"""``LDPQ`` in the header of the file: it is no other program's."""


class SqliteDatabase:
    """See ``Database``.

    Args:
        path: The file.
        create: Whether it and its folder may be made.

    Raises:
        StoreNotFound: There is no such file, and it may not be made.
        StoreError: It cannot be opened.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.label = str(path)
        if not create and not path.is_file():
            raise not_found(self.label)
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        uri = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"
        with self._errors():
            # Transactions are begun and ended here, not guessed by the driver.
            self._con = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
            try:
                self._con.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                self._con.close()
                raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ``Database``."""
        with self._errors():
            return self._con.execute(_told(sql), tuple(values)).fetchall()

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """See ``Database``."""
        with self._errors():
            self._con.executemany(_told(sql), rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See ``Database``. The right to write is taken at once: two that read first could not both go on."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._con.in_transaction:
                self._con.execute("ROLLBACK")
            raise

    def lock(self) -> None:
        """Nothing to do: a transaction has the file for itself."""

    def has_schema(self) -> bool:
        """See ``Database``."""
        # In this order: both come into being at once, and it may be between these two questions.
        if not self.execute("SELECT count(*) FROM sqlite_master")[0][0]:
            return False
        if self.execute("PRAGMA application_id")[0][0] != APPLICATION:
            raise StoreError(
                f"{self.label} is a database of something else",
                hint="name another file for the quality history",
            )
        return True

    def create_schema(self) -> None:
        """See ``Database``."""
        self.execute(f"PRAGMA application_id = {APPLICATION}")

    def moment(self, value: datetime | None) -> str | None:
        """See ``Database``."""
        return None if value is None else instant(value)

    def close(self) -> None:
        """See ``Database``."""
        self._con.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text:
                raise StoreError(
                    f"another process has held the quality history {self.label} for more than {PATIENCE} s",
                    hint="run it again when that has ended",
                    retriable=True,
                ) from error
            if "not a database" in text:
                raise StoreError(f"{self.label} is no SQLite file", hint="name another file") from error
            raise StoreError(f"the quality history {self.label}: {text}") from error


def _told(sql: str) -> str:
    return sql.replace("{s}", "").replace("{moment}", "TEXT")
