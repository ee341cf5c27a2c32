"""``expire-snapshots``: snapshots that nothing keeps go, and with them the files that only they point at.

Files are found by what metadata points at before and after, never by listing storage: what no snapshot ever
held cannot be among them. A process that dies between the commit and the deletions leaves files that nothing
points at; ``remove-orphans`` takes them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ldp_core.commit.change import Base, Change
from ldp_core.errors import LDPError, UsageError
from ldp_core.tables.view import of_metadata

from ldp_maintenance.commit import replaced, said
from ldp_maintenance.deleting import Deleted, Doomed, delete_files
from ldp_maintenance.errors import Refused
from ldp_maintenance.keys import Keys, cut_anchors, look
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.places import inside, roots
from ldp_maintenance.policy import SNAPSHOT_AGE_DAYS, SNAPSHOTS_TO_KEEP
from ldp_maintenance.reachable import File, Reader, Unreached, no_longer
from ldp_maintenance.retention import Keyed, Limits, Node, Ref, Retained, retain
from ldp_maintenance.updates import Moved, Step, change_metadata, refuse_unwritable

if TYPE_CHECKING:
    from ldp_core.tables.view import TableView
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.update import TableUpdate

OPERATION: Final = "expire-snapshots"
DAY_MS = 24 * 60 * 60 * 1000
_FIRST_MS = -62_135_596_800_000
"""The first moment of year 1, which is the first that dates can tell."""
_LONGEST_MS = 2**63 - 1
IN_PLACE = "ldp.in-place"
"""A table property: files outside the table's own folders were registered where they lay, and stay there."""
_VERSIONS = "write.metadata.previous-versions-max"
_NAMED = 10
_NONE = Unreached()


@dataclass(frozen=True)
class Plan:
    """What an expiry does to a table.

    Attributes:
        retained: Which snapshots and refs stay.
        limits: By what.
        reanchor: Whether a snapshot of our own must take the keys over first.
        held: How many snapshots stay only for their keys.
        unsure: Pipelines whose keys nobody can tell.
        versions: So many older metadata files stay in the log, where that is fewer than now.
    """

    retained: Retained
    limits: Limits
    reanchor: bool = False
    held: int = 0
    unsure: tuple[str, ...] = ()
    versions: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.retained.expired and not self.retained.dropped and self.versions is None


def expire_snapshots(target: Target, doing: Doing) -> Outcome:
    """Expire snapshots, and delete what only they pointed at.

    Whether its catalog has the table under another name, too, is for the caller to find out: ``Maintenance``
    does.

    Args:
        target: The table and its policy.
        doing: How; a preview unless ``commit``.

    Raises:
        Refused: ``gc.enabled`` is false, or the metadata cannot be written.
        UsageError: An age or count is negative, or zero and not written out.
        LDPError: The commit failed, or a file that stays cannot be read.
    """
    if not target.policy.expire.enabled:
        return Outcome(OPERATION, "skipped", "the policy turns it off")
    base = target.base()
    check_allowed(base, OPERATION)
    limits = limits_of(target, base.metadata, doing)
    refuse_unwritable(base, OPERATION)
    reader = Reader(base.io)
    plan = plan_for(base, target, limits)
    if plan.empty:
        return _outcome(plan, base.metadata, "nothing")
    if not doing.commit:
        unreached = no_longer(base.metadata, [_left(base.metadata, plan)], reader, own=False)
        return _outcome(plan, base.metadata, "preview", unreached=unreached)
    made: list[int] = []

    def build(base: Base) -> Step | None:
        check_allowed(base, OPERATION)
        plan = plan_for(base, target, limits, anchor=not made)
        if plan.reanchor:
            made.append(_reanchor(base))
            raise Moved("a snapshot of our own takes the keys over")
        if plan.empty:
            return None
        # Read before the commit: what cannot be read of what stays ends it here, with nothing changed.
        no_longer(base.metadata, [_left(base.metadata, plan)], reader)
        return Step(_updates(base.metadata, plan), lambda after: _holds(after, plan), plan)

    landed = change_metadata(base, build)
    if landed is None:
        return replace(_outcome(plan, base.metadata, "nothing"), snapshots=tuple(made))
    before, plan = landed.before, landed.info
    lines: list[str] = []
    try:
        fresh = target.base()
        states = [landed.after, fresh.metadata]
        unreached = no_longer(
            before.metadata, states, reader, own=bool(landed.trimmed) or plan.versions is not None
        )
        kept_metadata = {fresh.metadata_location, landed.location}
    except LDPError as error:
        lines.append(f"the snapshots are gone; their files were left to remove-orphans: {error.message}")
        unreached, kept_metadata = Unreached(), set()
    files = [file for file in unreached.files if file.path not in kept_metadata]
    files = _not_in_place(files, before.metadata)
    doomed = [Doomed(file.path, _why(file), file.bytes) for file in files]
    deleted = delete_files(before.io, doomed, doing, table=target.name, operation=OPERATION)
    plan = replace(plan, reanchor=bool(made))
    done = _outcome(
        plan, before.metadata, "done", unreached=Unreached(tuple(files), unreached.unread), deleted=deleted
    )
    return replace(done, lines=(*done.lines, *lines), snapshots=tuple(made))


def check_allowed(base: Base, operation: str) -> None:
    """Make sure that files of a table may be deleted.

    Raises:
        Refused: ``gc.enabled`` is false: somebody else uses its files, too.
    """
    if not collected(base):
        raise Refused(
            f"{operation} on {'.'.join(base.identifier)}: gc.enabled is {_collects(base) or 'empty'}: "
            "others may use its files",
            hint="set gc.enabled to true once nothing else uses its files",
        )


def collected(base: Base) -> bool:
    """Whether files of a table may be deleted: its property ``gc.enabled``, true by default."""
    return _collects(base) == "true"


def _collects(base: Base) -> str:
    # As Iceberg reads it: what is not true is false, such as no and 0.
    return str(base.metadata.properties.get("gc.enabled", "true")).strip().lower()


def limits_of(target: Target, metadata: TableMetadata, doing: Doing) -> Limits:
    """Ages and counts from the policy, then the table's properties, then the defaults.

    Raises:
        UsageError: One is negative, or zero without being written out, or no number.
    """
    wanted = target.policy.expire
    table = target.name
    age, ages = _days(wanted.max_snapshot_age_days), "expire.max_snapshot_age_days"
    count, counts = wanted.min_snapshots_to_keep, "expire.min_snapshots_to_keep"
    ref_age, ref_ages = _days(wanted.max_ref_age_days), "expire.max_ref_age_days"
    if age is None:
        age, ages = _property(metadata, "history.expire.max-snapshot-age-ms", table), ""
    if count is None:
        count, counts = _property(metadata, "history.expire.min-snapshots-to-keep", table), ""
    if ref_age is None:
        ref_age, ref_ages = _property(metadata, "history.expire.max-ref-age-ms", table), ""
    for value, what, place in (
        (age, "the age of snapshots", ages),
        (count, "the number of snapshots to keep", counts),
        (ref_age, "the age of branches and tags", ref_ages),
        (wanted.keep_last, "the number of newest snapshots to keep", "expire.keep_last"),
        (
            wanted.keep_metadata_versions,
            "the number of metadata files to keep",
            "expire.keep_metadata_versions",
        ),
    ):
        check_amount(value, what, target, place, doing)
    now = int(doing.clock().timestamp() * 1000)
    return Limits(
        now,
        int(SNAPSHOT_AGE_DAYS * DAY_MS) if age is None else age,
        SNAPSHOTS_TO_KEEP if count is None else count,
        ref_age,
        wanted.keep_last,
    )


def check_amount(value: float | None, what: str, target: Target, place: str, doing: Doing) -> None:
    """Refuse negative amounts, and zero where nobody wrote it out.

    Args:
        value: The amount.
        what: It, in words.
        target: Whose policy it is of.
        place: Where it stands in the policy; empty where it is a property of the table.
        doing: How the operation runs.

    Raises:
        UsageError: It is one of those.
    """
    if value is not None and value < 0:
        raise UsageError(f"{what} is negative: {value:g}", hint="ages and counts are 0 or more")
    # A zero on the command line is for what it says, and allows no other one that stands in a file.
    origin = target.policy.origins.get(place, "command line") if place else "properties"
    if value == 0 and not (doing.written_out and origin == "command line"):
        raise UsageError(
            f"{what} is 0: that would take everything that is not in use at this moment",
            hint="write the 0 out on the command line if that is meant",
        )


def plan_for(base: Base, target: Target, limits: Limits, *, anchor: bool = True) -> Plan:
    """What to do with a table as it is.

    Args:
        base: The table.
        target: Its policy.
        limits: From ``limits_of``.
        anchor: Whether a snapshot of our own may take keys over; else what tells them stays.
    """
    metadata = base.metadata
    view = of_metadata(metadata, base.io)
    nodes = [
        Node(item.snapshot_id, item.parent_snapshot_id, item.timestamp_ms) for item in metadata.snapshots
    ]
    refs = [
        Ref(
            name,
            ref.snapshot_id,
            ref.snapshot_ref_type.value == "branch",
            ref.min_snapshots_to_keep,
            ref.max_snapshot_age_ms,
            ref.max_ref_age_ms,
        )
        for name, ref in metadata.refs.items()
    ]
    keys = look(view)
    loose = retain(nodes, refs, limits, Keyed(keys.keyed.carries))
    busy = bool(loose.expired or loose.dropped)
    versions = _fewer_versions(metadata, target.policy.expire.keep_metadata_versions, busy)
    gone = frozenset(loose.expired)
    lost = gone & keys.keyed.needed
    cut = cut_anchors(view, gone)
    if anchor and keys.absorbs and (lost or cut):
        return Plan(loose, limits, True, unsure=keys.unsure, versions=versions)
    if not lost and not cut:
        return Plan(loose, limits, unsure=keys.unsure, versions=versions)
    strict = retain(nodes, refs, limits, _strict(view, keys, cut))
    return Plan(strict, limits, held=len(gone) - len(strict.expired), unsure=keys.unsure, versions=versions)


def _strict(view: TableView, keys: Keys, cut: Collection[int]) -> Keyed:
    """All that tells a key, and the anchors of ledgers, as long as nothing else holds them."""
    anchors = frozenset(cut) & frozenset(view.snapshots)
    return Keyed(keys.keyed.carries, keys.keyed.needed | anchors)


def _reanchor(base: Base) -> int:
    """Commit an empty snapshot that takes in all keys that main shows."""
    change = Change("replace", summary=said(OPERATION))
    return replaced(base, lambda fresh: change).snapshot_id


def _fewer_versions(metadata: TableMetadata, wanted: int | None, busy: bool) -> int | None:
    """How many older metadata files stay in the log, where that is fewer than there would be."""
    # Clients keep at least one, and a commit for another reason adds one.
    most = None if wanted is None else max(1, wanted)
    return most if most is not None and len(metadata.metadata_log) + busy > most else None


def _updates(metadata: TableMetadata, plan: Plan) -> tuple[TableUpdate, ...]:
    from pyiceberg.table.update import (
        RemovePartitionStatisticsUpdate,
        RemoveSnapshotRefUpdate,
        RemoveSnapshotsUpdate,
        RemoveStatisticsUpdate,
        SetPropertiesUpdate,
    )

    gone = set(plan.retained.expired)
    found: list[Any] = []
    if plan.versions is not None:
        found.append(SetPropertiesUpdate(updates={_VERSIONS: str(plan.versions)}))
    for name in plan.retained.dropped:
        found.append(RemoveSnapshotRefUpdate.model_validate({"ref-name": name}))
    for snapshot in dict.fromkeys(item.snapshot_id for item in metadata.statistics):
        if snapshot in gone:
            found.append(RemoveStatisticsUpdate.model_validate({"snapshot-id": snapshot}))
    for snapshot in dict.fromkeys(item.snapshot_id for item in metadata.partition_statistics):
        if snapshot in gone:
            found.append(RemovePartitionStatisticsUpdate.model_validate({"snapshot-id": snapshot}))
    if gone:
        ids = list(plan.retained.expired)
        found.append(RemoveSnapshotsUpdate.model_validate({"snapshot-ids": ids}))
    return tuple(found)


def _holds(after: TableMetadata, plan: Plan) -> bool:
    """Whether an expiry has taken effect."""
    there = {item.snapshot_id for item in after.snapshots}
    gone = there.isdisjoint(plan.retained.expired) and not set(plan.retained.dropped) & set(after.refs)
    fewer = plan.versions is None or len(after.metadata_log) <= plan.versions
    return gone and fewer


def _left(metadata: TableMetadata, plan: Plan) -> TableMetadata:
    """The metadata as the expiry will leave it, as far as files are concerned."""
    gone = set(plan.retained.expired)
    return metadata.model_copy(
        update={
            "snapshots": [item for item in metadata.snapshots if item.snapshot_id not in gone],
            "statistics": [item for item in metadata.statistics if item.snapshot_id not in gone],
            "partition_statistics": [
                item for item in metadata.partition_statistics if item.snapshot_id not in gone
            ],
        }
    )


def _not_in_place(files: list[File], metadata: TableMetadata) -> list[File]:
    """Without data files that were registered where they lay, outside of the table's folders."""
    if metadata.properties.get(IN_PLACE, "false").strip().lower() in ("", "false"):
        return files
    from ldp_maintenance.places import Places

    places = Places()
    own = [places.folder_key(root) for root in roots(metadata)]
    return [
        file
        for file in files
        if file.kind not in ("data", "delete") or any(inside(places.key(file.path), root) for root in own)
    ]


def _days(value: float | None) -> int | None:
    return None if value is None else round(min(value * DAY_MS, _LONGEST_MS))


def _property(metadata: TableMetadata, name: str, table: str) -> int | None:
    value = metadata.properties.get(name)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise UsageError(f"property {name} of {table} is not a whole number: {value!r}") from None


def _why(file: File) -> str:
    if file.kind == "metadata":
        return "an older metadata file"
    word = {"data": "data file", "delete": "delete file"}.get(file.kind, file.kind.replace("_", " "))
    return f"{word} of an expired snapshot"


def _outcome(
    plan: Plan,
    metadata: TableMetadata,
    status: Any,
    *,
    unreached: Unreached = _NONE,
    deleted: Deleted | None = None,
) -> Outcome:
    retained, limits = plan.retained, plan.limits
    # An age without end, such as the largest number there is, reaches back before all calendars.
    since = max(limits.now - limits.max_age_ms, _FIRST_MS)
    cutoff = dt.datetime.fromtimestamp(since / 1000, dt.UTC)
    kinds = Counter(file.kind for file in unreached.files)
    detail: dict[str, Any] = {
        "older_than": cutoff.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "expired_snapshot_ids": [str(item) for item in retained.expired],
        "protected_snapshot_ids": retained.by_reason(),
        "snapshots": len(metadata.snapshots),
        "dropped_refs": list(retained.dropped),
        "reanchored": plan.reanchor,
        "files": {kind: kinds[kind] for kind in sorted(kinds)},
        "file_bytes": sum(file.bytes or 0 for file in unreached.files),
    }
    if plan.versions is not None:
        detail["metadata_versions"] = plan.versions
    if unreached.unread:
        detail["unread"] = list(unreached.unread[:_NAMED])
    if deleted is not None:
        detail |= deleted.to_dict()
    reason = None
    if status == "nothing":
        reason = f"each of {len(metadata.snapshots)} snapshots is kept"
    return Outcome(OPERATION, status, reason, detail=detail, lines=_lines(plan, metadata, detail, deleted))


def _files(plan: Plan, detail: dict[str, Any], deleted: Deleted | None) -> list[str]:
    """What is freed, in words."""
    from ldp_core._progress import human_bytes

    lines = []
    kinds = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in detail["files"].items())
    if deleted is not None and (deleted.files or kinds):
        lines.append(f"  deleted {deleted.files} files, {human_bytes(deleted.bytes)}: {kinds}")
    elif deleted is None and kinds:
        lines.append(f"  would delete {sum(detail['files'].values())} files: {kinds}")
    if plan.versions is not None:
        verb = "keeps" if deleted is not None else "would keep"
        lines.append(f"  {verb} {plan.versions} older metadata files")
    return lines


def _lines(
    plan: Plan, metadata: TableMetadata, detail: dict[str, Any], deleted: Deleted | None
) -> tuple[str, ...]:
    retained, limits = plan.retained, plan.limits
    days = f"{limits.max_age_ms / DAY_MS:g}"
    more = f", keeping the last {limits.keep_last}" if limits.keep_last is not None else ""
    lines = [f"Snapshots older than {days} days ({detail['older_than']}){more}; idempotency keys stay known:"]
    ids = [str(item) for item in retained.expired]
    names = f": {', '.join(ids[:_NAMED])}" if ids else ""
    names += f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    verb = "expired" if deleted is not None else "would expire"
    if not plan.empty:
        lines.append(f"  {verb} {len(ids)} of {len(metadata.snapshots)} snapshots{names}")
    kept = [f"{reason} {len(found)}" for reason, found in retained.by_reason().items() if found]
    if kept:
        lines.append(f"  kept by: {', '.join(kept)}")
    lines += _files(plan, detail, deleted)
    if retained.dropped:
        lines.append(f"  {'dropped' if deleted is not None else 'would drop'}: {', '.join(retained.dropped)}")
    if plan.held:
        lines.append(
            f"  {plan.held} more stay because they alone tell an idempotency key: "
            "the next run of their config takes it into the table's ledger"
        )
    if plan.unsure:
        lines.append(f"  nobody can tell the keys of {', '.join(plan.unsure)}: ldp keys rebuild CONFIG")
    if plan.reanchor and deleted is None:
        lines.append("  an empty snapshot would first take over the idempotency keys of those")
    if detail.get("unread"):
        lines.append(
            f"  {len(detail['unread'])} manifests of expired snapshots cannot be read: what only they hold "
            "is left to remove-orphans"
        )
    return (*lines, *(deleted.lines() if deleted is not None else ()))
