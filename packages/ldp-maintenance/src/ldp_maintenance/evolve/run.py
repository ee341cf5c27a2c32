"""``evolve-partitions``: old partitions become coarser, and new data gets the spec that is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_core.errors import LDPError, UsageError

from ldp_maintenance.evolve import specs
from ldp_maintenance.evolve.rules import coarse_fields, coarser, fine_place, problem
from ldp_maintenance.model import Doing, Operation, Outcome, Target
from ldp_maintenance.rewrite.candidates import Item, items
from ldp_maintenance.rewrite.groups import Group, best_first, outputs
from ldp_maintenance.rewrite.one import Job, present
from ldp_maintenance.rewrite.run import Planned, detail, finished, opened, preview, preview_lines, within
from ldp_maintenance.rewrite.work import Done, carry_out

if TYPE_CHECKING:
    import datetime as dt


OPERATION: Operation = "evolve-partitions"


@dataclass(frozen=True)
class Coarse:
    """A spec that some files go to.

    Attributes:
        fields: (source column, transform) of its fields.
        names: What they are called where no spec has them yet.
    """

    fields: tuple[tuple[int, str], ...]
    names: tuple[str, ...]


def evolve_partitions(target: Target, doing: Doing) -> Outcome:
    """Make old partitions coarser, by the policy's rules, and its partition the spec of new data.

    ``detail``: what ``rewrite-data-files`` has, ``default_spec`` where it changes, and ``skipped_specs``.

    Raises:
        UsageError: A rule or a wanted partition cannot be.
        LDPError: The table cannot be rewritten.
    """
    wrong = problem(target.policy.evolution)
    if wrong is not None:
        raise UsageError(f"partition evolution: {wrong}")
    if doing.branch not in (None, "main"):
        raise LDPError(f"partitions of {target.name} evolve on main only, not on branch {doing.branch!r}")
    lines = _default_spec(target, doing)
    job = opened(target, doing, OPERATION)
    if job is None:
        return _only(Outcome(OPERATION, "nothing", "the table is empty", detail=detail(Done())), lines, doing)
    if job.metadata.format_version < 2 and target.policy.evolution:
        reason = "files of a table of format version 1 stay in their partitions"
        return _only(Outcome(OPERATION, "skipped", reason, detail=detail(Done())), lines, doing)
    moves, reasons = _moves(job)
    lines += reasons
    job = _with_specs(job, [coarse for coarse, _ in moves])
    groups, left = within(best_first(_groups(job, moves)), doing.budget_bytes)
    work = Planned(tuple(groups), left_budget=tuple(left))
    return _only(_carried(job, work, reasons), lines, doing)


def _carried(job: Job, work: Planned, reasons: Sequence[str]) -> Outcome:
    more = {"skipped_specs": len(reasons)}
    present(job, work.groups)
    if not work.groups:
        if work.left_budget:
            said = f"{len(work.left_budget)} groups are left: each is more than the bytes allowed"
            return Outcome(
                OPERATION, "skipped", said, detail={**detail(Done(left=[*work.left_budget])), **more}
            )
        return Outcome(OPERATION, "nothing", detail={**detail(Done()), **more})
    if not job.doing.commit:
        return Outcome(OPERATION, "preview", detail={**preview(work), **more}, lines=preview_lines(work))
    done = carry_out(job, work.groups)
    done.left += work.left_budget
    outcome = finished(job, done, work, ())
    return replace(outcome, detail={**outcome.detail, **more})


def _only(outcome: Outcome, lines: list[str], doing: Doing) -> Outcome:
    """The outcome with what was said besides; a new default spec alone is work, too."""
    changed = any(line.startswith(_NEW) for line in lines)
    status = outcome.status
    if changed and status in ("nothing", "skipped"):
        status = "done" if doing.commit else "preview"
    found: dict[str, Any] = {**outcome.detail, "default_spec": changed}
    return replace(outcome, status=status, detail=found, lines=(*lines, *outcome.lines))


_NEW = "new data is partitioned by"


def _default_spec(target: Target, doing: Doing) -> list[str]:
    """Make the wanted partition the default spec; what is said of it."""
    if target.policy.partition is None:
        return []
    base = target.base()
    fields, names = specs.wanted(base.metadata, target.policy.partition)
    found = specs.known(base.metadata, fields)
    if found is not None and found.spec_id == base.metadata.default_spec_id:
        return []
    if doing.commit:
        specs.add(base, fields, names, default=True)
    said = ", ".join(f"{word}({base.metadata.schema().find_column_name(number)})" for number, word in fields)
    return [f"{_NEW} {said or 'nothing'}; files that are there stay where they are"]


def _moves(job: Job) -> tuple[list[tuple[Coarse, Move]], list[str]]:
    """Each file that should move, with the spec and the partition that it goes to; and what is skipped."""
    rules = job.target.policy.evolution
    now = _utc(job.doing.clock())
    metadata = job.metadata
    found: list[tuple[Coarse, Move]] = []
    reasons: dict[int, str] = {}
    for item in items(job.inventory, lambda entry: job.order.holds(metadata, entry)):
        spec = metadata.specs()[item.spec_id]
        place, reason = fine_place(spec, rules)
        if reason is not None:
            reasons[item.spec_id] = reason
        if place is None or not item.parquet:
            continue
        to = coarser(str(spec.fields[place].transform), item.partition[place], rules, now)
        if to is None:
            continue
        unit, value = to
        fields = tuple(coarse_fields(spec, place, unit))
        names = tuple(
            _renamed(field.name, str(field.transform), unit) if number == place else field.name
            for number, field in enumerate(spec.fields)
        )
        partition = (*item.partition[:place], value, *item.partition[place + 1 :])
        found.append((Coarse(fields, names), Move(item, partition)))
    return found, [reasons[number] for number in sorted(reasons)]


@dataclass(frozen=True)
class Move:
    """A file that goes to a coarser partition."""

    item: Item
    partition: tuple[Any, ...]


def _renamed(name: str, old: str, new: str) -> str:
    """``at_day`` becomes ``at_month``."""
    return f"{name.removesuffix(old)}{new}" if name.endswith(f"_{old}") else f"{name}_{new}"


def _with_specs(job: Job, wanted: Sequence[Coarse]) -> Job:
    """The job with the coarse specs in its metadata: committed, unless it is a preview."""
    distinct = list(dict.fromkeys(wanted))
    if job.doing.commit:
        base = job.target.base()
        for coarse in distinct:
            specs.add(base, coarse.fields, coarse.names)
            base = job.target.base()
        taken = {"partition_specs": base.metadata.partition_specs}
        return replace(job, metadata=job.metadata.model_copy(update=taken))
    metadata = job.metadata
    for coarse in distinct:
        metadata = specs.with_spec(metadata, coarse.fields, coarse.names)
    return replace(job, metadata=metadata)


def _groups(job: Job, moves: Sequence[tuple[Coarse, Move]]) -> list[Group]:
    """One group a coarse partition: its fine files, and what of it is there already and small."""
    metadata, policy = job.metadata, job.policy
    parts: dict[tuple[int, tuple[Any, ...]], list[Item]] = {}
    for coarse, move in moves:
        spec = specs.known(metadata, coarse.fields)
        assert spec is not None
        parts.setdefault((spec.spec_id, move.partition), []).append(move.item)
    small = policy.min_file_size_ratio * job.size
    for item in items(job.inventory, lambda entry: job.order.holds(metadata, entry)):
        members = parts.get((item.spec_id, item.partition))
        if members is not None and item.parquet and item.size < small:
            members.append(item)
    found = []
    for (spec_id, partition), members in parts.items():
        members.sort(key=lambda item: (item.sequence, item.index))
        expected = outputs(sum(item.live_bytes for item in members), job.size, policy)
        found.append(Group(tuple(members), spec_id, partition, expected, frozenset({"spec"}), spec_id))
    return found


def _utc(moment: dt.datetime) -> dt.datetime:
    import datetime as dt

    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)
