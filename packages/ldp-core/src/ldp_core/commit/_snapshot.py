"""One change as the updates and requirements of one catalog commit.

Facts it stands on: a commit of ``AddSnapshot`` and ``SetSnapshotRef(main)`` under the assertions below is one
compare-and-swap in every catalog; pyiceberg's own transaction would copy the whole metadata many times.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ldp_core.catalogs.tables import is_rest
from ldp_core.commit._manifests import Manifests, live
from ldp_core.commit._summary import build_summary
from ldp_core.commit.change import Base, Change
from ldp_core.commit.claim import Extra
from ldp_core.commit.fence import KEEP_MS, fence_updates
from ldp_core.errors import CommitConflict, LDPError

if TYPE_CHECKING:
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot, Summary
    from pyiceberg.table.update import TableRequirement, TableUpdate

MAIN = "main"


@dataclass(frozen=True)
class Prepared:
    """A commit ready to be sent.

    Attributes:
        requirements: What must hold for it to take effect.
        updates: What it does.
        files: The metadata files that the new snapshot refers to and this publish wrote.
    """

    requirements: tuple[TableRequirement, ...]
    updates: tuple[TableUpdate, ...]
    files: frozenset[str]


def prepare(
    base: Base,
    change: Change,
    manifests: Manifests,
    list_path: str,
    keys: Mapping[str, str],
    extra: Extra | None = None,
) -> Prepared:
    """Write the manifests and the manifest list of a change and put its commit together.

    Args:
        base: What it is built on.
        change: The change.
        manifests: The writer of this publish; keeps what may be used again after a lost race.
        list_path: Where the manifest list goes.
        keys: Keys for the snapshot summary besides the change's own, which stand above them.
        extra: What a claim adds.

    Raises:
        CommitConflict: A file that the change removes is not in the base.
        LDPError: The table's format version cannot be written.
    """
    metadata = _parent(base.metadata, change)
    if metadata.format_version > 2:
        raise LDPError(
            f"table {'.'.join(base.identifier)} has format version {metadata.format_version}; "
            "only 1 and 2 can be written"
        )
    schema = written_schema(base, change)
    head = metadata.current_snapshot()
    old = live(head.manifests(base.io)) if head else []
    removed = {file.file_path: file for file in change.removed}
    if removed:
        old, found = manifests.without(metadata, schema, old, removed)
        _all_found(base, removed, {file.file_path for file in found})
    else:
        found = []
    if change.regroup is not None:
        old = change.regroup(manifests, metadata, old)
    else:
        old = manifests.merged(metadata, schema, old)
    chosen = [*manifests.added(metadata, schema, change.added, change.sequence), *old]
    summary = build_summary(
        metadata,
        schema,
        change.operation,
        added=change.added,
        removed=found,
        manifests=chosen,
        extra={**keys, **change.summary},
    )
    snapshot = _snapshot(metadata, manifests.snapshot_id, list_path, schema.schema_id, summary)
    manifests.written.append(list_path)  # first: a full disk leaves a part of it behind
    _write_list(base, snapshot, chosen, list_path)
    used = {manifest.manifest_path for manifest in chosen} & set(manifests.written)
    more = extra or Extra()
    needed = requirements(base, more.absent, change.branch)
    done = updates(base, change, snapshot, more)
    return Prepared(needed, done, frozenset({*used, list_path}))


def requirements(
    base: Base, absent: str | None = None, branch: str | None = None
) -> tuple[TableRequirement, ...]:
    """What must still hold when the commit arrives: the base is the table's present state.

    Args:
        base: The table.
        absent: A tag that must not be there.
        branch: The branch that moves; main, and with it a branch that is not there yet, where there is none.
    """
    from pyiceberg.table.update import (
        AssertCreate,
        AssertCurrentSchemaId,
        AssertDefaultSpecId,
        AssertRefSnapshotId,
        AssertTableUUID,
    )

    if not base.exists:
        return (AssertCreate(),)
    metadata = base.metadata
    name = branch if branch in metadata.refs else MAIN
    ref = metadata.refs.get(str(name))
    head = {"ref": name, "snapshot-id": ref.snapshot_id if ref else None}
    fence = {"ref": absent, "snapshot-id": None}
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertRefSnapshotId.model_validate(head),
        AssertCurrentSchemaId.model_validate({"current-schema-id": metadata.current_schema_id}),
        AssertDefaultSpecId.model_validate({"default-spec-id": metadata.default_spec_id}),
        *((AssertRefSnapshotId.model_validate(fence),) if absent else ()),
        *_sequence_guard(base),
    )


def updates(base: Base, change: Change, snapshot: Snapshot, extra: Extra) -> tuple[TableUpdate, ...]:
    """What the commit does, in order: make the table, evolve it, set properties, add the snapshot."""
    from pyiceberg.table.update import AddSnapshotUpdate, SetPropertiesUpdate

    given = {**change.properties, **extra.properties}
    properties = (SetPropertiesUpdate(updates=given),) if given else ()
    return (
        *base.creation,
        *change.updates,
        *properties,
        AddSnapshotUpdate(snapshot=snapshot),
        _moved(base.metadata, change.branch or MAIN, snapshot.snapshot_id),
        *fence_updates(snapshot.snapshot_id, extra.tags, extra.drop),
    )


def written_schema(base: Base, change: Change) -> Schema:
    """The schema a change is written with: named by it, added by it, or the base's current one."""
    from pyiceberg.table.update import AddSchemaUpdate

    added = [update.schema_ for update in change.updates if isinstance(update, AddSchemaUpdate)]
    if change.schema_id is None:
        return added[-1] if added else base.metadata.schema()
    for schema in (*added, *base.metadata.schemas):
        if schema.schema_id == change.schema_id:
            return schema
    raise LDPError(f"table {'.'.join(base.identifier)} has no schema {change.schema_id}")


def _parent(metadata: TableMetadata, change: Change) -> TableMetadata:
    """The metadata with the snapshot that a change is built on as the current one."""
    ref = metadata.refs.get(change.branch or MAIN)
    if change.onto is not None:
        return _main_at(metadata, change.onto)
    return _main_at(metadata, ref.snapshot_id) if change.branch and ref else metadata


def _main_at(metadata: TableMetadata, snapshot_id: int) -> TableMetadata:
    """The metadata as it would be with main at another snapshot."""
    from pyiceberg.table.refs import SnapshotRef

    # A table that was written on a branch alone has no main.
    main = metadata.refs.get(MAIN) or SnapshotRef.model_validate(
        {"snapshot-id": snapshot_id, "type": "branch"}
    )
    main = main.model_copy(update={"snapshot_id": snapshot_id})
    changed = {"current_snapshot_id": snapshot_id, "refs": {**metadata.refs, MAIN: main}}
    return metadata.model_copy(update=changed)


def _moved(metadata: TableMetadata, name: str, snapshot_id: int) -> TableUpdate:
    """A branch at the new snapshot, with the retention that was set on it; a private one goes by itself."""
    from pyiceberg.table.update import SetSnapshotRefUpdate

    ref = metadata.refs.get(name)
    age = None if name == MAIN else KEEP_MS
    return SetSnapshotRefUpdate.model_validate(
        {
            "ref-name": name,
            "type": "branch",
            "snapshot-id": snapshot_id,
            "max-ref-age-ms": ref.max_ref_age_ms if ref else age,
            "max-snapshot-age-ms": ref.max_snapshot_age_ms if ref else None,
            "min-snapshots-to-keep": ref.min_snapshots_to_keep if ref else None,
        }
    )


def _sequence_guard(base: Base) -> tuple[TableRequirement, ...]:
    """Assert the sequence number where the client validates (SQL, Glue).

    With no parent a stale sequence number would be accepted and the table's would go backwards. The REST
    protocol has no such assertion; there the server orders the commits.
    """
    if is_rest(base.catalog):
        return ()
    from ldp_core.commit._sequence import AssertLastSequenceNumber, last_sequence_number

    guard: Any = AssertLastSequenceNumber.model_validate(
        {"last-sequence-number": last_sequence_number(base.metadata)}
    )
    return (guard,)


def _snapshot(
    metadata: TableMetadata, snapshot_id: int, list_path: str, schema_id: int, summary: Summary
) -> Snapshot:
    from pyiceberg.table.snapshots import Snapshot

    head = metadata.current_snapshot()
    made = Snapshot.model_validate(
        {
            "snapshot-id": snapshot_id,
            "parent-snapshot-id": head.snapshot_id if head else None,
            "sequence-number": metadata.next_sequence_number(),
            "timestamp-ms": max(int(time.time() * 1000), metadata.last_updated_ms or 0),
            "manifest-list": list_path,
            "schema-id": schema_id,
        }
    )
    return made.model_copy(update={"summary": summary})


def _write_list(base: Base, snapshot: Snapshot, manifests: list[ManifestFile], path: str) -> None:
    from pyiceberg.manifest import write_manifest_list

    metadata = base.metadata
    with write_manifest_list(
        format_version=metadata.format_version,
        output_file=base.io.new_output(path),
        snapshot_id=snapshot.snapshot_id,
        parent_snapshot_id=snapshot.parent_snapshot_id,
        sequence_number=snapshot.sequence_number,
        avro_compression=metadata.properties.get("write.avro.compression-codec", "gzip"),  # type: ignore[arg-type]
    ) as writer:
        writer.add_manifests(manifests)


def _all_found(base: Base, removed: Mapping[str, object], found: set[str]) -> None:
    missing = [path for path in removed if path not in found]
    if missing:
        raise CommitConflict(
            f"table {'.'.join(base.identifier)} no longer holds {len(missing)} of the files to replace, "
            f"such as {missing[0]}"
        )
