"""Staged files: a manifest makes a run's uncommitted files findable before the first of them is written.

The manifest ``<table location>/_ldp/staged/<run hex>_a<attempt>.json`` names the run's folder below the
table's data folder, its process, and the ids that its commit will use. A thread renews it each minute.
Whoever finds one whose process is dead, or that was not renewed for 15 minutes by the store's clock, sweeps
it (``recover``).
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from ldp_core._signals import uninterrupted
from ldp_core.clock import Clock, system_clock
from ldp_core.commit import _process
from ldp_core.commit._store import Store
from ldp_core.commit.change import Base
from ldp_core.errors import CommitConflict, CommitUnknown
from ldp_core.ids import run_hex

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

logger = logging.getLogger(__name__)

VERSION = 1
RENEW_SECONDS = 60.0
DEAD_SECONDS = 15 * 60.0
FOLDER_PREFIX = "ldp_"

State = Literal["writing", "publishing", "abandoned"]


@dataclass(frozen=True)
class Manifest:
    """The content of a staged manifest.

    Attributes:
        version: Of this format.
        run_id: The run.
        attempt: Its attempt, from 1.
        folder: The run's data folder: its name below the table's data folder.
        table_uuid: The table, or the one that was to be made.
        snapshot_id: The id its snapshot would have.
        commit_uuid: Stands in the names of its manifests and manifest lists.
        host: Names the machine (and process namespace) it runs on.
        pid: Its process there.
        started: When that process started, as the system tells; tells a reused pid apart.
        created: ISO 8601, UTC.
        state: ``writing``; ``publishing`` once a commit may have been sent; ``abandoned`` by a process that
            could not learn its fate.
    """

    version: int
    run_id: str
    attempt: int
    folder: str
    table_uuid: str
    snapshot_id: int
    commit_uuid: str
    host: str
    pid: int
    started: str
    created: str
    state: State = "writing"

    def to_bytes(self) -> bytes:
        """As JSON; the snapshot id is a string, because it passes 2**53."""
        return json.dumps({**asdict(self), "snapshot_id": str(self.snapshot_id)}, indent=1).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest | None:
        """Read one; None for what is not a manifest of a known version."""
        try:
            data: dict[str, Any] = json.loads(content)
            if data["version"] != VERSION:
                return None
            return cls(**{**data, "snapshot_id": int(data["snapshot_id"])})
        except (ValueError, KeyError, TypeError):
            return None


def staged_folder(location: str) -> str:
    """The folder of a table's staged manifests."""
    return f"{location.rstrip('/')}/_ldp/staged"


def data_folder(metadata: TableMetadata) -> str:
    """The folder of a table's data files (``write.data.path``, else ``<location>/data``)."""
    path = metadata.properties.get("write.data.path")
    return path.rstrip("/") if path else f"{metadata.location.rstrip('/')}/data"


class Stage:
    """The uncommitted files of one attempt of one run; a context manager.

    Leaving the context without ``published()`` deletes them.

    Args:
        base: The table, or the one that is to be made.
        run_id: The run.
        attempt: Its attempt, from 1.
        clock: The time that the manifest notes.
    """

    def __init__(self, base: Base, run_id: str, attempt: int = 1, clock: Clock = system_clock) -> None:
        metadata = base.metadata
        label = f"{run_hex(run_id)}_a{attempt}"
        token = uuid.uuid4().hex[:8]
        self.snapshot_id = metadata.new_snapshot_id()
        self.commit_uuid = str(uuid.uuid4())
        self.location = metadata.location.rstrip("/")
        self.manifest = f"{staged_folder(self.location)}/{label}.json"
        self._root = data_folder(metadata)
        self._store = Store(dict(base.io.properties))
        self._content = Manifest(
            version=VERSION,
            run_id=run_id,
            attempt=attempt,
            folder=f"{FOLDER_PREFIX}{label}_{token}",
            table_uuid=str(metadata.table_uuid),
            snapshot_id=self.snapshot_id,
            commit_uuid=self.commit_uuid,
            host=_process.host(),
            pid=_process.pid(),
            started=_process.started(_process.pid()),
            created=clock().isoformat(),
        )
        self._exists = base.exists
        self._open = False
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._files = 0

    @property
    def folder(self) -> str:
        """The run's own data folder: a path or URI in the spelling of the table's location."""
        return f"{self._root}/{self._content.folder}"

    def new_file(self, suffix: str = ".parquet") -> str:
        """The location of a new file in the run's folder."""
        with self._lock:
            self._files += 1
            return f"{self.folder}/{self._files:05d}-{uuid.uuid4().hex}{suffix}"

    def __enter__(self) -> Stage:
        """Write the manifest, then make the folder.

        Raises:
            CommitConflict: The same attempt of the same run is at work on the table already.
        """
        found = self._store.read(self.manifest)
        if found is not None and found != self._content.to_bytes():
            raise CommitConflict(
                f"attempt {self._content.attempt} of run {self._content.run_id} is writing this already",
                hint="let it end, or start the next attempt",
            )
        with uninterrupted():
            self._store.write(self.manifest, self._content.to_bytes())
            self._open = True
        self._store.make_folder(self.folder)
        self._thread = threading.Thread(target=self._renew, name="ldp-stage", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Delete what was not published; what is in doubt is left to the next run."""
        if isinstance(error, CommitUnknown):
            self.abandon()
        self.discard()

    def still_ours(self) -> None:
        """Make sure that the files are still ours.

        Raises:
            CommitConflict: The run stood still for so long that another one swept its files.
        """
        if not self._open:
            return
        with self._lock:
            if not self._store.touch(self.manifest, self._content.to_bytes()):
                raise CommitConflict(
                    f"run {self._content.run_id} stood still too long: another run swept its files",
                    hint="run it again",
                )

    def before_commit(self) -> None:
        """Make sure that the files are still ours, and say so, right before a commit is sent.

        Raises:
            CommitConflict: The run stood still for so long that another one swept its files.
        """
        if not self._open:
            return
        with self._lock:
            self.still_ours()
            if self._content.state == "writing":
                self._content = Manifest(**{**asdict(self._content), "state": "publishing"})
                self._store.write(self.manifest, self._content.to_bytes())

    def published(self, kept: Iterable[str] | None = None) -> None:
        """The files belong to the table now: the manifest goes.

        Args:
            kept: The files that were published; others in the folder are deleted. None keeps all.
        """
        if not self._open:
            return
        with uninterrupted(), contextlib.suppress(OSError):
            self._close()
            if kept is not None:
                names = {path.rsplit("/", 1)[-1] for path in kept}
                for item in self._store.list(self.folder):
                    if item.uri.rsplit("/", 1)[-1] not in names:
                        self._store.delete(item.uri)
            self._remove_manifest()

    def abandon(self) -> None:
        """Leave all to the next run's sweep: the commit's fate is unknown, or files cannot be deleted."""
        if not self._open:
            return
        with uninterrupted():
            self._close()
            self._content = Manifest(**{**asdict(self._content), "state": "abandoned"})
            with contextlib.suppress(OSError):
                self._store.write(self.manifest, self._content.to_bytes())

    def discard(self) -> None:
        """Delete what was written and not published; safe at any time, twice too."""
        if not self._open:
            return
        with uninterrupted():
            self._close()
            for item in self._store.list(self.folder):
                self._store.delete(item.uri)
            self._remove_manifest()

    def _remove_manifest(self) -> None:
        self._store.delete(self.manifest)
        self._store.prune(self.folder, up_to=self.location if not self._exists else self.folder)
        self._store.prune(staged_folder(self.location), up_to=self.location)

    def _close(self) -> None:
        self._open = False
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_SECONDS):
            with self._lock:
                try:
                    if self._stop.is_set() or not self._store.touch(self.manifest, self._content.to_bytes()):
                        return
                except Exception as error:
                    logger.warning("staged manifest %s was not renewed: %s", self.manifest, error)
