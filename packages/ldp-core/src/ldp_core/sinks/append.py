"""Appending rows to a table of history: made when it is not there, in one commit of the project's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ldp_core import _duck
from ldp_core.catalogs.access import open_catalog
from ldp_core.commit.base import NewTable, load_base
from ldp_core.commit.change import Base, Change
from ldp_core.commit.publish import publish
from ldp_core.commit.recover import sweep
from ldp_core.commit.stage import Stage
from ldp_core.errors import CommitConflict, TableChanged
from ldp_core.ids import new_id
from ldp_core.sinks.rows import DOCS, schemas
from ldp_core.spi import Spec
from ldp_core.tables.schema import new_schema
from ldp_core.tables.types import arrow_schema
from ldp_core.tables.write import Layout, Written, write_files

if TYPE_CHECKING:
    import pyarrow as pa

_TRIES = 3
"""How often a table that others make, or change, at the same time is begun anew."""


def append(catalog: Spec, identifier: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    """Append rows to a table of history.

    A table that an older or a newer version made is written with the columns it has.

    Args:
        catalog: Its catalog.
        identifier: ``(namespace, table)``.
        rows: The rows; columns that are left out are missing.

    Raises:
        LDPError: They cannot be written.
    """
    for _ in range(_TRIES - 1):
        try:
            _once(catalog, identifier, rows)
            return
        except TableChanged:
            continue
    _once(catalog, identifier, rows)


def _once(catalog: Spec, identifier: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC

    name = identifier[1]
    own = schemas()[name]
    new = NewTable(new_schema(own), UNPARTITIONED_PARTITION_SPEC, {"comment": DOCS[name]})
    base = load_base(open_catalog(catalog, create=True), identifier, new)
    if base.exists:
        sweep(base)
    table = _fitted(rows, own, arrow_schema(base.metadata.schema()))
    with Stage(base, new_id()) as stage:
        written = _written(base, table, stage.folder)
        publish(base, lambda fresh: _change(base, fresh, written), stage=stage)


def _change(base: Base, fresh: Base, written: Written) -> Change:
    same = fresh.metadata.table_uuid == base.metadata.table_uuid
    if not same or fresh.metadata.schema() != base.metadata.schema():
        raise TableChanged(f"the table {'.'.join(base.identifier)} changed while it was written")
    return Change("append", written.files)


def _written(base: Base, table: pa.Table, folder: str) -> Written:
    metadata = base.metadata
    if metadata.spec().fields:
        raise CommitConflict(
            f"the table {'.'.join(base.identifier)} is partitioned, and was not made by this version",
            hint="give the sink another namespace",
        )
    layout = Layout(metadata.schema(), metadata.spec(), metadata.properties, dict(base.io.properties))
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
