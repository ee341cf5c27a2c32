"""Plans of scans, kept in the user's cache folder. Standard library only.

A metadata file never changes, so a plan made from it holds as long as the catalog names that file. A folder
that cannot be written is no error: the plan is made again next time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from ldp_core.tables.scan import Scan

MAX_BYTES = 200_000_000
_SUFFIX = ".plan.json"


def folder() -> Path:
    """``LDP_CACHE_DIR``, else ``ldp`` in ``XDG_CACHE_HOME``, else ``~/.cache/ldp``."""
    if own := os.environ.get("LDP_CACHE_DIR"):
        return Path(own).expanduser() / "plans"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "ldp" / "plans"


def load(metadata_location: str, table_uuid: str, snapshot_id: int | None) -> Scan | None:
    """The plan made from a metadata file, or None.

    Args:
        metadata_location: The file that the catalog names now.
        table_uuid: The table's, from that file.
        snapshot_id: The snapshot asked for; None for the current one.
    """
    path = _path(metadata_location, snapshot_id)
    try:
        body = json.loads(path.read_bytes())
        scan = Scan.from_json(body["scan"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    fits = body.get("metadata_location") == metadata_location and scan.table_uuid == table_uuid
    if not fits or (snapshot_id is not None and scan.snapshot_id != snapshot_id):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return scan


def store(metadata_location: str, snapshot_id: int | None, scan: Scan) -> None:
    """Keep a plan, unless pyiceberg must read part of it: that needs the open table each time."""
    if scan.needs_pyiceberg:
        return
    path = _path(metadata_location, snapshot_id)
    body = json.dumps({"metadata_location": metadata_location, "scan": scan.to_json()}, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(body)
        Path(file.name).replace(path)
        _trim(path.parent)
    except OSError:
        return


def _path(metadata_location: str, snapshot_id: int | None) -> Path:
    key = json.dumps([metadata_location, snapshot_id])
    return folder() / (hashlib.sha256(key.encode()).hexdigest()[:40] + _SUFFIX)


def _trim(place: Path) -> None:
    """Remove the plans that were not used for the longest time, until the rest is small enough."""
    found = []
    for path in place.iterdir():
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MAX_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size
