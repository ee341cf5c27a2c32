"""Schemas of new tables, and the updates by which a table's schema evolves in the commit of a load."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ldp_core.tables.fit import Op
from ldp_core.tables.types import to_iceberg

if TYPE_CHECKING:
    from pyiceberg.schema import Schema
    from pyiceberg.table.update import TableUpdate
    from pyiceberg.table.update.schema import UpdateSchema

    from ldp_core.commit.change import Base


NAME_MAPPING = "schema.name-mapping.default"
"""The table property by which files without field ids are read."""


def new_schema(published: pa.Schema, docs: Mapping[str, str] | None = None) -> Schema:
    """The schema of a new table; its ids are provisional, the catalog assigns the final ones.

    Args:
        published: Stored Arrow types.
        docs: Descriptions by column name.
    """
    from pyiceberg.schema import Schema as IcebergSchema
    from pyiceberg.types import NestedField

    count = itertools.count(len(published) + 1)
    known = docs or {}
    fields = [
        NestedField(
            number,
            column.name,
            to_iceberg(column.type, lambda: next(count)),
            required=not column.nullable,
            doc=known.get(column.name),
        )
        for number, column in enumerate(published, start=1)
    ]
    return IcebergSchema(*fields)


def evolve(
    base: Base, ops: Sequence[Op], docs: Mapping[str, str] | None = None
) -> tuple[Schema, tuple[TableUpdate, ...]]:
    """Apply evolution to a table's current schema.

    Args:
        base: The table.
        ops: New columns and wider types, in order.
        docs: Descriptions to be set, by column name; those that hold already change nothing.

    Returns:
        The schema to write with, and the metadata updates that belong in the commit, if any.
    """
    schema = base.metadata.schema()
    described = {
        name: text
        for name, text in (docs or {}).items()
        if (field := next((f for f in schema.fields if f.name == name), None)) and field.doc != text
    }
    if not ops and not described:
        return schema, ()
    from pyiceberg.table.update import AddSchemaUpdate, SetCurrentSchemaUpdate

    from ldp_core._pyiceberg import schema_updates

    def apply(update: UpdateSchema) -> None:
        ids = itertools.count(1)
        for op in ops:
            if op.widen:
                update.update_column(op.path, field_type=to_iceberg(op.type, lambda: next(ids)))
            else:
                doc = (docs or {}).get(op.path[0]) if len(op.path) == 1 else None
                update.add_column(op.path, to_iceberg(op.type, lambda: next(ids)), doc=doc)
        for name, text in described.items():
            update.update_column((name,), doc=text)

    updates = _keep_names(base, schema_updates(base, apply))
    for step in updates:
        if isinstance(step, AddSchemaUpdate):
            return step.schema_, updates
        if isinstance(step, SetCurrentSchemaUpdate):
            chosen = next(s for s in base.metadata.schemas if s.schema_id == step.schema_id)
            return chosen, updates
    return schema, updates


def _keep_names(base: Base, updates: tuple[TableUpdate, ...]) -> tuple[TableUpdate, ...]:
    """Leave a name of the name mapping with the field that has it.

    A new column that has the old name of a renamed one would else take that name over, and files without
    field ids would show the old column's values in it.
    """
    from pyiceberg.table.name_mapping import NameMapping, parse_mapping_from_json
    from pyiceberg.table.update import SetPropertiesUpdate

    held = base.metadata.properties.get(NAME_MAPPING)
    if held is None:
        return updates
    owner = {name: field.field_id for field in parse_mapping_from_json(held).root for name in field.names}

    def kept(step: TableUpdate) -> TableUpdate:
        if not isinstance(step, SetPropertiesUpdate) or NAME_MAPPING not in step.updates:
            return step
        fields = []
        for field in parse_mapping_from_json(step.updates[NAME_MAPPING]).root:
            mine = [name for name, field_id in owner.items() if field_id == field.field_id]
            free = [name for name in field.names if name not in owner]
            fields.append(field.model_copy(update={"names": [*mine, *free]}))
        return SetPropertiesUpdate(
            updates={**step.updates, NAME_MAPPING: NameMapping(fields).model_dump_json()}
        )

    return tuple(kept(step) for step in updates)
