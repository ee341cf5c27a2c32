"""Removing what dead runs left: staged data files, manifests, manifest lists, metadata files of lost commits.

Nothing that any snapshot in the table's metadata refers to is ever deleted: a run killed between its commit
and its clean-up leaves a manifest whose files are the table's by now.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from typing import TYPE_CHECKING, Any

from ldp_core._pyiceberg import manifest_entries
from ldp_core.commit import _process
from ldp_core.commit._store import Listed, Store
from ldp_core.commit._tidy import trims
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base
from ldp_core.commit.fence import fence_prefix
from ldp_core.commit.stage import DEAD_SECONDS, FOLDER_PREFIX, Manifest, data_folder, staged_folder
from ldp_core.errors import TableNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyiceberg.io import FileIO
    from pyiceberg.table.metadata import TableMetadata

logger = logging.getLogger(__name__)

_NAME = re.compile(r"^[0-9a-f]{32}_a\d+\.json$")
_FOLDER = re.compile(rf"^{FOLDER_PREFIX}[0-9a-f]{{32}}_a\d+_[0-9a-f]+$")
_VERSION = re.compile(r"^(\d{5,})-[^/]*\.metadata\.json$")
_CLAIMED = ".dead"


def sweep(base: Base, present: Callable[[], Base | None] | None = None) -> int:
    """Remove what dead runs left on a table.

    What a run published right before it was killed is not in a base that was loaded earlier: the table is
    loaded again once the run is known to be dead.

    Args:
        base: The table, or the one that is to be made (it may have been tried before).
        present: Gives the table as it is now, or None; by default the catalog of the base is asked.

    Returns:
        How many files were removed.

    Raises:
        CatalogError: There is something to sweep, and the catalog does not answer.
    """
    store = Store(dict(base.io.properties))
    folder = staged_folder(base.metadata.location)
    listed = store.list(folder)
    half = _delete(store, (item.uri for item in listed if _process.is_dead_half(item.uri)))
    dead = _dead(store, base, folder, [item for item in listed if _manifest_name(item.uri)])
    if not dead:
        if half:
            store.prune(folder, up_to=base.metadata.location)
        return half
    base = (_present(base) if present is None else present()) or base
    keep = _references(base.metadata, base.io) if base.exists else set()
    if base.exists:
        keep.add(base.metadata_location)
        keep |= {entry.metadata_file for entry in base.metadata.metadata_log}
    removed = half + sum(_sweep_one(store, base, uri, manifest, keep) for uri, manifest in dead)
    if not base.exists:
        location = base.metadata.location
        for place in (f"{location}/metadata", data_folder(base.metadata)):
            store.prune(place, up_to=location)
    store.prune(folder, up_to=base.metadata.location)
    return removed


def _present(base: Base) -> Base | None:
    try:
        return load_base(base.catalog, base.identifier)
    except TableNotFound:
        return None


def _manifest_name(uri: str) -> bool:
    return bool(_NAME.match(uri.rsplit("/", 1)[-1].removesuffix(_CLAIMED)))


def _dead(store: Store, base: Base, folder: str, listed: Iterable[Listed]) -> list[tuple[str, Manifest]]:
    """Manifests whose run is dead, taken out of its reach by a rename."""
    dead = []
    now: float | None = None
    for item in listed:
        content = store.read(item.uri)
        manifest = Manifest.from_bytes(content) if content is not None else None
        if manifest is None:
            continue
        certain = manifest.state == "abandoned" or (
            _process.is_dead(manifest.host, manifest.pid, manifest.started)
            and not _may_arrive(base, manifest)
        )
        if not certain:
            now = _store_time(store, folder) if now is None else now
            if now - item.modified <= DEAD_SECONDS:
                continue
        if item.uri.endswith(_CLAIMED):
            dead.append((item.uri, manifest))
            continue
        claimed = f"{item.uri}{_CLAIMED}"
        if not store.claim(item.uri, claimed):
            continue
        if not certain and _renewed_meanwhile(store, claimed, item.modified):
            store.claim(claimed, item.uri)
            continue
        dead.append((claimed, manifest))
    return dead


def _may_arrive(base: Base, manifest: Manifest) -> bool:
    """Whether a commit that was sent may take effect after the death of its sender: a server goes on with it.

    A SQLite file has what a process wrote before it died, and nothing after.
    """
    engine = getattr(base.catalog, "engine", None)
    return manifest.state == "publishing" and (engine is None or engine.dialect.name != "sqlite")


def _renewed_meanwhile(store: Store, claimed: str, seen: float) -> bool:
    """Whether the owner renewed it between our look and the rename, which keeps the time of a local file."""
    from ldp_core.fs import is_local

    modified = store.modified(claimed)
    return is_local(claimed) and modified is not None and modified > seen


def _store_time(store: Store, folder: str) -> float:
    """The present moment by the clock that dates the store's files."""
    probe = f"{folder}/.probe-{uuid.uuid4().hex}"
    store.write(probe, b"")
    try:
        return store.modified(probe) or 0.0
    finally:
        store.delete(probe)


def _sweep_one(store: Store, base: Base, uri: str, manifest: Manifest, keep: set[str]) -> int:
    removed = 0
    if _FOLDER.match(manifest.folder):
        folder = f"{data_folder(base.metadata)}/{manifest.folder}"
        removed += _delete(store, (item.uri for item in store.list(folder) if item.uri not in keep))
        store.prune(folder, up_to=folder)
    listed = store.list(_metadata_folder(base.metadata))
    ours = [item.uri for item in listed if manifest.commit_uuid in item.uri.rsplit("/", 1)[-1]]
    ours += [item.uri for item in listed if _process.is_dead_half(item.uri)]
    lost = [
        item.uri
        for item in listed
        if _is_lost_metadata(store, base, item, manifest, keep) or _is_trimmed(store, base, item, keep)
    ]
    removed += _delete(store, (path for path in (*ours, *lost) if path not in keep))
    store.delete(uri)
    logger.info("swept run %s attempt %s: %s files", manifest.run_id, manifest.attempt, removed)
    return removed


def _is_lost_metadata(store: Store, base: Base, item: Listed, manifest: Manifest, keep: set[str]) -> bool:
    """Whether a file is the metadata of a commit of this run that never took effect."""
    if not item.uri.endswith(".metadata.json") or item.uri in keep:
        return False
    if base.exists and base.metadata.snapshot_by_id(manifest.snapshot_id) is not None:
        return False
    content = store.read(item.uri)
    if content is None:
        return False
    fences = fence_prefix(manifest.run_id).encode() in content
    if str(manifest.snapshot_id).encode() not in content and not fences:
        return False
    try:
        data = json.loads(content)
    except ValueError:
        return True
    if data.get("current-snapshot-id") == manifest.snapshot_id:
        return True
    return fences and _has_another_successor(base, data.get("metadata-log") or (), manifest, keep)


def _is_trimmed(store: Store, base: Base, item: Listed, keep: set[str]) -> bool:
    """Whether a file fell out of the log of a table that keeps none of these: its commit was killed then."""
    number = _number(item.uri)
    if number is None or item.uri in keep or not base.exists or not trims(base.metadata):
        return False
    logged = [_number(entry.metadata_file) for entry in base.metadata.metadata_log]
    if not logged or None in logged or number >= min(one for one in logged if one is not None):
        return False
    return str(base.metadata.table_uuid).encode() in (store.read(item.uri) or b"")


def _number(uri: str) -> int | None:
    """Which version of a table a metadata file is."""
    found = _VERSION.match(uri.rsplit("/", 1)[-1])
    return int(found[1]) if found else None


def _has_another_successor(base: Base, log: Sequence[Any], manifest: Manifest, keep: set[str]) -> bool:
    """Whether the file that a commit of fences was built on is in the table's log, with another one after."""
    before = str(log[-1]["metadata-file"]) if log else ""
    return before in keep and (before != base.metadata_location or manifest.state != "abandoned")


def _delete(store: Store, uris: Iterable[str]) -> int:
    return sum(store.delete(uri) for uri in uris)


def _metadata_folder(metadata: TableMetadata) -> str:
    path = metadata.properties.get("write.metadata.path")
    return path.rstrip("/") if path else f"{metadata.location.rstrip('/')}/metadata"


def _references(metadata: TableMetadata, io: FileIO) -> set[str]:
    """Every file that any snapshot in the metadata refers to."""
    paths: set[str] = set()
    for snapshot in metadata.snapshots:
        paths.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(io):
            if manifest.manifest_path not in paths:
                paths.add(manifest.manifest_path)
                paths |= {entry.data_file.file_path for entry in manifest_entries(manifest, io)}
    return paths
