"""Reading a SQLite catalog and a table's metadata file with the standard library alone.

26 ms instead of the seconds that pyiceberg and SQLAlchemy take to import. Rows are those of Iceberg's JDBC
catalog (``iceberg_tables``, ``iceberg_namespace_properties``); metadata is the JSON of the Iceberg table
specification, plain or gzipped.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ldp_core.catalogs._moved import check_place
from ldp_core.errors import CatalogError, TableNotFound
from ldp_core.fs import is_local, local_path

_BUSY_SECONDS = 30
_ATTEMPTS = 5


@dataclass(frozen=True)
class Peeked:
    """A table's metadata as it is in the file.

    Attributes:
        location: The metadata file, as the catalog names it.
        data: The metadata JSON.
    """

    location: str
    data: dict[str, Any]


@dataclass(frozen=True)
class PeekedCatalog:
    """A SQLite catalog, read without pyiceberg.

    Attributes:
        path: Its file.
        name: The catalog name that its rows carry.
        warehouse: The present warehouse folder; None where the tables may be anywhere.
        remote: Loads the metadata of a table whose files are not on this machine.
    """

    path: Path
    name: str
    warehouse: Path | None
    remote: Callable[[str, str], Peeked | None] | None = None

    def exists(self) -> bool:
        """Whether the catalog's file is there."""
        return self.path.is_file()

    def namespaces(self) -> list[str]:
        """Every namespace, dotted, sorted.

        Raises:
            TableNotFound: There is no catalog.
        """
        rows = self._rows(
            "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = ?", (self.name,)
        )
        more = self._rows(
            "SELECT DISTINCT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?", (self.name,)
        )
        return sorted({str(row[0]) for row in (*rows, *more)})

    def tables(self) -> list[tuple[str, str]]:
        """Every table as (namespace, name), sorted; views are left out.

        Raises:
            TableNotFound: There is no catalog.
        """
        rows = self._rows("SELECT * FROM iceberg_tables WHERE catalog_name = ?", (self.name,))
        kinds = [dict(row) for row in rows]
        return sorted(
            (str(row["table_namespace"]), str(row["table_name"]))
            for row in kinds
            if (row.get("iceberg_type") or "TABLE") == "TABLE"
        )

    def metadata(self, namespace: str, name: str) -> Peeked | None:
        """A table's current metadata, or None where the catalog has no such table.

        Right beside a writer: a metadata file that a newer commit has cleaned away is looked up again.

        Raises:
            TableNotFound: There is no catalog.
            CatalogError: The table's files are not where the catalog says, or its metadata is broken.
        """
        seen: str | None = None
        for _ in range(_ATTEMPTS):
            location = self._location(namespace, name)
            if location is None:
                return None
            if not is_local(location):
                return self.remote(namespace, name) if self.remote else None
            if self.warehouse is not None:
                check_place(f"{namespace}.{name}", location, self.warehouse)
            try:
                return Peeked(location, _unchanged(local_path(location)))
            except FileNotFoundError as error:
                if location == seen:
                    raise CatalogError(
                        f"the metadata of {namespace}.{name} is missing: {local_path(location)}",
                        hint=f"the catalog {self.path} names it; put it back or register the table again",
                    ) from error
                seen = location
        raise CatalogError(f"the metadata of {namespace}.{name} changes faster than it can be read")

    def _location(self, namespace: str, name: str) -> str | None:
        rows = self._rows(
            "SELECT metadata_location FROM iceberg_tables"
            " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
            (self.name, namespace, name),
        )
        return str(rows[0][0]) if rows and rows[0][0] else None

    def _rows(self, sql: str, values: tuple[str, ...]) -> list[sqlite3.Row]:
        try:
            with _reading(self.path, "ro") as con:
                return con.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            if "readonly" not in str(error):
                raise CatalogError(f"catalog {self.path} cannot be read: {error}") from error
        except sqlite3.DatabaseError as error:
            raise CatalogError(f"{self.path} is not a catalog: {error}") from error
        # A writer was killed and left its journal: SQLite has to roll it back before anybody can read.
        with _reading(self.path, "rw") as con:
            return con.execute(sql, values).fetchall()


@contextmanager
def _reading(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise TableNotFound(f"there is no catalog at {path}", hint="run a config that loads into it first")
    uri = f"file:{quote(str(path.resolve()))}?mode={mode}"
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as con:
        con.row_factory = sqlite3.Row
        yield con


def _unchanged(path: Path) -> dict[str, Any]:
    """The JSON of a metadata file, parsed once while nobody writes it anew."""
    stat = path.stat()
    return _parsed(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(maxsize=1)
def _parsed(path: Path, *stamp: int) -> dict[str, Any]:
    del stamp
    return read_metadata(path)


def read_metadata(path: Path) -> dict[str, Any]:
    """The JSON of a metadata file, gzipped or not.

    Raises:
        FileNotFoundError: It is not there.
        CatalogError: It is not JSON.
    """
    raw = path.read_bytes()
    try:
        data: dict[str, Any] = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (ValueError, OSError, EOFError) as error:
        raise CatalogError(f"metadata file {path} is broken: {error}") from error
    return data


def only_name(path: Path) -> str | None:
    """The name of the one catalog that a SQLite file holds; None where there are none or several."""
    if not path.is_file():
        return None
    rows = PeekedCatalog(path, "", None)._rows("SELECT DISTINCT catalog_name FROM iceberg_tables", ())
    return str(rows[0][0]) if len(rows) == 1 else None
