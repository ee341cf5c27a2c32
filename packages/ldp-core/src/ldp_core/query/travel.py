"""Which snapshot of a table is read: an id, a moment, or a branch. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ldp_core.errors import SnapshotNotFound, UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Travel:
    """At most one of the three; none of them is the table as it is now.

    Attributes:
        snapshot_id: A snapshot.
        as_of: A moment: the snapshot that ``main`` pointed at then.
        branch: A branch or a tag.
    """

    snapshot_id: int | None = None
    as_of: datetime | None = None
    branch: str | None = None

    def __post_init__(self) -> None:
        """Refuse two at once.

        Raises:
            UsageError: More than one is given.
        """
        if sum(item is not None for item in (self.snapshot_id, self.as_of, self.branch)) > 1:
            raise UsageError("--snapshot, --as-of and --branch exclude each other")

    @property
    def is_now(self) -> bool:
        """Whether the table is read as it is now."""
        return self.snapshot_id is None and self.as_of is None and self.branch in (None, "main")


NOW = Travel()


def parse_moment(text: str) -> datetime:
    """A date or a date and time in ISO 8601; UTC unless it has an offset.

    Raises:
        UsageError: It is neither.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"--as-of takes a date or a time in UTC such as 2026-08-01 or 2026-08-01T10:00:00, not {text!r}"
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def pick(metadata: Mapping[str, Any], travel: Travel, label: str) -> int | None:
    """The snapshot to read.

    Args:
        metadata: The table's metadata JSON.
        travel: What was asked for.
        label: The table, for messages.

    Returns:
        None for the table as it is now, read in its current schema.

    Raises:
        SnapshotNotFound: There is none; the message says which there are.
    """
    if travel.is_now:
        return None
    snapshots = {item["snapshot-id"]: item for item in metadata.get("snapshots") or ()}
    if travel.snapshot_id is not None:
        return _by_id(snapshots, travel.snapshot_id, label)
    if travel.as_of is not None:
        return _by_moment(metadata, snapshots, travel.as_of, label)
    refs = metadata.get("refs") or {}
    if travel.branch not in refs:
        known = ", ".join(sorted(refs)) or "none"
        raise SnapshotNotFound(
            f"Iceberg table {label} has no branch or tag {travel.branch!r}; known: {known}"
        )
    return _by_id(snapshots, refs[travel.branch]["snapshot-id"], label)


def _by_id(snapshots: Mapping[int, Any], snapshot_id: int, label: str) -> int:
    if snapshot_id not in snapshots:
        known = ", ".join(str(number) for number in snapshots) or "none"
        raise SnapshotNotFound(
            f"snapshot {snapshot_id} not found in Iceberg table {label}; known snapshots: {known}"
        )
    return snapshot_id


def _by_moment(
    metadata: Mapping[str, Any], snapshots: Mapping[int, Any], moment: datetime, label: str
) -> int:
    """The last entry of the snapshot log (what ``main`` pointed at, and since when) not after a moment."""
    wanted = (moment - _EPOCH) // timedelta(milliseconds=1)
    log = [item for item in metadata.get("snapshot-log") or () if item["snapshot-id"] in snapshots]
    before = [item for item in log if item["timestamp-ms"] <= wanted]
    if before:
        return int(before[-1]["snapshot-id"])
    text = f"Iceberg table {label} has no snapshot committed at or before {_shown(wanted)}"
    if log:
        text += f"; its oldest snapshot was committed {_shown(log[0]['timestamp-ms'])}"
    raise SnapshotNotFound(text)


def _shown(milliseconds: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03d} UTC"
