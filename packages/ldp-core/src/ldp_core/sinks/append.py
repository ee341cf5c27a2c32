"""Appending rows to a table of history: made when it is not there, in one commit of the project's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ldp_core import _duck
from ldp_core.catalogs.access import open_catalog
from ldp_core.commit.base import NewTable, load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import anew
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict, TableChanged
from ldp_core.ids import new_id
from ldp_core.sinks.rows import DOCS, schemas
from ldp_core.spi import Spec
from ldp_core.tables.fit import Op
from ldp_core.tables.schema import evolve, new_schema
from ldp_core.tables.types import arrow_schema
from ldp_core.tables.write import Layout, Written, write_files

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.schema import Schema


def append(catalog: Spec, identifier: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    """Append rows to a table of history.

    A table that an older version made gets the columns that it lacks, in the same commit; columns that only a
    newer version knows are left empty.

    Args:
        catalog: Its catalog.
        identifier: ``(namespace, table)``.
        rows: The rows; columns that are left out are missing.

    Raises:
        LDPError: They cannot be written.
    """
    anew(partial(_once, catalog, identifier, rows))


def _once(catalog: Spec, identifier: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC

    name = identifier[1]
    own = schemas()[name]
    new = NewTable(new_schema(own), UNPARTITIONED_PARTITION_SPEC, {"comment": DOCS[name]})
    base = load_base(open_catalog(catalog, create=True), identifier, new)
    if base.exists:
        sweep(base)
    schema, updates = evolve(base, _lacking(own, base))
    table = _fitted(rows, own, arrow_schema(schema))
    with Stage(base, new_id()) as stage:
        written = _written(base, schema, table, stage.folder)
        change = Change("append", written.files, updates=updates, schema_id=schema.schema_id)
        publish(base, lambda fresh: _same(base, fresh, change), stage=stage)


def _lacking(own: pa.Schema, base: Base) -> list[Op]:
    """The columns that a table of an older version lacks; rows of before have nothing in them."""
    held = {field.name for field in base.metadata.schema().fields}
    return [Op((field.name,), field.type, widen=False) for field in own if field.name not in held]


def _same(base: Base, fresh: Base, change: Change) -> Change:
    """The change, where the table's columns are still those that it was made for."""
    if _columns(fresh) != _columns(base):
        raise TableChanged(f"the table {'.'.join(base.identifier)} changed while it was written")
    return change


def _columns(base: Base) -> tuple[Any, ...]:
    """What the ids of columns hang on: another writer may have added the same ones, or dropped some."""
    found = base.metadata
    return found.table_uuid, found.current_schema_id, found.schemas, found.last_column_id


def _written(base: Base, schema: Schema, table: pa.Table, folder: str) -> Written:
    metadata = base.metadata
    if metadata.spec().fields:
        raise CommitConflict(
            f"the table {'.'.join(base.identifier)} is partitioned, and was not made by this version",
            hint="give the sink another namespace",
        )
    layout = Layout(schema, metadata.spec(), metadata.properties, dict(base.io.properties))
    with _duck.private() as con:
        con.register("rows", table)
        return write_files(con, "SELECT * FROM rows", layout, folder)


def _fitted(rows: list[dict[str, Any]], own: pa.Schema, wanted: pa.Schema) -> pa.Table:
    """The rows in the columns that the table has, in their order."""
    import pyarrow as pa

    table = pa.Table.from_pylist(rows, schema=own)
    columns = [
        table[field.name].cast(field.type) if field.name in own.names else pa.nulls(len(rows), field.type)
        for field in wanted
    ]
    return pa.Table.from_arrays(columns, schema=wanted)
