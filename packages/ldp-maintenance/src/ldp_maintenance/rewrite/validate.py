"""Whether a group that was written may still replace its files, on the table as it is by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_maintenance.rewrite.candidates import concerns

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile

    from ldp_maintenance.inventory import Inventory

_LARGE = 64 * 1024 * 1024


@dataclass(frozen=True)
class Planned:
    """A group that was written.

    Attributes:
        paths: The data files that it replaces.
        deletes: The delete files that were applied when they were read.
        moved: Whether what comes of them has another partition spec: deletes do not follow it there.
        added: What comes of them.
        ordered: Whether that is in the order that is wanted.
    """

    paths: frozenset[str]
    deletes: frozenset[str]
    moved: bool
    added: tuple[DataFile, ...]
    ordered: bool = True


def lost(plan: Planned, now: Inventory, io: FileIO) -> str | None:
    """Why a group may not be committed, or None.

    Only what matters is looked at: whether its files are still live, and whether somebody has deleted rows of
    them since. Younger equality deletes apply to what replaces them, for that keeps an old sequence number.

    Args:
        plan: The group.
        now: What the branch holds now.
        io: Opens delete files.
    """
    from pyiceberg.manifest import DataFileContent

    live = {entry.data_file.file_path for entry in now.data}
    if gone := sorted(plan.paths - live):
        return f"{len(gone)} of its files were replaced or deleted meanwhile, such as {gone[0]}"
    fresh: dict[str, DataFile] = {}
    for entry, file in zip(now.data, now.files, strict=True):
        if file.path in plan.paths:
            for number in file.deletes:
                delete = now.applied[number]
                if delete.data_file.file_path not in plan.deletes and concerns(delete, entry):
                    fresh[delete.data_file.file_path] = delete.data_file
    for path, delete_file in fresh.items():
        if delete_file.content == DataFileContent.EQUALITY_DELETES:
            if plan.moved:
                return f"rows of it were deleted meanwhile by {path}, which holds for its old partition only"
        elif _names(io, delete_file, plan.paths):
            return f"rows of its files were deleted meanwhile by {path}"
    return None


def superfluous(now: Inventory, removed: set[str], applied: Iterable[str]) -> list[DataFile]:
    """Delete files that apply to no data file once some are gone.

    Args:
        now: What the branch holds.
        removed: The data files that go.
        applied: The delete files that were applied to them; no others are looked at.
    """
    needed = {
        now.applied[number].data_file.file_path
        for entry, file in zip(now.data, now.files, strict=True)
        if file.path not in removed
        for number in file.deletes
        if concerns(now.applied[number], entry)
    }
    asked = set(applied) - needed
    return [entry.data_file for entry in now.deletes if entry.data_file.file_path in asked]


def _names(io: FileIO, file: DataFile, paths: frozenset[str]) -> bool:
    """Whether position deletes name one of the files; yes where that cannot be told cheaply."""
    from pyiceberg.manifest import FileFormat

    if file.file_format != FileFormat.PARQUET or file.file_size_in_bytes > _LARGE:
        return True
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with io.new_input(file.file_path).open() as stream:
        named = pq.read_table(stream, columns=["file_path"]).column("file_path")
    return any(value in paths for value in pc.unique(named).to_pylist())
