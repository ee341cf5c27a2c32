"""Delete files that apply to no live data file, dropped from the table.

By the rules of scan planning a delete file dangles where no live data file is in its reach. A position delete
of a whole partition dangles, too, where every data file in its reach was written after it (a rewrite gives
its files the older sequence number, so they stay in reach) and none of the files that it names is live: the
delete file is read for that, it is never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ldp_core.commit.change import Base, Change
from ldp_core.errors import LDPError

from ldp_maintenance.commit import replaced, said
from ldp_maintenance.errors import Unsupported
from ldp_maintenance.inventory import Inventory, ManifestCache, take
from ldp_maintenance.model import Doing, Outcome, Target

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import ManifestEntry
    from pyiceberg.table.metadata import TableMetadata

OPERATION: Final = "remove-dangling-deletes"


class _Nothing(Exception):
    """On the new head there is nothing left to do."""


def remove_dangling_deletes(target: Target, doing: Doing) -> Outcome:
    """Drop the delete files of main that apply to nothing; no row comes or goes.

    ``detail``: ``delete_files``, ``deletes`` (rows in them), ``bytes``, ``delete_files_left``.

    Raises:
        LDPError: The format version cannot be written, or another branch than main was asked for.
        CommitConflict: The races with other writers were all lost.
    """
    if not target.policy.dangling_deletes:
        return Outcome(OPERATION, "skipped", "the policy turns it off")
    if doing.branch not in (None, "main"):
        raise LDPError(
            f"dangling deletes of {target.name} are removed from main only, not from branch {doing.branch!r}"
        )
    base = target.base()
    job = _Job(target, target.cache(base.io))
    found, left = job.find(base)
    if not found:
        return Outcome(OPERATION, "nothing", "no delete file dangles")
    if not doing.commit:
        return Outcome(OPERATION, "preview", detail=_detail(found, left), lines=(_line(found),))
    if doing.progress:
        doing.progress(OPERATION, 0, len(found), "files")
    try:
        published = replaced(base, job.build)
    except _Nothing:
        return Outcome(OPERATION, "nothing", "another writer has dropped them")
    found, left = published.change.info
    if doing.progress:
        doing.progress(OPERATION, len(found), len(found), "files")
    return Outcome(
        OPERATION,
        "done",
        detail=_detail(found, left),
        lines=(_line(found),),
        snapshots=(published.snapshot_id,),
    )


@dataclass
class _Job:
    """One run: what was read stays read when the head moves."""

    target: Target
    cache: ManifestCache
    _named: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def find(self, base: Base) -> tuple[tuple[ManifestEntry, ...], int]:
        """The delete files of main's head that dangle, and how many do not."""
        metadata = base.metadata
        inventory = take(metadata, self.cache, metadata.current_snapshot())
        if metadata.format_version > 2 and inventory.deletes:
            raise Unsupported(
                f"dangling deletes of {self.target.name} cannot be removed: it has format version "
                f"{metadata.format_version}, and only version 2 can be written",
                hint="nothing was changed; use an engine that writes this version",
            )
        found = dangling(metadata, base.io, inventory, self._named)
        return found, len(inventory.deletes) - len(found)

    def build(self, base: Base) -> Change:
        """The change on a head: what dangles there."""
        found, left = self.find(base)
        if not found:
            raise _Nothing
        files = tuple(entry.data_file for entry in found)
        summary = said(OPERATION, {"removed-dangling-delete-files": str(len(files))})
        return Change("replace", removed=files, summary=summary, info=(found, left))


def dangling(
    metadata: TableMetadata,
    io: FileIO,
    inventory: Inventory,
    named: dict[str, frozenset[str] | None] | None = None,
) -> tuple[ManifestEntry, ...]:
    """The delete files of a snapshot that change no row of it.

    Args:
        metadata: Of the table.
        io: Opens its files.
        inventory: Of the snapshot.
        named: Keeps what was read of position delete files: the names of the data files in each.
    """
    known = {} if named is None else named
    names = {_name(entry.data_file.file_path) for entry in inventory.data}
    unreached = [e for e in inventory.dangling if not _global(metadata, e, inventory.data)]
    overtaken = [entry for entry in _overtaken(inventory) if _names_none(io, entry, names, known)]
    return (*unreached, *overtaken)


def _global(metadata: TableMetadata, entry: ManifestEntry, data: Sequence[ManifestEntry]) -> bool:
    """Whether an equality delete holds for older files of every partition: its spec has void fields only.

    Engines differ on whether such a spec is an unpartitioned one; the delete stays while any reads it so.
    """
    from pyiceberg.manifest import DataFileContent
    from pyiceberg.transforms import VoidTransform

    if entry.data_file.content != DataFileContent.EQUALITY_DELETES:
        return False
    fields = metadata.specs()[entry.data_file.spec_id].fields
    if not all(isinstance(item.transform, VoidTransform) for item in fields):
        return False
    ours = entry.sequence_number or 0
    return any((item.sequence_number or 0) < ours for item in data)


def _overtaken(inventory: Inventory) -> Iterator[ManifestEntry]:
    """Position deletes in whose reach every data file came into the table after them."""
    from ldp_core.tables.scan_plan import kind_of

    oldest: dict[int, int] = {}
    for entry, file in zip(inventory.data, inventory.files, strict=True):
        for number in file.deletes:
            came = entry.file_sequence_number or 0
            oldest[number] = min(oldest.get(number, came), came)
    for number, entry in enumerate(inventory.applied):
        if kind_of(entry.data_file) == "position" and oldest[number] > (entry.sequence_number or 0):
            yield entry


def _names_none(
    io: FileIO, entry: ManifestEntry, live: set[str], known: dict[str, frozenset[str] | None]
) -> bool:
    path = entry.data_file.file_path
    if path not in known:
        known[path] = _names_in(io, entry)
    found = known[path]
    return found is not None and not found & live


def _names_in(io: FileIO, entry: ManifestEntry) -> frozenset[str] | None:
    """The names of the data files that a position delete file is about; None where that cannot be read."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyiceberg.manifest import FileFormat

    if entry.data_file.file_format != FileFormat.PARQUET:
        return None
    path = entry.data_file.file_path
    try:
        with io.new_input(path).open() as stream:
            column = pq.read_table(stream, columns=["file_path"]).column(0)
    except FileNotFoundError as error:
        raise LDPError(
            f"delete file {path} is missing, so nobody can tell what it applies to", hint="restore it first"
        ) from error
    return frozenset(_name(path) for path in pc.unique(column).to_pylist())


def _name(path: str) -> str:
    """The last part: writers may spell the same place in several ways, and a name is used once."""
    return path.rsplit("/", 1)[-1]


def _detail(found: Sequence[ManifestEntry], left: int) -> dict[str, Any]:
    return {
        "delete_files": len(found),
        "deletes": sum(entry.data_file.record_count for entry in found),
        "bytes": sum(entry.data_file.file_size_in_bytes for entry in found),
        "delete_files_left": left,
    }


def _line(found: Sequence[ManifestEntry]) -> str:
    one = len(found) == 1
    return f"{len(found)} delete file{'' if one else 's'} that {'applies' if one else 'apply'} to nothing"
