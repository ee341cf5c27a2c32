"""``remove-orphans``: what is in the table's folders, old enough, called as Iceberg calls files, and unknown.

Storage is listed before the metadata is read: a file that is committed between the two is in both. Files
younger than the age guard, by the clock of their storage, may belong to a write that has not committed yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ldp_core.commit._process import is_dead_half
from ldp_core.commit.change import Base

from ldp_maintenance.deleting import Deleted, Doomed, delete_files
from ldp_maintenance.expire import check_allowed, check_amount
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.orphans.listing import Listed, list_files, refuse_unlistable
from ldp_maintenance.orphans.names import is_hidden, is_iceberg, is_ours
from ldp_maintenance.orphans.safety import all_listed, apart_from_others, deep_enough, seconds_behind, whole
from ldp_maintenance.orphans.staged import Stages, belongs, stages_of
from ldp_maintenance.places import Places, inside, outermost, roots
from ldp_maintenance.policy import Orphans
from ldp_maintenance.reachable import File, Reader, of_metadata, of_snapshots

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

OPERATION: Final = "remove-orphans"
DAY = 24 * 60 * 60.0
_NAMED = 20


@dataclass(frozen=True)
class Found:
    """What the files of a table's folders are.

    Attributes:
        orphans: Those that go.
        left: How many others are unknown and stay, by the reason.
        listed: How many files there are in all.
        referenced: How many files the metadata points at.
    """

    orphans: tuple[Listed, ...]
    left: Mapping[str, int]
    listed: int
    referenced: int


def remove_orphans(target: Target, doing: Doing) -> Outcome:
    """Remove files that nothing in the table's metadata points at.

    Args:
        target: The table, its policy, and where other tables lie: all their folders, those that
            ``write.data.path`` and ``write.metadata.path`` name too.
        doing: How; a preview unless ``commit``.

    Raises:
        Refused: ``gc.enabled`` is false, or the storage cannot be listed, or its clock not be asked.
        UsageError: The age is negative, or zero and not written out.
        SafetyAbort: What was found contradicts itself; nothing was deleted.
        LDPError: A manifest cannot be read.
    """
    policy = target.policy.orphans
    if not policy.enabled:
        return Outcome(OPERATION, "skipped", "the policy turns it off")
    first = target.base()
    check_allowed(first, OPERATION)
    check_amount(policy.older_than_days, "the age of orphans", target, "orphans.older_than_days", doing)
    refuse_unlistable(first)
    places = Places()
    folders = outermost(roots(first.metadata), places)
    deep_enough(target.name, first.metadata.location, folders, places)
    apart_from_others(target.name, folders, target.others, places)
    stages = stages_of(first)
    listed: dict[str, Listed] = {}
    for folder in folders:
        for item in list_files(folder, first.io.properties):
            listed[places.key(item.uri)] = item
    # Runs that began after the first look have files in the listing, too, and runs that ended are committed.
    again = stages_of(first)
    stages = Stages((*stages.live, *again.live), again.dead)
    base = target.base()
    reader = Reader(base.io, places)
    reached = _reached(base, reader)
    whole(target.name, base.metadata, reached)
    known = {item.snapshot_id for item in first.metadata.snapshots}
    old = [item for item in base.metadata.snapshots if item.snapshot_id in known]
    required = of_snapshots(old, reader)
    if base.metadata_location == first.metadata_location:
        required[places.key(base.metadata_location)] = File(base.metadata_location, "metadata")
    all_listed(target.name, required, listed, folders, places, base.metadata_location)
    cutoff = doing.clock().timestamp() - policy.older_than_days * DAY
    found = sort_out(base.metadata, listed, reached, policy, cutoff, stages)
    if not found.orphans:
        return _outcome(target, found, policy, "nothing")
    if not doing.commit:
        return _outcome(target, found, policy, "preview")
    behind = seconds_behind(base, folders)
    if behind:
        found = sort_out(base.metadata, listed, reached, policy, cutoff - behind, stages)
        if not found.orphans:
            return _outcome(target, found, policy, "nothing")
    last = target.base()
    check_allowed(last, OPERATION)
    going = found.orphans
    if last.metadata_location != base.metadata_location:
        # Somebody may have taken in one of them since: a file that was there already, or a rollback.
        now = _reached(last, reader)
        going = tuple(item for item in going if places.key(item.uri) not in now)
    doomed = [Doomed(item.uri, "nothing in the table's metadata points at it", item.bytes) for item in going]
    deleted = delete_files(last.io, doomed, doing, table=target.name, operation=OPERATION)
    return _outcome(target, Found(going, found.left, found.listed, found.referenced), policy, "done", deleted)


def sort_out(
    metadata: TableMetadata,
    listed: Mapping[str, Listed],
    reached: Mapping[str, File],
    policy: Orphans,
    cutoff: float,
    stages: Stages,
) -> Found:
    """Which of the listed files are orphans, and why the other unknown ones stay.

    Args:
        metadata: Of the table.
        listed: What is in its folders, by place.
        reached: What its metadata points at, by place.
        policy: Which names count.
        cutoff: Files that were written later stay.
        stages: Runs that are at work, and what dead ones left.
    """
    fields = {field.name for spec in metadata.partition_specs for field in spec.fields}
    # A file that the table refers to under a place where no file was found may be one of these, spelled anew.
    astray = {file.path.rsplit("/", 1)[-1] for key, file in reached.items() if key not in listed}
    foreign = _foreign(listed, reached, (Places().folder_key(root) for root in roots(metadata)))
    staged = belongs(stages.live)
    dead = {item.rsplit("/", 1)[-1] for item in stages.dead}
    left: Counter[str] = Counter()
    orphans = []
    for key, item in listed.items():
        if key in reached:
            continue
        name = item.relative.rsplit("/", 1)[-1]
        if staged(item.relative) or (is_ours(item.relative) and not _is_left_over(item, dead)):
            left["left_staged"] += 1
        elif is_ours(item.relative):
            if item.modified >= cutoff:
                left["left_young"] += 1
            else:
                orphans.append(item)
        elif not policy.hidden and is_hidden(item.relative, fields):
            left["left_hidden"] += 1
        elif not policy.any_name and not is_iceberg(name):
            left["left_other_names"] += 1
        elif name in astray or any(inside(key, folder) for folder in foreign):
            left["left_doubtful"] += 1
        elif item.modified >= cutoff:
            left["left_young"] += 1
        else:
            orphans.append(item)
    return Found(tuple(sorted(orphans, key=lambda item: item.uri)), dict(left), len(listed), len(reached))


def _is_left_over(item: Listed, dead: Collection[str]) -> bool:
    """Whether a file of the project's own upkeep is of a process that is dead."""
    return item.relative.rsplit("/", 1)[-1] in dead or is_dead_half(item.relative)


def _reached(base: Base, reader: Reader) -> dict[str, File]:
    found = of_metadata(base.metadata, base.metadata_location, reader.places)
    return {**found, **of_snapshots(base.metadata.snapshots, reader)}


def _foreign(
    listed: Mapping[str, Listed], reached: Mapping[str, File], own: Iterable[str]
) -> tuple[str, ...]:
    """Folders inside of those of the table that look like tables themselves, known to no one here."""
    metadata = {key.rpartition("/")[0] for key, file in reached.items() if file.kind == "metadata"}
    ours = {*own, *(folder.removesuffix("/metadata") for folder in metadata)}
    found = set()
    for key in listed:
        folder, _, name = key.rpartition("/")
        if ".metadata.json" in name and folder not in metadata and folder.endswith("/metadata"):
            found.add(folder.removesuffix("/metadata"))
    return tuple(folder for folder in found if not any(inside(item, folder) for item in ours))


def _outcome(
    target: Target, found: Found, policy: Orphans, status: Any, deleted: Deleted | None = None
) -> Outcome:
    size = sum(item.bytes for item in found.orphans)
    detail: dict[str, Any] = {
        "older_than_days": policy.older_than_days,
        "listed_files": found.listed,
        "referenced_files": found.referenced,
        "orphans": len(found.orphans),
        "orphan_bytes": size,
        "orphan_files": [item.uri for item in found.orphans[:_NAMED]],
        "removed": 0 if deleted is None else deleted.files,
        "bytes": size if deleted is None else deleted.bytes,
        "left_young": 0,
        **found.left,
    }
    if deleted is not None:
        detail |= deleted.to_dict()
    verb = "removed" if deleted is not None else "would remove"
    count = len(found.orphans) if deleted is None else deleted.files
    where = f"of {found.listed} files in the folders of {target.name}"
    lines = [f"{verb} {count} {where}, {detail['bytes']} bytes" if found.orphans else f"none {where} may go"]
    words = {
        "left_young": f"are younger than {policy.older_than_days:g} days and stay",
        "left_staged": "belong to runs that are at work, or to their upkeep, and stay",
        "left_hidden": "are hidden (a name begins with _ or .) and stay",
        "left_other_names": "are not called as Iceberg calls files and stay",
        "left_doubtful": "may be another table's, or known under another spelling, and stay",
    }
    lines += [f"  {found.left[name]} {text}" for name, text in words.items() if found.left.get(name)]
    reason = "no file is an orphan that may go" if status == "nothing" else None
    return Outcome(
        OPERATION,
        status,
        reason,
        detail=detail,
        lines=(*lines, *(deleted.lines() if deleted is not None else ())),
    )
