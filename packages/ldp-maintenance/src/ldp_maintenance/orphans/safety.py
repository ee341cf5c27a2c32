"""What has to be true before anything is deleted by its absence from the metadata."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ldp_core.commit._store import Store
from ldp_core.commit.stage import staged_folder
from ldp_core.fs import is_local, local_path

from ldp_maintenance.errors import Refused, SafetyAbort
from ldp_maintenance.places import Places, inside

if TYPE_CHECKING:
    from ldp_core.commit.change import Base
    from pyiceberg.table.metadata import TableMetadata

    from ldp_maintenance.orphans.listing import Listed
    from ldp_maintenance.reachable import File

CLOCKS_APART = 10 * 60.0
"""Seconds that the clock of storage may differ from that of this machine."""
_TICK = 2.0
"""Seconds by which clocks seem to differ where storage tells whole ones, or even ones."""
_MUST_BE_THERE = ("data", "delete", "manifest", "manifest_list")


def apart_from_others(table: str, roots: Iterable[str], others: Iterable[str], places: Places) -> None:
    """Make sure that no other table lies in a folder of this one, or the other way round.

    Raises:
        SafetyAbort: One does.
    """
    theirs = {places.folder_key(other): other for other in others}
    for root in roots:
        key = places.folder_key(root)
        for other, spelled in theirs.items():
            if inside(key, other) or inside(other, key):
                same = "if it is this table under another name, drop one of the names and leave the files"
                raise SafetyAbort(
                    f"the folders of {table} and of another table overlap: {root} and {spelled}",
                    hint="files of the other one would look like orphans here; "
                    f"{same if key == other else 'move one of the tables'}",
                )


def deep_enough(table: str, location: str, roots: Iterable[str], places: Places) -> None:
    """Make sure that no folder is a whole store, or one that holds the table's folder and more beside it.

    Raises:
        SafetyAbort: One is.
    """
    own = places.folder_key(location)
    for root in roots:
        key = places.folder_key(root)
        path = key.partition("://")[2]
        depth = path.strip("/").count("/") + 1 if path.strip("/") else 0
        if depth < 2:
            raise SafetyAbort(
                f"{table} writes to {root}, which is a whole store",
                hint="give the table a folder of its own: write.data.path, write.metadata.path",
            )
        if key != own and inside(own, key):
            raise SafetyAbort(
                f"{table} writes to {root}, which holds its own folder {location} and what lies beside it",
                hint="give the table a folder of its own: write.data.path, write.metadata.path",
            )


def whole(table: str, metadata: TableMetadata, reached: Mapping[str, File]) -> None:
    """Make sure that no kind of file is missing altogether from what the metadata points at.

    Raises:
        SafetyAbort: One is: the references were not all read.
    """
    kinds = {file.kind for file in reached.values()}
    expected = ["metadata"]
    if metadata.snapshots:
        expected.append("manifest_list")
    head = metadata.current_snapshot()
    total = None if head is None or head.summary is None else head.summary.get("total-data-files")
    if total is not None and total.isdigit() and int(total):
        expected += ["manifest", "data"]
    for kind in expected:
        if kind not in kinds:
            raise SafetyAbort(
                f"the metadata of {table} points at no {kind.replace('_', ' ')}, though it has "
                f"{len(metadata.snapshots)} snapshots and its last one tells of {total or 'no'} data files",
                hint="its metadata was not read whole; nothing was deleted",
            )


def all_listed(
    table: str,
    required: Mapping[str, File],
    listed: Mapping[str, Listed],
    roots: Iterable[str],
    places: Places,
    location: str,
) -> None:
    """Make sure that every file that the table needs, and that lies in its folders, was found in them.

    Raises:
        SafetyAbort: One was not: it is lost, or storage spells it in another way than the table.
    """
    keys = [places.folder_key(root) for root in roots]
    current = places.key(location)
    for key, file in required.items():
        needed = file.kind in _MUST_BE_THERE or key == current
        if needed and key not in listed and any(inside(key, root) for root in keys):
            raise SafetyAbort(
                f"{table} refers to {file.path}, which is not among the files found in its folders",
                hint="restore the file, or expire the snapshots that hold it; nothing was deleted",
            )


def seconds_behind(base: Base, folders: Iterable[str]) -> float:
    """How far the clock of a table's storage is behind that of this machine: files are dated by it.

    Asked by a file that is written into each folder, and deleted. A folder on this machine may be another
    machine's, and is asked, too.

    Args:
        base: The table.
        folders: Those that were listed.

    Returns:
        Seconds; 0 where it is ahead, or no more behind than the fraction of a second that stores leave out.

    Raises:
        SafetyAbort: It is so far from it, either way, that ages mean nothing.
        Refused: Nothing can be written there.
    """
    store = Store(dict(base.io.properties))
    return max((_behind(store, folder) for folder in folders), default=0.0)


def _behind(store: Store, folder: str) -> float:
    if is_local(folder) and not local_path(folder).is_dir():
        return 0.0  # It holds nothing.
    place = staged_folder(folder)
    probe = f"{place}/.probe-{uuid.uuid4().hex}"
    ours = time.time()
    try:
        store.write(probe, b"")
        try:
            theirs = store.modified(probe)
        finally:
            store.delete(probe)
    except OSError as error:
        raise Refused(
            f"the clock that dates the files of {folder} cannot be asked: "
            f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
            hint="give the right to write below the table's folders",
        ) from error
    finally:
        store.prune(place, up_to=f"{folder.rstrip('/')}/_ldp")
    if not theirs:
        return 0.0  # Storage that tells no time has only files that count as new.
    apart = ours - theirs
    if abs(apart) > CLOCKS_APART:
        raise SafetyAbort(
            f"the clock that dates files of {folder} and this machine's are {abs(apart):.0f} seconds apart",
            hint="set the one that is wrong: the age of files cannot be told",
        )
    return apart if apart > _TICK else 0.0
