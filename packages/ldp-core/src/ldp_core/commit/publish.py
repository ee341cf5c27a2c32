"""Publishing: one catalog commit makes a change visible, or nothing happened.

A lost race is answered by building the change again on the new head. When nobody can say whether a commit
took effect, the table is asked for the snapshot id; it is never guessed. Sending the same commit twice is
safe: both assert the same base, so at most one of them takes effect.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ldp_core._signals import uninterrupted
from ldp_core.catalogs.tables import load
from ldp_core.commit._manifests import Manifests
from ldp_core.commit._snapshot import Prepared, prepare
from ldp_core.commit.base import from_table
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Extra
from ldp_core.commit.lineage import Point
from ldp_core.commit.retry import APPEND, RetryPolicy, is_conflict, is_unknown
from ldp_core.commit.send import send
from ldp_core.errors import CatalogError, CommitConflict, CommitUnknown, LDPError, TableNotFound
from ldp_core.tables.view import TableView, of_metadata

if TYPE_CHECKING:
    from pyiceberg.table import CommitTableResponse

    from ldp_core.commit.stage import Stage

logger = logging.getLogger(__name__)

Guard = Callable[[TableView, Point], Extra]
"""Asked before every commit that is tried: what it adds, or an error that stops the publish."""


class _Retry(Exception):
    """The race was lost, or the fate of the commit is unknown: look and try again."""


def publish(
    base: Base,
    build: Callable[[Base], Change],
    *,
    policy: RetryPolicy = APPEND,
    summary: Mapping[str, str] | None = None,
    stage: Stage | None = None,
    guard: Guard | None = None,
) -> Published:
    """Publish a change in one commit.

    Args:
        base: What the change is built on first.
        build: Gives the change for a base: the given one first, a fresh one after every lost race. After a
            lost creation the fresh base is a table that exists, with the ids that its winner gave it.
        policy: ``APPEND`` where ``build`` only hands out the same files again, ``RECOMPUTE`` where it works.
        summary: Keys for the snapshot summary.
        stage: Where the added files stand; told before the commit, and when it took effect.
        guard: Looks at the table before every attempt (see ``Claim.check``); what it raises ends the publish.

    Raises:
        CommitConflict: The races were all lost, or the table was dropped or replaced meanwhile.
        CommitUnknown: Nobody can say whether it took effect; the files are left for the next run's sweep.
        CatalogError: The catalog refused it.
    """
    job = _Job(base, build, dict(summary or {}), stage, guard)
    try:
        for attempt in policy.retrying(_Retry):
            with attempt:
                return job.once()
    except _Retry as error:
        job.settle()
        raise job.gave_up(error) from error.__cause__
    except BaseException:
        job.settle()
        raise
    raise AssertionError("the retry loop returns or raises")


@dataclass
class _Job:
    """One call of ``publish``: what must survive from one attempt to the next."""

    base: Base
    build: Callable[[Base], Change]
    summary: Mapping[str, str]
    stage: Stage | None
    guard: Guard | None = None
    snapshot_id: int = 0
    commit_uuid: str = ""
    sends: int = 0
    doubt: bool = False
    landed: bool = False
    change: Change | None = None
    metadata_files: list[str] = field(default_factory=list)
    manifests: Manifests = field(init=False)

    def __post_init__(self) -> None:
        self.snapshot_id = self.stage.snapshot_id if self.stage else self.base.metadata.new_snapshot_id()
        self.commit_uuid = self.stage.commit_uuid if self.stage else str(uuid.uuid4())
        self.manifests = Manifests(self.base.io, self.snapshot_id, self._metadata_path)

    def once(self) -> Published:
        """One attempt: look, build, send."""
        if self.sends:
            found = self._refresh()
            if found is not None:
                return found
        self.manifests.io = self.base.io
        extra = self._guarded()
        self.change = self._built()
        list_path = self._metadata_path(f"{self.sends}.avro", f"snap-{self.snapshot_id}-")
        prepared = prepare(self.base, self.change, self.manifests, list_path, self.summary, extra)
        if self.stage:
            self.stage.before_commit()
        with uninterrupted():
            response = self._send(prepared)
            return self._done(response.metadata_location, prepared.files, response)

    def _built(self) -> Change:
        """The change on the present base; an error that comes of swept files says so."""
        try:
            return self.build(self.base)
        except Exception:
            if self.stage:
                self.stage.still_ours()
            raise

    def _guarded(self) -> Extra:
        if self.guard is None:
            return Extra()
        metadata = self.base.metadata
        sequence = metadata.next_sequence_number()
        return self.guard(of_metadata(metadata, self.base.io), Point(self.snapshot_id, sequence))

    def _send(self, prepared: Prepared) -> CommitTableResponse:
        self.sends += 1
        doubt_before = self.doubt
        self.doubt = True
        try:
            response = send(self.base, prepared.requirements, prepared.updates, self.metadata_files)
        except Exception as error:
            if is_conflict(error):
                # An earlier send whose answer was lost may be the very change that this one met.
                self.doubt = doubt_before
                raise _Retry(str(error)) from error
            if is_unknown(error):
                raise _Retry(str(error)) from error
            return self._refused(error)
        self.landed = True
        return response

    def _refused(self, error: Exception) -> CommitTableResponse:
        """An error that is neither: the commit took effect (and its answer was broken), or it is final."""
        from pyiceberg.table import CommitTableResponse

        try:
            table = load(self.base.catalog, self.base.identifier)
        except TableNotFound:
            table = None
        except LDPError as second:
            raise _Retry(str(second)) from error
        if table is not None and table.metadata.snapshot_by_id(self.snapshot_id) is not None:
            self.landed = True
            return CommitTableResponse.model_validate(
                {"metadata": table.metadata, "metadata-location": table.metadata_location}
            )
        if isinstance(error, LDPError):
            raise error
        text = " ".join(str(error).split())[:300]
        raise CatalogError(
            f"the commit to {self._name} was refused: {type(error).__name__}: {text}"
        ) from error

    def _refresh(self) -> Published | None:
        """Load the table anew; answers the publish when an earlier send took effect after all."""
        try:
            table = load(self.base.catalog, self.base.identifier)
        except TableNotFound as error:
            if self.base.exists:
                self.doubt = False
                raise CommitConflict(f"table {self._name} was dropped while it was being written") from error
            return None
        except CatalogError as error:
            raise _Retry(str(error)) from error
        fresh = from_table(self.base.catalog, self.base.identifier, table)
        if fresh.metadata.snapshot_by_id(self.snapshot_id) is not None:
            return self._found(fresh)
        if self.base.exists and fresh.metadata.table_uuid != self.base.metadata.table_uuid:
            self.doubt = False
            raise CommitConflict(f"table {self._name} was replaced while it was being written")
        if _main(fresh) != _main(self.base) or not self.base.exists:
            # Whatever is still under way asserts the old head, so it cannot take effect any more.
            self.doubt = False
        self.base = fresh
        return None

    def _found(self, fresh: Base) -> Published:
        snapshot = fresh.metadata.snapshot_by_id(self.snapshot_id)
        assert snapshot is not None
        paths = {manifest.manifest_path for manifest in snapshot.manifests(fresh.io)}
        return self._done(fresh.metadata_location, frozenset({*paths, snapshot.manifest_list}), None, fresh)

    def _done(
        self,
        location: str,
        used: frozenset[str],
        response: CommitTableResponse | None,
        fresh: Base | None = None,
    ) -> Published:
        from ldp_core.commit._tidy import delete_quietly, trim_metadata

        self.landed = True
        assert self.change is not None
        metadata = response.metadata if response else fresh.metadata if fresh else self.base.metadata
        logged = {location, *(entry.metadata_file for entry in metadata.metadata_log)}
        spare = [path for path in self.metadata_files if path not in logged]
        unused = [path for path in self.manifests.written if path not in used]
        left = delete_quietly(self.base.io, [*unused, *spare])
        left += trim_metadata(self.base, metadata, location)
        if self.stage and left:
            self.stage.abandon()
        elif self.stage:
            self.stage.published(file.file_path for file in self.change.added)
        return Published(self.base, self.change, self.snapshot_id, self.sends, location)

    def settle(self) -> None:
        """After a failure: delete what was written, unless the commit took effect, or may still do so."""
        from ldp_core.commit._tidy import delete_quietly

        with uninterrupted():
            if self.landed or self.doubt:
                if self.stage:
                    self.stage.abandon()
                return
            left = delete_quietly(self.base.io, [*self.manifests.written, *self.metadata_files])
            if left and self.stage:
                self.stage.abandon()

    def gave_up(self, error: _Retry) -> LDPError:
        """The error that ends a publish whose attempts are used up."""
        if self.doubt:
            return CommitUnknown(
                f"nobody can say whether the commit to {self._name} took effect: {error}",
                hint=f"look for snapshot {self.snapshot_id}: ldp snapshots CONFIG",
            )
        return CommitConflict(
            f"table {self._name} was changed by others in each of {self.sends} attempts: {error}",
            hint="run it again when fewer writers are at work",
        )

    @property
    def _name(self) -> str:
        return ".".join(self.base.identifier)

    def _metadata_path(self, suffix: str, prefix: str = "") -> str:
        from pyiceberg.table.locations import load_location_provider

        metadata = self.base.metadata
        provider = load_location_provider(metadata.location, metadata.properties)
        name = f"{prefix}{suffix.removesuffix('.avro')}-{self.commit_uuid}.avro" if prefix else None
        return provider.new_metadata_location(name or f"{self.commit_uuid}-{suffix}")


def _main(base: Base) -> int | None:
    ref = base.metadata.refs.get("main")
    return ref.snapshot_id if ref else None
