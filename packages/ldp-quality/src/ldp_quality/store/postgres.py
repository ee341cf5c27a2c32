"""A store in a PostgreSQL database, in the schema ``ldp_quality`` and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ldp_core.config.secrets import find_secrets, mask
from ldp_core.errors import ConfigError, EngineNotFound

from ldp_quality.store.database import PATIENCE, StoreError

if TYPE_CHECKING:
    import psycopg

SCHEMA = "ldp_quality"
_URI = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
_LOCK = 0x4C445051
_CONNECT_SECONDS = 10


def is_postgres(place: str) -> bool:
    """Whether a place is the URI of a PostgreSQL database."""
    return _URI.match(place) is not None


class PostgresDatabase:
    """See ``Database``.

    Args:
        uri: ``postgresql://user@host/database``; a password in it is refused.
        password_env: The environment variable that holds the password; without one, libpq looks into
            ``PGPASSWORD`` and its password file.

    Raises:
        EngineNotFound: psycopg is not installed.
        ConfigError: The URI holds a secret, or the variable is not set.
        StoreError: The database does not answer.
    """

    def __init__(self, uri: str, password_env: str | None = None) -> None:
        if find_secrets(uri):
            raise ConfigError(
                "the URI of the quality history holds a password",
                hint="leave it out, and set PGPASSWORD or the variable that password_env names",
            )
        try:
            import psycopg
        except ImportError as error:
            raise EngineNotFound(
                "a quality history in PostgreSQL needs psycopg, which is not installed",
                hint="pip install 'ldp-quality[postgres]'",
            ) from error
        parts = urlsplit(uri)
        self.label = f"{parts.hostname or 'localhost'}{parts.path}, schema {SCHEMA}"
        self._error: type[Exception] = psycopg.Error
        self._passing: type[Exception] = psycopg.OperationalError
        given = {} if password_env is None else {"password": _password(password_env)}
        with self._errors():
            self._con: psycopg.Connection[Any] = psycopg.connect(
                _URI.sub("postgresql://", uri),
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name="ldp-quality",
                **given,  # type: ignore[arg-type]
            )
            self.execute(f"SET lock_timeout = '{PATIENCE}s'")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See ``Database``."""
        with self._errors():
            cursor = self._con.execute(_told(sql).encode(), tuple(values))
            return cursor.fetchall() if cursor.description else []

    def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """See ``Database``."""
        with self._errors(), self._con.cursor() as cursor:
            cursor.executemany(_told(sql).encode(), list(rows))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See ``Database``."""
        with self._errors(), self._con.transaction():
            yield

    def lock(self) -> None:
        """See ``Database``."""
        self.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")

    def has_schema(self) -> bool:
        """See ``Database``. The catalog is read: ``to_regclass`` may answer from a cache after a wait."""
        sql = (
            "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = ? AND c.relname = 'schema_version'"
        )
        return bool(self.execute(sql, (SCHEMA,)))

    def create_schema(self) -> None:
        """See ``Database``. A schema that an administrator made is used as it is."""
        if not self.execute("SELECT 1 FROM pg_namespace WHERE nspname = ?", (SCHEMA,)):
            self.execute(f"CREATE SCHEMA {SCHEMA}")

    def moment(self, value: datetime | None) -> datetime | None:
        """See ``Database``."""
        return value

    def close(self) -> None:
        """See ``Database``."""
        self._con.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            lines = mask(str(error)).strip().splitlines() or [type(error).__name__]
            raise StoreError(
                f"the quality history in {self.label}: {lines[0]}",
                retriable=isinstance(error, self._passing),
            ) from error


def _told(sql: str) -> str:
    return sql.replace("{s}", f"{SCHEMA}.").replace("{moment}", "TIMESTAMPTZ").replace("?", "%s")


def _password(variable: str) -> str:
    found = os.environ.get(variable)
    if not found:
        raise ConfigError(f"the environment variable {variable} is not set", hint=f"export {variable}=...")
    return found
