"""The lock of a table that is rewritten from what it holds (overwrite, upsert)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ldp_core.commit.change import Base
from ldp_core.fs import is_local, local_path
from ldp_core.locks import file_lock


@contextmanager
def table_lock(base: Base, *, timeout: float = 300) -> Iterator[None]:
    """Hold a table's lock from reading it to publishing, where its files are on this machine.

    It spares recomputing after a lost race; correctness does not depend on it (a commit compares and swaps).
    Tables in object stores have no lock: the context does nothing.

    Args:
        base: The table.
        timeout: Seconds to wait for another writer.

    Raises:
        CommitConflict: Another process held it for the whole time.
    """
    location = base.metadata.location
    if not is_local(location):
        yield
        return
    path = local_path(location) / "_ldp" / "write.lock"
    with file_lock(path, what=f"table {'.'.join(base.identifier)}", timeout=timeout):
        yield
