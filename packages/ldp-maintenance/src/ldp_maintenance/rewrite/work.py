"""Groups are written side by side, proven, and committed several at a time; one that lost is left out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict

from ldp_maintenance.commit import replaced, said
from ldp_maintenance.inventory import Inventory, head_of, take
from ldp_maintenance.rewrite.groups import Group
from ldp_maintenance.rewrite.one import Job, deletes_of, memory_share, present, told, write_group
from ldp_maintenance.rewrite.order import noted
from ldp_maintenance.rewrite.validate import Planned, lost, superfluous

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

_BATCH_BYTES = 2 * 1024**3
_BATCH_GROUPS = 32


@dataclass
class Done:
    """What came of it.

    Attributes:
        groups: Committed.
        rewritten: Data files that were replaced.
        added: Data files that replaced them.
        rewritten_bytes: Their bytes.
        added_bytes: Theirs.
        removed_deletes: Delete files that applied to nothing any more.
        lost: (group, why) of those that others changed meanwhile.
        failed: (group, error).
        no_gain: Groups that would not have become fewer files.
        left: Groups that were not begun for want of time or bytes.
        snapshots: Made.
    """

    groups: int = 0
    rewritten: int = 0
    added: int = 0
    rewritten_bytes: int = 0
    added_bytes: int = 0
    removed_deletes: int = 0
    lost: list[tuple[Group, str]] = field(default_factory=list)
    failed: list[tuple[Group, Exception]] = field(default_factory=list)
    no_gain: list[Group] = field(default_factory=list)
    left: list[Group] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)

    def add(self, more: Done) -> None:
        """Take over what came of other groups."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(more, item.name))


@dataclass(frozen=True)
class _Result:
    group: Group
    files: tuple[DataFile, ...] = ()
    error: Exception | None = None
    skipped: bool = False


def carry_out(job: Job, groups: Sequence[Group]) -> Done:
    """Rewrite groups, the first ones first.

    Raises:
        LDPError: A file that the table refers to is missing, or the catalog does not answer.
    """
    from ldp_core.commit.recover import sweep

    done = Done()
    present(job, groups)
    memory_share(job)
    sweep(job.target.base())
    begun = job.doing.clock()
    total = sum(group.bytes for group in groups)
    state = _Progress(job, total)
    for batch in _batches(groups):
        if state.over(begun):
            done.left += batch
            continue
        _batch(job, batch, done, lambda: state.over(begun), state.add)
    return done


class _Progress:
    def __init__(self, job: Job, total: int) -> None:
        self.job, self.total, self.done = job, total, 0

    def add(self, group: Group) -> None:
        self.done += group.bytes
        if self.job.doing.progress is not None:
            self.job.doing.progress(self.job.operation, self.done, self.total, "bytes")

    def over(self, begun: Any) -> bool:
        budget = self.job.doing.budget_seconds
        return budget is not None and (self.job.doing.clock() - begun).total_seconds() >= budget


def _batches(groups: Sequence[Group]) -> Iterator[list[Group]]:
    batch: list[Group] = []
    size = 0
    for group in groups:
        if batch and (len(batch) >= _BATCH_GROUPS or size + group.bytes > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(group)
        size += group.bytes
    if batch:
        yield batch


def _batch(
    job: Job, groups: Sequence[Group], done: Done, over: Callable[[], bool], tell: Callable[[Group], None]
) -> None:
    base = job.target.base()
    with Stage(base, str(uuid.uuid4()), clock=job.doing.clock) as stage:
        results = []
        with ThreadPoolExecutor(max(job.doing.jobs, 1)) as pool:
            for result in pool.map(lambda group: _written(job, group, stage.folder, over), groups):
                results.append(result)
                tell(result.group)
        done.left += [result.group for result in results if result.skipped]
        done.failed += [(r.group, r.error) for r in results if r.error is not None]
        good = [result for result in results if result.error is None and not result.skipped]
        done.no_gain += [result.group for result in good if _no_gain(result)]
        good = [result for result in good if not _no_gain(result)]
        if good:
            _commit(job, good, stage, done)


def _no_gain(result: _Result) -> bool:
    """Whether small files did not become fewer: what wrote them pressed them harder."""
    return result.group.reasons <= {"small"} and len(result.files) >= len(result.group.items)


def _written(job: Job, group: Group, folder: str, over: Callable[[], bool]) -> _Result:
    """Write and prove one group; an error is the group's own."""
    if over():
        return _Result(group, skipped=True)
    try:
        return _Result(group, tuple(write_group(job, group, folder)))
    except Exception as error:
        present(job, [group])
        return _Result(group, error=told(job, group, error))


def _commit(job: Job, results: Sequence[_Result], stage: Stage, done: Done) -> None:
    planned = [_planned(job, result) for result in results]
    out: list[tuple[int, str]] = []

    def build(fresh: Base) -> Change:
        out.clear()
        now = take(fresh.metadata, job.cache, head_of(fresh.metadata, job.doing.branch))
        reasons = ((number, lost(plan, now, fresh.io)) for number, plan in enumerate(planned))
        out.extend((number, why) for number, why in reasons if why is not None)
        gone = {number for number, _ in out}
        kept = [plan for number, plan in enumerate(planned) if number not in gone]
        if not kept:
            raise CommitConflict(f"all groups of this commit to {job.target.name} were changed by others")
        return _change(job, fresh, now, kept, stage.snapshot_id)

    base = job.target.base()
    try:
        published = replaced(base, build, stage=stage, branch=job.doing.branch)
    except CommitConflict as error:
        reasons = dict(out)
        done.lost += [(r.group, reasons.get(n, error.message)) for n, r in enumerate(results)]
        return
    _count(done, published, results, out)


def _count(done: Done, published: Published, results: Sequence[_Result], out: list[tuple[int, str]]) -> None:
    from pyiceberg.manifest import DataFileContent

    reasons = dict(out)
    done.lost += [(results[number].group, why) for number, why in out]
    done.groups += len(results) - len(reasons)
    for file in published.change.removed:
        if file.content != DataFileContent.DATA:
            done.removed_deletes += 1
        else:
            done.rewritten += 1
            done.rewritten_bytes += file.file_size_in_bytes
    done.added += len(published.change.added)
    done.added_bytes += sum(file.file_size_in_bytes for file in published.change.added)
    done.snapshots.append(published.snapshot_id)


def _planned(job: Job, result: _Result) -> Planned:
    group, inventory = result.group, job.inventory
    deletes = {inventory.applied[number].data_file.file_path for number in deletes_of(inventory, group)}
    moved = any(item.spec_id != group.output_spec for item in group.items)
    ordered = group.output_spec == group.spec_id
    return Planned(frozenset(i.path for i in group.items), frozenset(deletes), moved, result.files, ordered)


def _change(job: Job, fresh: Base, now: Inventory, kept: Sequence[Planned], snapshot_id: int) -> Change:
    paths = {path for plan in kept for path in plan.paths}
    removed = [entry.data_file for entry in now.data if entry.data_file.file_path in paths]
    removed += superfluous(now, paths, {path for plan in kept for path in plan.deletes})
    properties = {}
    own = job.order.kind in ("sort", "zorder") and job.order.sort_order_id is None
    if own and all(plan.ordered for plan in kept):
        live = {entry.snapshot_id for entry in now.data if entry.snapshot_id is not None}
        properties = noted(fresh.metadata.properties, job.order, snapshot_id, live)
    assert job.inventory.snapshot is not None
    return Change(
        "replace",
        added=tuple(file for plan in kept for file in plan.added),
        removed=tuple(removed),
        summary=said(job.operation),
        properties=properties,
        branch=job.doing.branch if job.doing.branch != "main" else None,
        sequence=job.inventory.snapshot.sequence_number,
    )
