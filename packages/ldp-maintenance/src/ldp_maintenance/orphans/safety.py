"""What has to be true before anything is deleted by its absence from the metadata."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ldp_core.commit._store import Store
from ldp_core.commit.stage import staged_folder
from ldp_core.fs import is_local, scheme_of

from ldp_maintenance.errors import SafetyAbort
from ldp_maintenance.places import Places, inside

if TYPE_CHECKING:
    from ldp_core.commit.change import Base
    from pyiceberg.table.metadata import TableMetadata

    from ldp_maintenance.orphans.listing import Listed
    from ldp_maintenance.reachable import File

CLOCKS_APART = 10 * 60.0
"""Seconds that the clock of storage may differ from that of this machine."""
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
                raise SafetyAbort(
                    f"the folders of {table} and of another table overlap: {root} and {spelled}",
                    hint="files of the other one would look like orphans here; move one of the tables",
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


def clocks_agree(base: Base, commit: bool) -> None:
    """Make sure that the age of a file means something: storage dates files by its own clock.

    Raises:
        SafetyAbort: It is far from that of this machine.
    """
    if not commit or is_local(base.metadata.location):
        return  # A local file is dated by this machine, and a preview writes nothing.
    store = Store(dict(base.io.properties))
    probe = f"{staged_folder(base.metadata.location)}/.probe-{uuid.uuid4().hex}"
    store.write(probe, b"")
    try:
        now = store.modified(probe) or 0.0
    finally:
        store.delete(probe)
    if abs(now - time.time()) > CLOCKS_APART:
        raise SafetyAbort(
            f"the clocks of {scheme_of(base.metadata.location)} storage and of this machine are "
            f"{abs(now - time.time()):.0f} seconds apart",
            hint="set this machine's clock: the age of files cannot be told",
        )
