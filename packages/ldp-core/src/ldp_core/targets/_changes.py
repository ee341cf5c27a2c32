"""What a load commits: the same files on whatever the table has become, or a conflict that says why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ldp_core._pyiceberg import manifest_entries
from ldp_core.commit.base import NewTable
from ldp_core.commit.change import Base, Change
from ldp_core.commit.summaries import REPLACED
from ldp_core.errors import TableChanged
from ldp_core.spi import RunContext, Staged
from ldp_core.tables import docs as table_docs
from ldp_core.tables.fit import Fitted, Op
from ldp_core.tables.partition import Item, build_spec
from ldp_core.tables.schema import evolve, new_schema
from ldp_core.tables.write import Layout, Written, write_files
from ldp_core.targets._base import Place
from ldp_core.targets._reconcile import prove_rewrite

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table.update import TableUpdate


@dataclass(frozen=True)
class Plan:
    """How one load writes.

    Attributes:
        ctx: The run.
        base: The table it was fitted to, or the one that is to be made.
        fitted: The rows.
        layout: How files look, with the schema after evolution.
        docs: ``metadata.docs``.
        properties: Table properties that the written files need.
    """

    ctx: RunContext
    base: Base
    fitted: Fitted
    layout: Layout
    docs: Mapping[str, Any]
    properties: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def make(
        cls,
        ctx: RunContext,
        place: Place,
        base: Base | None,
        fitted: Fitted,
        items: Sequence[Item],
        docs: Mapping[str, Any],
    ) -> Plan:
        """Plan a load; a table that does not exist is staged, not created."""
        if base is None:
            schema = new_schema(fitted.schema, table_docs.columns(docs))
            properties = table_docs.properties(docs)
            base = place.staged(NewTable(schema, build_spec(items, schema), properties))
        schema, _ = evolve(base, fitted.ops)
        layout = Layout(schema, base.metadata.spec(), base.metadata.properties, dict(base.io.properties))
        return cls(ctx, base, fitted, layout, docs)

    def write(self, sql: str, folder: str, flag: str | None = None) -> Written:
        """Write rows as data files below a folder; see ``write_files``."""
        return write_files(self.ctx.con, sql, self.layout, folder, flag)

    def evolution(
        self, base: Base, *, rewrites: bool = False
    ) -> tuple[tuple[TableUpdate, ...], int | None, dict[str, str]]:
        """(updates, schema id, properties) that a commit on this base needs so that the written files fit.

        Args:
            base: The table as it is now.
            rewrites: Rows of the table are written again: a column that others added has to be among theirs.

        Raises:
            TableChanged: The table changed so that files written for another schema do not fit.
        """
        if not base.exists:
            return (), None, dict(self.properties)
        name = ".".join(base.identifier)
        if base.metadata.spec().fields != self.layout.spec.fields or (
            base.metadata.default_spec_id != self.layout.spec.spec_id
        ):
            raise TableChanged(f"the partitioning of {name} changed during the load", hint="run it again")
        ops = [op for op in self.fitted.ops if not _done(op, base.metadata.schema())]
        try:
            schema, updates = evolve(base, ops, table_docs.columns(self.docs))
        except ValueError as error:
            raise TableChanged(f"the schema of {name} changed during the load: {error}") from error
        added = {field.field_id for field in schema.fields} - {
            field.field_id for field in self.layout.schema.fields
        }
        if not _fits(self.layout.schema, schema) or (rewrites and added):
            raise TableChanged(f"the schema of {name} changed during the load", hint="run it again")
        own = base.metadata.properties
        needed = {name: text for name, text in self.properties.items() if name not in own}
        properties = {**needed, **table_docs.changed(own, self.docs)}
        return updates, schema.schema_id, properties


def append(plan: Plan, base: Base, staged: Staged) -> Change:
    """The staged files on top of what the base has."""
    updates, schema_id, properties = plan.evolution(base)
    return Change("append", staged.state.files, (), updates, schema_id, {}, properties)


def overwrite(plan: Plan, base: Base, staged: Staged) -> Change:
    """The staged files instead of what the base has."""
    updates, schema_id, properties = plan.evolution(base)
    told = {REPLACED: "table"}
    return Change("overwrite", staged.state.files, live_files(base), updates, schema_id, told, properties)


def upserted(plan: Plan, base: Base, staged: Staged, keys: Sequence[str], folder: str) -> Change:
    """The spilled batch merged into what the base has; computed anew for every base.

    Raises:
        NothingChanged: There is nothing to write, and the run has no key to record.
    """
    from ldp_core.targets.upsert import NothingChanged, UpsertCounts, build_change

    updates, schema_id, properties = plan.evolution(base, rewrites=True)
    columns = plan.fitted.schema.names
    if base.metadata.current_snapshot() is None:
        written = plan.write(staged.sql, folder)
        prove_rewrite(written.files, 0, staged.rows, ".".join(base.identifier))
        counts = UpsertCounts(staged.rows, 0, 0)
        return Change(
            "append", written.files, (), updates, schema_id, counted(counts), properties, info=counts
        )
    try:
        change = build_change(
            plan.ctx.con,
            base,
            staged.ordered_sql,
            columns,
            keys,
            lambda sql: plan.write(sql, folder).files,
            updates=updates,
            schema_id=schema_id,
        )
    except NothingChanged as nothing:
        if plan.ctx.keyed is None or plan.ctx.keyed.key is None:
            raise
        change = Change("append", updates=updates, schema_id=schema_id, info=nothing.counts)
    return replace(change, summary=counted(change.info), properties=properties)


def counted(counts: Any) -> dict[str, str]:
    """What the snapshot summary says of an upsert's rows."""
    return {"ldp.rows-written": str(counts.written), "ldp.rows-unchanged": str(counts.unchanged)}


def live_files(base: Base) -> tuple[DataFile, ...]:
    """Every data file of the base's current snapshot."""
    from pyiceberg.manifest import ManifestContent

    snapshot = base.metadata.current_snapshot()
    if snapshot is None:
        return ()
    return tuple(
        entry.data_file
        for manifest in snapshot.manifests(base.io)
        if manifest.content == ManifestContent.DATA
        for entry in manifest_entries(manifest, base.io)
    )


def _done(op: Op, schema: Schema) -> bool:
    """Whether somebody else made the same step already."""
    from ldp_core.tables.types import from_iceberg

    try:
        field = schema.find_field(".".join(op.path))
    except ValueError:
        return False
    return bool(from_iceberg(field.field_type).equals(op.type))


def _fits(written: Schema, current: Schema) -> bool:
    """Whether files written with one schema read right under another: the same fields under the same ids."""
    now = {field.field_id: field for field in current.fields}
    return all(
        field.field_id in now
        and now[field.field_id].name == field.name
        and now[field.field_id].field_type == field.field_type
        for field in written.fields
    )
