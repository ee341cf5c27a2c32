"""Groups are written side by side, proven, and committed several at a time; one that lost is left out."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ldp_core._duck import private
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict, LDPError

from ldp_maintenance.commit import replaced, said
from ldp_maintenance.inventory import Inventory, ManifestCache, head_of, take
from ldp_maintenance.model import Doing, Operation, Target
from ldp_maintenance.policy import Rewrite
from ldp_maintenance.rewrite import copy, proof
from ldp_maintenance.rewrite.groups import Group
from ldp_maintenance.rewrite.order import Order, noted
from ldp_maintenance.rewrite.validate import Planned, lost, superfluous

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata

MEMORY_LIMIT = "256MB"
"""Of the engine, where nothing else is said; the process takes about 150 MB besides."""
_BATCH_BYTES = 2 * 1024**3
_BATCH_GROUPS = 32


@dataclass(frozen=True)
class Job:
    """What a run works on.

    Attributes:
        target: The table.
        doing: How.
        operation: On whose behalf.
        metadata: Of the table, with the snapshot that is rewritten as its current one.
        inventory: What that snapshot holds.
        cache: Manifests that were read.
        policy: Sizes of files; the target's is in ``size``.
        size: Bytes of a file.
        order: Of the rows.
    """

    target: Target
    doing: Doing
    operation: Operation
    metadata: TableMetadata
    inventory: Inventory
    cache: ManifestCache
    policy: Rewrite
    size: int
    order: Order


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


def present(job: Job, groups: Iterable[Group]) -> None:
    """Make sure that the data files of the groups are there.

    Raises:
        LDPError: One is not; it is named.
    """
    paths = [item.path for group in groups for item in group.items]
    if not paths:
        return
    io = job.cache.io
    with ThreadPoolExecutor(16) as pool:
        for path, there in zip(paths, pool.map(lambda p: io.new_input(p).exists(), paths), strict=True):
            if not there:
                raise LDPError(
                    f"table {job.target.name} refers to data file {path}, which is not there",
                    hint="restore the file, or roll the table back to a snapshot without it",
                )


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
    job: Job, groups: Sequence[Group], done: Done, over: Callable[[], bool], told: Callable[[Group], None]
) -> None:
    base = job.target.base()
    with Stage(base, str(uuid.uuid4()), clock=job.doing.clock) as stage:
        results = []
        with ThreadPoolExecutor(max(job.doing.jobs, 1)) as pool:
            for result in pool.map(lambda group: _written(job, group, stage.folder, over), groups):
                results.append(result)
                told(result.group)
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
        return _Result(group, tuple(_write(job, group, folder)))
    except Exception as error:
        present(job, [group])
        return _Result(group, error=_told(job, group, error))


def _told(job: Job, group: Group, error: Exception) -> Exception:
    if isinstance(error, LDPError):
        return error
    kind = type(error).__name__
    hint = "give it more with --memory-limit, or use fewer --jobs" if kind == "OutOfMemoryException" else None
    message = " ".join(str(error).split())[:300]
    made = LDPError(f"{label(job.metadata, group)}: {kind}: {message}", hint=hint)
    made.__cause__ = error
    return made


def _write(job: Job, group: Group, folder: str) -> list[DataFile]:
    import json

    from ldp_core.tables.scan_plan import of_entries
    from pyiceberg.typedef import Record

    metadata, inventory = job.metadata, job.inventory
    assert inventory.snapshot is not None
    schema = metadata.schema()
    rows = copy.Rows(schema, job.cache.io, dict(metadata.properties), job.size, job.policy)
    body = json.loads(schema.model_dump_json())
    data = [inventory.data[item.index] for item in group.items]
    applied = [inventory.applied[number] for number in _deletes(inventory, group)]
    scan = of_entries(metadata, rows.io, inventory.snapshot.snapshot_id, body, data, applied)
    with _connection(job) as con:
        sql = rows.of(con, scan)
        read = proof.summed(con, sql, rows.columns)
        arranged = copy.arranged(con, rows, sql, job.order)
        live = sum(item.live_bytes for item in group.items)
        files: list[DataFile] = []
        if read.rows and group.output_spec != group.spec_id:
            spec = metadata.specs()[group.output_spec]
            made = copy.repartitioned(con, rows, arranged, spec, folder)
            files = [copy.noted(f, spec.spec_id, f.partition, job.order.sort_order_id) for f in made]
        elif read.rows:
            spec = metadata.specs()[group.spec_id]
            partition = Record(*group.partition)
            made = copy.write(con, rows, arranged, spec, folder, (live, read.rows))
            files = [copy.noted(f, spec.spec_id, partition, job.order.sort_order_id) for f in made]
        written = proof.summed(con, rows.of(con, copy.scan_of(rows, files)), rows.columns)
    proof.compare(read, written, label(metadata, group))
    return files


def _deletes(inventory: Inventory, group: Group) -> list[int]:
    return sorted({number for item in group.items for number in inventory.files[item.index].deletes})


@contextmanager
def _connection(job: Job) -> Iterator[DuckDBPyConnection]:
    """An engine of the group's own, with its share of the memory and of the processors."""
    with private(memory_limit=memory_share(job.doing)) as con:
        if job.doing.jobs > 1:
            threads = con.execute("SELECT current_setting('threads')").fetchall()[0][0]
            con.execute(f"SET threads={max(int(threads) // job.doing.jobs, 1)}")
        # The smaller side of a join with deletes would else be chosen to be kept, and the order lost.
        con.execute("SET disabled_optimizers='build_side_probe_side'")
        yield con


def memory_share(doing: Doing) -> str:
    """The memory of one of several engines that work at the same time."""
    from ldp_core._duck import set_memory_limit

    limit = doing.memory_limit or os.environ.get("LDP_MEMORY_LIMIT") or MEMORY_LIMIT
    if doing.jobs <= 1:
        return limit
    import duckdb

    with duckdb.connect() as con:
        set_memory_limit(con, limit)
        whole = con.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchall()[0][0]
    return f"{int(whole) // doing.jobs // 1024}KiB"


def _commit(job: Job, results: Sequence[_Result], stage: Stage, done: Done) -> None:
    planned = [_planned(job, result) for result in results]
    out: list[tuple[int, str]] = []

    def build(fresh: Base) -> Change:
        out.clear()
        out.extend(_lost(job, fresh, planned))
        gone = {number for number, _ in out}
        kept = [plan for number, plan in enumerate(planned) if number not in gone]
        if not kept:
            raise CommitConflict(f"all groups of this commit to {job.target.name} were changed by others")
        return _change(job, fresh, kept, stage.snapshot_id)

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
    deletes = {inventory.applied[number].data_file.file_path for number in _deletes(inventory, group)}
    moved = any(item.spec_id != group.output_spec for item in group.items)
    return Planned(frozenset(i.path for i in group.items), frozenset(deletes), moved, result.files)


def _now(job: Job, fresh: Base) -> Inventory:
    head = head_of(fresh.metadata, job.doing.branch)
    return take(fresh.metadata, job.cache, head)


def _lost(job: Job, fresh: Base, planned: Sequence[Planned]) -> list[tuple[int, str]]:
    now = _now(job, fresh)
    found = ((number, lost(plan, now, job.cache.io)) for number, plan in enumerate(planned))
    return [(number, why) for number, why in found if why is not None]


def _change(job: Job, fresh: Base, kept: Sequence[Planned], snapshot_id: int) -> Change:
    now = _now(job, fresh)
    paths = {path for plan in kept for path in plan.paths}
    removed = [entry.data_file for entry in now.data if entry.data_file.file_path in paths]
    removed += superfluous(now, paths, {path for plan in kept for path in plan.deletes})
    properties = {}
    if job.order.kind in ("sort", "zorder") and job.order.sort_order_id is None:
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


def label(metadata: TableMetadata, group: Group) -> str:
    """A group as people call it: its partition."""
    spec = metadata.specs()[group.spec_id]
    parts = [
        f"{field.name}={field.transform.to_human_string(metadata.schema().find_type(field.source_id), value)}"
        if field.source_id in metadata.schema().field_ids
        else f"{field.name}={value}"
        for field, value in zip(spec.fields, group.partition, strict=True)
    ]
    return "/".join(parts) or "the table's files"
