"""Deleting files: several at a time, never faster than asked, each with a line for the audit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ldp_core.fs import fsspec_fs, host_of, is_local, local_path, scheme_of

from ldp_maintenance.model import Doing

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

_SMALL_POOL = 4
_BATCH = 500
_NAMED = 20


@dataclass(frozen=True)
class Doomed:
    """A file that goes.

    Attributes:
        path: Where it is.
        reason: Why, for the audit.
        bytes: Its size, where it is known.
    """

    path: str
    reason: str
    bytes: int | None = None


@dataclass(frozen=True)
class Deleted:
    """What became of files that were to be deleted.

    Attributes:
        files: How many were.
        bytes: Their bytes, as far as sizes are known.
        missing: How many were not there any more.
        failed: Those that could not be, each with the reason.
    """

    files: int = 0
    bytes: int = 0
    missing: int = 0
    failed: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON; at most 20 failures are named."""
        found: dict[str, Any] = {"deleted_files": self.files, "deleted_bytes": self.bytes}
        if self.missing:
            found["missing_files"] = self.missing
        if self.failed:
            found["failed_files"] = len(self.failed)
            found["failures"] = [{"path": path, "reason": why} for path, why in self.failed[:_NAMED]]
        return found

    def lines(self) -> tuple[str, ...]:
        """What a person has to know: files that stay behind."""
        if not self.failed:
            return ()
        path, why = self.failed[0]
        more = f" and {len(self.failed) - 1} more" if len(self.failed) > 1 else ""
        return (f"{len(self.failed)} files could not be deleted and stay: {path} ({why}){more}",)


def delete_files(io: FileIO, files: Sequence[Doomed], doing: Doing, *, table: str, operation: str) -> Deleted:
    """Delete files. A failure is counted and named, and ends nothing; a file that is gone is fine.

    Args:
        io: Of the table; its properties open object stores.
        files: What goes.
        doing: How many at a time, how many a second, and who is told.
        table: For the audit.
        operation: For the audit.
    """
    job = _Job(dict(io.properties), doing, table, operation, len(files))
    local: list[Sequence[Doomed]] = [[file] for file in files if is_local(file.path)]
    remote = [file for file in files if not is_local(file.path)]
    if doing.jobs > 1:
        batches = local
    else:
        batches = []
        for one in local:  # Handing a near file to a thread costs more than deleting it.
            job.batch(one)
    size = _BATCH if doing.deletes_per_second is None else max(1, min(_BATCH, int(doing.deletes_per_second)))
    for group in _by_store(remote):
        batches += [group[at : at + size] for at in range(0, len(group), size)]
    with ThreadPoolExecutor(doing.jobs if doing.jobs > 1 else _SMALL_POOL) as pool:
        for _ in pool.map(job.batch, batches):
            pass
    return Deleted(job.files, job.bytes, job.missing, tuple(sorted(job.failed)))


def _by_store(files: Iterable[Doomed]) -> list[list[Doomed]]:
    groups: dict[tuple[str, str | None], list[Doomed]] = {}
    for file in files:
        groups.setdefault((scheme_of(file.path), host_of(file.path)), []).append(file)
    return list(groups.values())


@dataclass
class _Job:
    """One call of ``delete_files``."""

    properties: Mapping[str, str]
    doing: Doing
    table: str
    operation: str
    total: int
    files: int = 0
    bytes: int = 0
    missing: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    begun: int = 0
    started: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def batch(self, files: Sequence[Doomed]) -> None:
        """Delete some files of one store: in one request where it takes many."""
        self.wait(len(files))
        if len(files) > 1 and self.at_once(files):
            for file in files:
                self.done(file, file.bytes or 0)
            return
        for file in files:
            self.single(file)

    def wait(self, count: int) -> None:
        """Wait until so many more may go."""
        rate = self.doing.deletes_per_second
        if not rate:
            return
        with self.lock:
            due = self.started + self.begun / rate
            self.begun += count
        time.sleep(max(0.0, due - time.monotonic()))

    def at_once(self, files: Sequence[Doomed]) -> bool:
        """Delete by one bulk request; False where the store has none, or where a file failed in it."""
        paths = [file.path for file in files]
        # The bulk calls of fsspec read these as patterns.
        if any(sign in path for path in paths for sign in "*?["):
            return False
        try:
            fsspec_fs(scheme_of(paths[0]), self.properties, host=host_of(paths[0])).rm(paths)
        except Exception:
            return False
        return True

    def single(self, file: Doomed) -> None:
        """Delete one file."""
        try:
            if is_local(file.path):
                place = local_path(file.path)
                size = place.lstat().st_size
                place.unlink()
            else:
                size = file.bytes or 0
                store = fsspec_fs(scheme_of(file.path), self.properties, host=host_of(file.path))
                store.rm_file(file.path)
        except FileNotFoundError:
            with self.lock:
                self.missing += 1
        except Exception as error:
            with self.lock:
                self.failed.append(
                    (file.path, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
                )
        else:
            self.done(file, size)

    def done(self, file: Doomed, size: int) -> None:
        """Count a deleted file, and tell of it."""
        with self.lock:
            self.files += 1
            self.bytes += size
            count = self.files
            if self.doing.audit is not None:
                self.doing.audit(
                    {
                        "ts": self.doing.clock().isoformat(),
                        "table": self.table,
                        "operation": self.operation,
                        "path": file.path,
                        "bytes": size,
                        "reason": file.reason,
                    }
                )
            if self.doing.progress is not None:
                self.doing.progress(self.operation, count, self.total, "files")
