"""One group: its live rows read, written anew, and proven to be the same rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ldp_core._duck import private, set_memory_limit
from ldp_core.errors import LDPError
from ldp_core.tables.manifests import side_by_side

from ldp_maintenance.inventory import Inventory, ManifestCache
from ldp_maintenance.model import Doing, Operation, Target
from ldp_maintenance.policy import Rewrite
from ldp_maintenance.rewrite import copy, proof
from ldp_maintenance.rewrite.groups import Group
from ldp_maintenance.rewrite.order import Order

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyiceberg.manifest import DataFile
    from pyiceberg.table.metadata import TableMetadata

MEMORY_LIMIT = "400MB"
"""Of the engine, where nothing else is said: with less, two threads wait for each other."""


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


def present(job: Job, groups: Iterable[Group]) -> None:
    """Make sure that the data files of the groups are there.

    Raises:
        LDPError: One is not; it is named.
    """
    paths = [item.path for group in groups for item in group.items]
    if not paths:
        return
    io = job.cache.io
    found = side_by_side(paths, lambda number: io.new_input(paths[number]).exists(), 16)
    for path, there in zip(paths, found, strict=True):
        if not there:
            raise LDPError(
                f"table {job.target.name} refers to data file {path}, which is not there",
                hint="restore the file, or roll the table back to a snapshot without it",
            )


def write_group(job: Job, group: Group, folder: str) -> list[DataFile]:
    """Write the live rows of a group; nothing is committed.

    Args:
        job: What the run works on.
        group: The group.
        folder: Where the files go.

    Raises:
        RowsDiffer: What was written is not what was read.
    """
    from ldp_core.tables.scan_plan import of_entries
    from ldp_core.tables.scan_types import told_apart
    from pyiceberg.schema import Schema
    from pyiceberg.typedef import Record

    metadata, inventory = job.metadata, job.inventory
    assert inventory.snapshot is not None
    # Files are read by field id: one may well call a field otherwise where SQL cannot tell its names apart.
    body = told_apart(json.loads(metadata.schema().model_dump_json()))
    schema = Schema.model_validate(body)
    rows = copy.Rows(schema, job.cache.io, dict(metadata.properties), job.size, job.policy)
    data = [inventory.data[item.index] for item in group.items]
    applied = [inventory.applied[number] for number in deletes_of(inventory, group)]
    scan = of_entries(metadata, rows.io, inventory.snapshot.snapshot_id, body, data, applied)
    with _connection(job) as con:
        sql = rows.of(con, scan)
        read = proof.summed(con, sql, rows.columns)
        live = sum(item.live_bytes for item in group.items)
        files: list[DataFile] = []
        if read.rows and group.output_spec != group.spec_id:
            spec = metadata.specs()[group.output_spec]
            made = copy.repartitioned(con, rows, sql, spec, folder)
            # Rows are parted and not sorted: the files say nothing of an order, and are sorted afterwards.
            files = [copy.noted(f, spec.spec_id, f.partition, None) for f in made]
        elif read.rows:
            spec = metadata.specs()[group.spec_id]
            partition = Record(*group.partition)
            arranged = copy.arranged(con, rows, sql, job.order)
            made = copy.write(con, rows, arranged, spec, folder, (live, read.rows))
            files = [copy.noted(f, spec.spec_id, partition, job.order.sort_order_id) for f in made]
        written = proof.summed(con, rows.of(con, copy.scan_of(rows, files)), rows.columns)
    proof.compare(read, written, label(metadata, group))
    return files


def deletes_of(inventory: Inventory, group: Group) -> list[int]:
    """The delete files of a group, by their places in ``Inventory.applied``."""
    return sorted({number for item in group.items for number in inventory.files[item.index].deletes})


@contextmanager
def _connection(job: Job) -> Iterator[DuckDBPyConnection]:
    """An engine of the group's own, with its share of the memory and of the processors."""
    with private(memory_limit=memory_share(job)) as con:
        if job.doing.jobs > 1:
            threads = con.execute("SELECT current_setting('threads')").fetchall()[0][0]
            con.execute(f"SET threads={max(int(threads) // job.doing.jobs, 1)}")
        # The smaller side of a join with deletes would else be chosen to be kept, and the order lost.
        con.execute("SET disabled_optimizers='build_side_probe_side'")
        yield con


def memory_share(job: Job) -> str:
    """The memory of one of several engines that work at the same time.

    Raises:
        UsageError: The limit is no size.
    """
    limit = job.doing.memory_limit or os.environ.get("LDP_MEMORY_LIMIT") or MEMORY_LIMIT
    return _share(limit, max(job.doing.jobs, 1))


@cache
def _share(limit: str, jobs: int) -> str:
    import duckdb

    with duckdb.connect() as con:
        set_memory_limit(con, limit)
        whole = con.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchall()[0][0]
    return f"{int(whole) // jobs // 1024}KiB"


def told(job: Job, group: Group, error: Exception) -> Exception:
    """An error of a group, as one line."""
    from ldp_core._trouble import trouble

    if isinstance(error, LDPError):
        return error
    found = trouble(error) or LDPError(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    short = str(found.hint).endswith("--memory-limit") and job.doing.jobs > 1
    hint = f"{found.hint}, or use fewer --jobs" if short else found.hint
    made = LDPError(f"{label(job.metadata, group)}: {found.message}", hint=hint, retriable=found.retriable)
    made.__cause__ = error
    return made


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
