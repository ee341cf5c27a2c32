"""The only place that opens a DuckDB connection: memory, threads, spill folder, no extension downloads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DEFAULT_MEMORY_LIMIT = "400MB"


def connect(
    *,
    memory_limit: str | None = None,
    temp_directory: Path | None = None,
    threads: int | None = None,
    database: str = ":memory:",
    read_only: bool = False,
) -> DuckDBPyConnection:
    """Open a bounded DuckDB connection.

    Args:
        memory_limit: The engine's limit such as ``400MB``; ``LDP_MEMORY_LIMIT``, then 400 MB, by default.
        temp_directory: Where it spills.
        threads: Worker threads; the number of CPUs this process may use by default.
        database: A file, or memory.
        read_only: For a file.
    """
    import duckdb

    config: dict[str, Any] = {
        "memory_limit": memory_limit or os.environ.get("LDP_MEMORY_LIMIT") or DEFAULT_MEMORY_LIMIT,
        "temp_directory": str(temp_directory or tempfile.gettempdir()),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": threads or _cpus(),
    }
    con = duckdb.connect(database, read_only=read_only, config=config)
    con.execute("SET TimeZone='UTC'")
    return con


def ident(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A quoted SQL string literal."""
    return "'" + value.replace("'", "''") + "'"


def _cpus() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
