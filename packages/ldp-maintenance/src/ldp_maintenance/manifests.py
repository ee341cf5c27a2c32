"""Manifests regrouped by partition, so that a query opens few of them.

Live entries are put in the order of their partitions and packed to the target size: each manifest then holds
a contiguous run of partitions. The entries stay what they are (existing, with their sequence numbers and the
snapshots that added them); entries of data files and of delete files stand in manifests of their own. What is
planned depends on the live entries alone, so a second run finds nothing to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ldp_core.commit.change import Base, Change
from ldp_core.errors import LDPError

from ldp_maintenance.commit import replaced, said
from ldp_maintenance.errors import Unsupported
from ldp_maintenance.inventory import ManifestCache, head_of
from ldp_maintenance.manifest_sizes import measured
from ldp_maintenance.model import Doing, Outcome, Target
from ldp_maintenance.policy import MANIFEST_SIZE

if TYPE_CHECKING:
    from ldp_core.commit._manifests import Manifests as Writer
    from pyiceberg.manifest import ManifestContent, ManifestEntry, ManifestFile
    from pyiceberg.table.metadata import TableMetadata

OPERATION: Final = "rewrite-manifests"
TARGET_PROPERTY = "commit.manifest.target-size-bytes"


@dataclass(frozen=True)
class Group:
    """The manifests of one partition spec that hold data files, or delete files.

    Attributes:
        content: Which of the two.
        spec_id: The spec.
        before: Paths of the manifests with live entries of the group.
        bins: The live entries as they are to stand in manifests.
        read_before: How many manifests are opened for each partition, all of them added up.
        read_after: The same for ``bins``.
    """

    content: ManifestContent
    spec_id: int
    before: frozenset[str]
    bins: tuple[tuple[ManifestEntry, ...], ...]
    read_before: int
    read_after: int

    @property
    def better(self) -> bool:
        """Whether there are fewer manifests, or fewer to open for a partition."""
        return len(self.bins) < len(self.before) or self.read_after < self.read_before


@dataclass(frozen=True)
class Plan:
    """What a rewrite would make of a snapshot.

    Attributes:
        manifests: Manifests of the snapshot.
        rewritten: Groups that are written anew.
        replaced: Paths of the manifests that go for them.
        dead: Paths of manifests without a live entry.
        target: Bytes that a manifest is to have.
    """

    manifests: int
    rewritten: tuple[Group, ...]
    replaced: frozenset[str]
    dead: frozenset[str]
    target: int

    @property
    def created(self) -> int:
        """Manifests that are written."""
        return sum(len(group.bins) for group in self.rewritten)

    @property
    def after(self) -> int:
        """Manifests that there are in the end."""
        return self.manifests - len(self.dead) - len(self.replaced) + self.created

    @property
    def entries(self) -> int:
        """Live entries that are written anew."""
        return sum(len(bin_) for group in self.rewritten for bin_ in group.bins)

    def detail(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "manifests_before": self.manifests,
            "manifests_after": self.after,
            "manifests_rewritten": len(self.replaced),
            "manifests_created": self.created,
            "manifests_without_live_entries": len(self.dead),
            "entries": self.entries,
            "target_size_bytes": self.target,
        }


class _Nothing(Exception):
    """On the new head there is nothing left to do."""


def rewrite_manifests(target: Target, doing: Doing) -> Outcome:
    """Regroup the manifests of a branch by partition.

    ``detail``: ``manifests_before``, ``manifests_after``, ``manifests_rewritten``, ``manifests_created``,
    ``manifests_without_live_entries`` (dropped), ``entries`` (written anew), ``target_size_bytes``.

    Raises:
        LDPError: The format version cannot be written.
        SnapshotNotFound: There is no such branch.
        CommitConflict: The races with other writers were all lost.
    """
    if not target.policy.manifests.enabled:
        return Outcome(OPERATION, "skipped", "the policy turns it off")
    base = target.base()
    job = _Job(target, doing, target.cache(base.io))
    plan = job.plan(base)
    if plan is None:
        return Outcome(OPERATION, "nothing", "the manifests are as they should be")
    lines = (f"manifests: {plan.manifests} to {plan.after}",)
    if not doing.commit:
        return Outcome(OPERATION, "preview", detail=plan.detail(), lines=lines)
    if doing.progress:
        doing.progress(OPERATION, 0, len(plan.replaced), "files")
    try:
        published = replaced(base, job.build, branch=doing.branch)
    except _Nothing:
        return Outcome(OPERATION, "nothing", "another writer has put the manifests right")
    if doing.progress:
        doing.progress(OPERATION, len(plan.replaced), len(plan.replaced), "files")
    done: Plan = published.change.info
    lines = (f"manifests: {done.manifests} to {done.after}",)
    return Outcome(OPERATION, "done", detail=done.detail(), lines=lines, snapshots=(published.snapshot_id,))


@dataclass
class _Job:
    """One rewrite: what was read stays read when the head moves."""

    target: Target
    doing: Doing
    cache: ManifestCache
    _plans: dict[int, Plan | None] = field(default_factory=dict)

    def plan(self, base: Base) -> Plan | None:
        """What is to be done on a head; None for nothing."""
        metadata = base.metadata
        if metadata.format_version > 2:
            raise Unsupported(
                f"manifests of {self.target.name} cannot be rewritten: it has format version "
                f"{metadata.format_version}, and only 1 and 2 can be written",
                hint="nothing was changed; use an engine that writes this version",
            )
        head = head_of(metadata, self.doing.branch)
        if head is None:
            return None
        if head.snapshot_id not in self._plans:
            settings = self.target.policy.manifests
            manifests = self.cache.manifests(head)
            found = None
            if len(manifests) >= settings.min_input_manifests:
                size = target_size(metadata, settings.target_size_bytes)
                found = plan(metadata, self.cache, manifests, size)
            self._plans[head.snapshot_id] = found
        return self._plans[head.snapshot_id]

    def build(self, base: Base) -> Change:
        """The change on a head."""
        found = self.plan(base)
        if found is None:
            raise _Nothing
        summary = {
            "manifests-created": str(found.created),
            "manifests-kept": str(found.after - found.created),
            "manifests-replaced": str(len(found.replaced)),
            "entries-processed": str(found.entries),
        }

        def regroup(writer: Writer, metadata: TableMetadata, left: list[ManifestFile]) -> list[ManifestFile]:
            return [
                *_write(writer, metadata, found),
                *(m for m in left if m.manifest_path not in found.replaced),
            ]

        branch = None if self.doing.branch == "main" else self.doing.branch
        return Change("replace", summary=said(OPERATION, summary), regroup=regroup, branch=branch, info=found)


def target_size(metadata: TableMetadata, wanted: int | None) -> int:
    """Bytes that a manifest is to have: as the policy says, then the table, then 8 MiB.

    Raises:
        LDPError: The table's property is no number above 0.
    """
    if wanted is not None:
        return wanted
    text = metadata.properties.get(TARGET_PROPERTY, str(MANIFEST_SIZE))
    if not text.isdecimal() or not int(text):
        raise LDPError(
            f"property {TARGET_PROPERTY} is {text!r}, not a number of bytes", hint="set or remove it"
        )
    return int(text)


def plan(
    metadata: TableMetadata, cache: ManifestCache, manifests: Sequence[ManifestFile], target: int
) -> Plan | None:
    """What a rewrite makes of manifests; None where it would make nothing better.

    Args:
        metadata: Of the table.
        cache: Reads them.
        manifests: Of a snapshot.
        target: Bytes that a manifest is to have.
    """
    from pyiceberg.manifest import DataFileContent, ManifestContent, ManifestEntryStatus

    cache.read(manifests)
    held: dict[tuple[ManifestContent, int], list[tuple[str, ManifestEntry]]] = defaultdict(list)
    kinds: dict[str, set[ManifestContent]] = defaultdict(set)
    for manifest in manifests:
        for entry in cache.entries(manifest):
            if entry.status == ManifestEntryStatus.DELETED:
                continue
            is_data = entry.data_file.content == DataFileContent.DATA
            content = ManifestContent.DATA if is_data else ManifestContent.DELETES
            kinds[manifest.manifest_path].add(content)
            held[content, manifest.partition_spec_id].append((manifest.manifest_path, entry))
    said_content = {manifest.manifest_path: manifest.content for manifest in manifests}
    wrong = {path for path, found in kinds.items() if found != {said_content[path]}}
    groups = [
        _group(metadata, content, spec_id, entries, target)
        for (content, spec_id), entries in sorted(
            held.items(), key=lambda item: (item[0][0].value, item[0][1])
        )
    ]
    # A manifest whose entries belong elsewhere is part of two groups: both are written anew then.
    chosen = tuple(group for group in groups if group.better or wrong)
    gone = frozenset(path for group in chosen for path in group.before)
    dead = frozenset(manifest.manifest_path for manifest in manifests) - set(kinds)
    if not chosen and not dead:
        return None
    return Plan(len(manifests), chosen, gone, dead, target)


def _group(
    metadata: TableMetadata,
    content: ManifestContent,
    spec_id: int,
    entries: Sequence[tuple[str, ManifestEntry]],
    target: int,
) -> Group:
    before = frozenset(path for path, _ in entries)
    pairs = {(path, _partition_key(entry)) for path, entry in entries}
    ordered = _ordered(entry for _, entry in entries)
    bins = _packed(metadata, content, spec_id, ordered, target)
    after = sum(len({_partition_key(entry) for entry in bin_}) for bin_ in bins)
    return Group(content, spec_id, before, bins, len(pairs), after)


def _packed(
    metadata: TableMetadata, content: ManifestContent, spec_id: int, ordered: list[ManifestEntry], target: int
) -> tuple[tuple[ManifestEntry, ...], ...]:
    header, each = measured(metadata, content, spec_id, ordered)
    count = max(1, int((target - header) / each))
    return tuple(tuple(ordered[at : at + count]) for at in range(0, len(ordered), count))


def _ordered(entries: Iterable[ManifestEntry]) -> list[ManifestEntry]:
    """By partition, then as they came, whatever manifests they stand in at present."""
    return sorted(entries, key=lambda e: (_partition_key(e), e.sequence_number or 0, e.data_file.file_path))


def _partition_key(entry: ManifestEntry) -> tuple[Any, ...]:
    """Nulls first, NaN last: values that Python does not compare."""
    record = entry.data_file.partition
    values = [record[position] for position in range(len(record))] if record is not None else []
    return tuple((0,) if value is None else (2,) if value != value else (1, value) for value in values)


def _write(writer: Writer, metadata: TableMetadata, found: Plan) -> list[ManifestFile]:
    from ldp_core.commit._manifests import existing

    return [
        writer.rewrite(
            metadata, metadata.schema(), group.spec_id, [existing(entry) for entry in bin_], group.content
        )
        for group in found.rewritten
        for bin_ in group.bins
    ]
