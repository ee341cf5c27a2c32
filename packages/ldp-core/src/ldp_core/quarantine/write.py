"""Rows go into the quarantine table: one batch a run, in a commit of its own before the run publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_core._duck import ident, text
from ldp_core.errors import DriftError
from ldp_core.spi import Keyed, RunContext, Spec
from ldp_core.tables import quarantine as q
from ldp_core.tables.types import duck_type
from ldp_core.targets._rows import empty_sql
from ldp_core.targets.iceberg_session import IcebergSession

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa


def quarantine_spec(target: Spec) -> Spec:
    """The quarantine table of an Iceberg target, as a target."""
    name = f"{target.get('name')}{q.SUFFIX}"
    parts = [{"column": q.BATCH, "transform": "identity", "name": q.BATCH}]
    return replace(target, values={**_place(target), "name": name, "partition_by": parts})


def write(
    ctx: RunContext, target: Spec, keyed: Keyed, batch: str, schema: pa.Schema, selects: Sequence[str]
) -> int:
    """Write the rows of one batch; they count once the run has published under its key.

    Args:
        ctx: The run.
        target: Its target, an Iceberg table.
        keyed: The run's key and window.
        batch: The name of the batch.
        schema: The Arrow types of the target's columns.
        selects: SELECTs of rows, each with some of the target's columns and of ours.

    Returns:
        How many rows.

    Raises:
        DriftError: The quarantine table has columns of another type.
        LDPError: It cannot be written.
    """
    import pyarrow as pa

    spec = quarantine_spec(target)
    for name in schema.names:
        if name.casefold() in q.DOCS:
            raise DriftError(
                f"{target.get('name')} has the column {name!r}, "
                f"and {spec.get('name')} has one of its own that is called so",
                hint="rename the column in a transform, or put no rows aside",
            )
    full = pa.schema([*schema, *q.schema()])
    session = IcebergSession(spec, replace(ctx, keyed=None), "append")
    try:
        session.tell(docs={"description": f"Rows kept out of {target.get('name')}.", "columns": q.DOCS})
        sql = _rows(ctx, keyed, batch, full, selects)
        try:
            staged = session.stage(session.resolve(sql, full, follows_values=False))
        except DriftError as error:
            error.hint = f"{spec.get('name')} keeps rows of an older shape: drop or rename that table"
            raise
        told = {"ldp.run-id": ctx.run_id, "ldp.attempt": str(ctx.attempt), "ldp.quarantine-batch": batch}
        return session.publish(staged, told).rows_written
    finally:
        session.discard()


def _place(target: Spec) -> dict[str, object]:
    return {name: target.get(name) for name in ("format", "catalog") if target.get(name) is not None}


def _rows(ctx: RunContext, keyed: Keyed, batch: str, full: pa.Schema, selects: Sequence[str]) -> str:
    """All rows in all columns; what is the same in each is said here."""
    same = {
        q.BATCH: text(batch),
        q.KEY: text(str(keyed.key)),
        q.PIPELINE: text(keyed.pipeline),
        q.RUN: text(ctx.run_id),
        q.ATTEMPT: str(ctx.attempt),
        q.START: _moment(keyed.start),
        q.END: _moment(keyed.end),
        q.AT: _moment(ctx.clock()),
        q.ROW: "row_number() OVER () - 1",
    }
    parts = " UNION ALL BY NAME ".join(f"({select})" for select in (empty_sql(full), *selects))
    columns = ", ".join(
        f"CAST({same.get(field.name, ident(field.name))} AS {duck_type(field.type)}) AS {ident(field.name)}"
        for field in full
    )
    return f"SELECT {columns} FROM ({parts}) AS r"


def _moment(value: datetime | None) -> str:
    return "NULL" if value is None else f"TIMESTAMPTZ {text(value.isoformat())}"
