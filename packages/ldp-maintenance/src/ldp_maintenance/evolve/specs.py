"""Partition specs that a table is given: one that it has already, or a new one, the default or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ldp_core.errors import UsageError

from ldp_maintenance.evolve.rules import new_spec, same
from ldp_maintenance.policy import PartitionField
from ldp_maintenance.updates import Step, change_metadata

if TYPE_CHECKING:
    from ldp_core.commit.change import Base
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.update import TableUpdate

Fields = Sequence[tuple[int, str]]


def known(metadata: TableMetadata, fields: Fields) -> PartitionSpec | None:
    """The spec of these fields that a table has; its default one where that is it."""
    specs = sorted(metadata.partition_specs, key=lambda spec: spec.spec_id != metadata.default_spec_id)
    return next((spec for spec in specs if same(spec, fields)), None)


def with_spec(metadata: TableMetadata, fields: Fields, names: Sequence[str]) -> TableMetadata:
    """The metadata with a spec of these fields."""
    if known(metadata, fields) is not None:
        return metadata
    made = _made(metadata, fields, names)
    changed = {
        "partition_specs": [*metadata.partition_specs, made],
        "last_partition_id": max(
            [f.field_id for f in made.fields], default=metadata.last_partition_id or 999
        ),
    }
    return metadata.model_copy(update=changed)


def add(base: Base, fields: Fields, names: Sequence[str], *, default: bool = False) -> None:
    """Commit a spec of these fields, unless the table has it.

    Args:
        base: The table.
        fields: (source column, transform).
        names: What fields are called that no spec has yet.
        default: Make it the spec of new data.

    Raises:
        CommitConflict: The races with other writers were all lost.
    """
    from pyiceberg.table.update import AddPartitionSpecUpdate, SetDefaultSpecUpdate

    def holds(metadata: TableMetadata) -> bool:
        found = known(metadata, fields)
        return found is not None and (not default or found.spec_id == metadata.default_spec_id)

    def build(fresh: Base) -> Step | None:
        metadata = fresh.metadata
        if holds(metadata):
            return None
        updates: list[TableUpdate] = []
        found = known(metadata, fields)
        if found is None:
            updates.append(AddPartitionSpecUpdate(spec=_made(metadata, fields, names)))
        if default:
            number = -1 if found is None else found.spec_id
            updates.append(SetDefaultSpecUpdate.model_validate({"spec-id": number}))
        return Step(tuple(updates), holds)

    change_metadata(base, build)


def wanted(
    metadata: TableMetadata, fields: Sequence[PartitionField]
) -> tuple[list[tuple[int, str]], list[str]]:
    """(source column, transform) and name of each field of a policy's partition.

    Raises:
        UsageError: A column is not there, or a transform does not apply to it.
    """
    from pyiceberg.transforms import parse_transform

    schema = metadata.schema()
    pairs, names = [], []
    for field in fields:
        word = {"bucket": f"bucket[{field.num_buckets}]", "truncate": f"truncate[{field.width}]"}.get(
            field.transform, field.transform
        )
        try:
            source = schema.find_field(field.column)
            fits = parse_transform(word).can_transform(source.field_type)
        except ValueError:
            columns = ", ".join(column.name for column in schema.fields)
            raise UsageError(
                f"partition: no column {field.column!r} for transform {word}", hint=f"columns: {columns}"
            ) from None
        if not fits:
            raise UsageError(f"partition: {word} cannot apply to column {field.column!r}")
        pairs.append((source.field_id, word))
        short = {"identity": "", "truncate": "_trunc", "void": "_null"}.get(
            field.transform, f"_{field.transform}"
        )
        names.append(field.name or f"{field.column}{short}")
    return pairs, names


def _made(metadata: TableMetadata, fields: Fields, names: Sequence[str]) -> PartitionSpec:
    last = metadata.last_partition_id or 999
    return new_spec(fields, names, metadata.partition_specs, metadata.schema(), last)
