"""``rewrite-data-files``: small files put together, large ones split, deletes applied, rows put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_core.errors import LDPError

from ldp_maintenance.errors import Unsupported
from ldp_maintenance.inventory import head_of, take
from ldp_maintenance.model import Doing, Operation, Outcome, Target
from ldp_maintenance.policy import Ordering
from ldp_maintenance.rewrite import windows
from ldp_maintenance.rewrite.candidates import Item, items, reasons, target_size
from ldp_maintenance.rewrite.copy import at_head
from ldp_maintenance.rewrite.groups import Group, plan
from ldp_maintenance.rewrite.one import Job, label, present
from ldp_maintenance.rewrite.order import resolve
from ldp_maintenance.rewrite.work import Done, carry_out

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

OPERATION: Operation = "rewrite-data-files"


@dataclass(frozen=True)
class Planned:
    """What there is to do.

    Attributes:
        groups: Best first.
        left_newest: Candidates in the newest partitions of time.
        newest: How these are called.
        left_format: Files that are not Parquet.
        left_budget: Groups that are more than the bytes allowed.
    """

    groups: tuple[Group, ...] = ()
    left_newest: tuple[Item, ...] = ()
    left_format: int = 0
    left_budget: tuple[Group, ...] = ()


def rewrite_data_files(target: Target, doing: Doing) -> Outcome:
    """Rewrite the data files that are worth it.

    Raises:
        UsageError: The policy names a column or a partition spec that is not there.
        LDPError: The table cannot be rewritten: its format version, or a file that is missing.
    """
    job = opened(target, doing, OPERATION)
    if job is None:
        return Outcome(OPERATION, "nothing", reason="the table is empty", detail=detail(Done()))
    return _run(job)


def opened(
    target: Target, doing: Doing, operation: Operation, ordering: Ordering | None = None
) -> Job | None:
    """Load a table for a rewrite; None where it has no snapshot.

    Raises:
        Unsupported: Its format version cannot be written.
    """
    base = target.base()
    if base.metadata.format_version > 2:
        raise Unsupported(
            f"{target.name} has format version {base.metadata.format_version}: "
            "its data files cannot be rewritten here",
            hint="rewrite them with the engine that writes the table",
        )
    policy = target.policy.rewrite
    order = resolve(base.metadata, ordering or target.policy.ordering)
    if policy.output_spec is not None:
        _writable(base.metadata, policy.output_spec, target.name)
    head = head_of(base.metadata, doing.branch)
    if head is None:
        return None
    metadata = at_head(base.metadata, head.snapshot_id)
    cache = target.cache(base.io)
    size = target_size(policy, metadata.properties)
    return Job(target, doing, operation, metadata, take(metadata, cache, head), cache, policy, size, order)


def _writable(metadata: TableMetadata, spec_id: int, name: str) -> None:
    """Make sure that files can be moved to a partition spec."""
    spec = metadata.specs().get(spec_id)
    if spec is None:
        known = ", ".join(str(number) for number in sorted(metadata.specs()))
        raise LDPError(f"{name} has no partition spec {spec_id}", hint=f"specs: {known}")
    columns = metadata.schema().field_ids
    gone = [field.name for field in spec.fields if field.source_id not in columns]
    if gone:
        raise LDPError(
            f"{name}: partition spec {spec_id} cannot be written to any more: "
            f"the column of its field {gone[0]} was dropped",
            hint="name another spec",
        )


def planned(job: Job) -> Planned:
    """What a rewrite would do."""
    metadata, policy = job.metadata, job.policy
    found = items(job.inventory, lambda entry: job.order.holds(metadata, entry))
    schema = metadata.schema()
    fields = {n: field for n, spec in metadata.specs().items() if (field := windows.time_field(spec, schema))}
    newest = windows.open_files(found, fields, policy.skip_newest)
    files = [item for item in found if item.index not in newest]
    groups, left = within(plan(files, policy, job.size), job.doing.budget_bytes)
    aside = tuple(i for i in found if i.index in newest and reasons(i, policy, job.size))
    return Planned(tuple(groups), aside, sum(not item.parquet for item in files), tuple(left))


def within(groups: Sequence[Group], budget: int | None) -> tuple[list[Group], list[Group]]:
    """The groups that so many bytes allow, and the others."""
    taken: list[Group] = []
    left: list[Group] = []
    size = 0
    for group in groups:
        if budget is not None and size + group.bytes > budget:
            left.append(group)
            continue
        taken.append(group)
        size += group.bytes
    return taken, left


def _run(job: Job) -> Outcome:
    work = planned(job)
    lines = _aside(job.metadata, work)
    present(job, work.groups)
    if not work.groups:
        if work.left_budget:
            found = detail(Done(left=list(work.left_budget)), work)
            reason = f"{len(work.left_budget)} groups are left: each is more than the bytes allowed"
            return Outcome(OPERATION, "skipped", reason=reason, detail=found, lines=lines)
        return Outcome(OPERATION, "nothing", detail=detail(Done(), work), lines=lines)
    if not job.doing.commit:
        return Outcome(OPERATION, "preview", detail=preview(work), lines=(*preview_lines(work), *lines))
    begun = job.doing.clock()
    done = carry_out(job, work.groups)
    done.left += work.left_budget
    if job.policy.output_spec is not None and done.groups and not done.left:
        _put_together(job, done, (job.doing.clock() - begun).total_seconds())
    if done.lost and not (done.groups or done.failed or done.left) and not _still_due(job):
        reason = "others rewrote its files meanwhile"
        return Outcome(OPERATION, "nothing", reason=reason, detail=detail(done, work), lines=lines)
    return finished(job, done, work, lines)


def _still_due(job: Job) -> bool:
    """Whether the table, as it is by now, still has what is worth a rewrite."""
    again = opened(job.target, job.doing, job.operation)
    return again is not None and bool(planned(again).groups)


def _put_together(job: Job, done: Done, seconds: float) -> None:
    """Put together and sort what moving to another partition spec left in each of its partitions."""
    doing = job.doing
    if doing.budget_seconds is not None:
        doing = replace(doing, budget_seconds=max(doing.budget_seconds - seconds, 0))
    if doing.budget_bytes is not None:
        doing = replace(doing, budget_bytes=max(doing.budget_bytes - done.rewritten_bytes, 0))
    again = opened(job.target, doing, job.operation)
    if again is None:
        return
    work = planned(again)
    done.left += work.left_budget
    done.add(carry_out(again, work.groups))


def preview(work: Planned) -> dict[str, Any]:
    """The counts of a preview: what is expected."""
    groups = work.groups
    expected = Done(
        groups=len(groups),
        rewritten=sum(len(group.items) for group in groups),
        added=sum(group.expected for group in groups),
        rewritten_bytes=sum(group.bytes for group in groups),
        added_bytes=int(sum(item.live_bytes for group in groups for item in group.items)),
        left=list(work.left_budget),
    )
    return detail(expected, work)


def preview_lines(work: Planned) -> tuple[str, ...]:
    """What a preview tells a person."""
    files = sum(len(group.items) for group in work.groups)
    expected = sum(group.expected for group in work.groups)
    return (f"{files} data files in {_many(len(work.groups), 'group')} would become about {expected}",)


def detail(done: Done, work: Planned | None = None) -> dict[str, Any]:
    """The counts of an outcome."""
    return {
        "groups": done.groups,
        "groups_lost": len(done.lost),
        "groups_failed": len(done.failed),
        "rewritten_data_files": done.rewritten,
        "added_data_files": done.added,
        "rewritten_bytes": done.rewritten_bytes,
        "added_bytes": done.added_bytes,
        "removed_delete_files": done.removed_deletes,
        "left_newest_partitions": len({(i.spec_id, i.partition) for i in work.left_newest}) if work else 0,
        "left_for_budget": len(done.left),
    }


def finished(job: Job, done: Done, work: Planned, lines: tuple[str, ...]) -> Outcome:
    """The outcome of a run that committed, or tried to."""
    told = [f"{done.rewritten} data files became {done.added}"] if done.groups else []
    if done.removed_deletes:
        told.append(f"{_many(done.removed_deletes, 'delete file')} dropped: they apply to nothing any more")
    told += [f"lost: {label(job.metadata, group)}: {why}" for group, why in done.lost]
    told += [f"failed: {_said(error)}" for _, error in done.failed]
    if done.no_gain:
        told.append(
            f"{_many(len(done.no_gain), 'group')} left as they were: they would not become fewer files"
        )
    if done.left:
        told.append(f"{_many(len(done.left), 'group')} left for the next run")
    found = detail(done, work)
    made = Outcome(
        job.operation, "done", detail=found, lines=(*told, *lines), snapshots=tuple(done.snapshots)
    )
    if done.failed:
        error = done.failed[0][1]
        reason = f"{len(done.failed)} of {len(work.groups)} groups failed: {_said(error)}"
        hint = error.hint if isinstance(error, LDPError) else None
        code = error.code if isinstance(error, LDPError) else "error"
        return replace(made, status="failed", reason=reason, hint=hint, code=code, error=error)
    if done.groups:
        return made
    if done.lost:
        reason = f"others changed all {_many(len(done.lost), 'group')} meanwhile: {done.lost[0][1]}"
        hint = "run it again when fewer writers are at work"
        return replace(made, status="failed", reason=reason, code="commit_conflict", hint=hint)
    if done.left:
        return replace(made, status="skipped", reason="the time was over before any group was begun")
    return replace(made, status="nothing", reason="no group would become fewer files")


def _aside(metadata: TableMetadata, work: Planned) -> tuple[str, ...]:
    lines = []
    if work.left_newest:
        parts = {(item.spec_id, item.partition): item for item in work.left_newest}
        names = sorted(
            label(metadata, Group((i,), i.spec_id, i.partition, 1, frozenset())) for i in parts.values()
        )
        said = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"left alone, for they may still be written to: {said}")
    if work.left_format:
        files = _many(work.left_format, "file")
        lines.append(f"{files} left alone: they, or the deletes of their rows, are not Parquet")
    return tuple(lines)


def _said(error: Exception) -> str:
    """An error without its hint, which stands apart."""
    return error.message if isinstance(error, LDPError) else str(error)


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
