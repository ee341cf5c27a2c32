"""One load into an Iceberg table: fit, stage, publish."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core.commit.adopt import needs_settling, settle
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Change
from ldp_core.commit.claim import AlreadyPublished, Claim
from ldp_core.commit.fence import branch_name, superseded
from ldp_core.commit.locks import table_lock
from ldp_core.commit.publish import publish
from ldp_core.commit.put_fences import put_fences
from ldp_core.commit.recover import sweep
from ldp_core.commit.retry import APPEND, RECOMPUTE
from ldp_core.commit.stage import Stage
from ldp_core.commit.summaries import KEY
from ldp_core.errors import DriftError, NoData, TableChanged, TableNotFound
from ldp_core.spi import Keyed, Loss, Resolved, RunContext, Spec, Staged, Standing, WriteResult
from ldp_core.tables.fit import Fitted, fit
from ldp_core.tables.partition import build_spec, described, parse
from ldp_core.tables.schema import NAME_MAPPING, new_schema
from ldp_core.tables.types import arrow_schema
from ldp_core.tables.view import of_metadata
from ldp_core.tables.window_rows import has_filter
from ldp_core.targets import upsert
from ldp_core.targets._base import Place
from ldp_core.targets._changes import Plan, append, overwrite, upserted
from ldp_core.targets._drift import explained
from ldp_core.targets._reconcile import prove
from ldp_core.targets._register import name_mapping, register
from ldp_core.targets._rows import empty_sql, parquet_sql, placed_sql
from ldp_core.targets._spill import kept, spill_upsert
from ldp_core.targets._split import apart, split_files, split_spill
from ldp_core.targets._standing import Beside, head_of
from ldp_core.targets._window import Replaced, WindowOverwrite, check_columns, check_rows
from ldp_core.targets.iceberg import columns_of, live_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_core.commit.change import Base
    from ldp_core.tables.write import Written


class IcebergSession:
    """See ``ldp_core.spi.TargetSession``.

    Args:
        spec: The ``metadata.target`` of a config.
        ctx: The run.
        mode: append, overwrite or upsert.
    """

    def __init__(self, spec: Spec, ctx: RunContext, mode: str) -> None:
        self.spec = spec
        self.ctx = ctx
        self.mode = mode
        self.items = parse(spec.get("partition_by") or ())
        self.keys = columns_of(spec, "join_cols")
        self.place = Place(spec.sub("catalog"), str(spec.get("name")), ctx.scratch)
        self.base = self._fenced(self.place.existing())
        self.stage_: Stage | None = None
        self.plan: Plan | None = None
        self.judged: tuple[int | None] | None = None
        self.refused: DriftError | None = None
        self.window = ctx.keyed if mode == "overwrite" and has_filter(ctx.keyed) else None
        self.docs: Mapping[str, Any] = {}
        self.allow: Collection[str] = ()
        self.files: Sequence[str] = ()
        self.once = False
        if self.base is not None:
            sweep(self.base)
            self._warn_partitioning(self.base)

    @property
    def wanted(self) -> pa.Schema | None:
        """The Arrow types of the table's columns; None where there is no table yet."""
        return None if self.base is None else arrow_schema(self.base.metadata.schema())

    def tell(
        self,
        *,
        docs: Mapping[str, Any] | None = None,
        allow: Collection[str] = (),
        files: Sequence[str] = (),
        once: bool = False,
    ) -> None:
        """What the config says besides the target.

        Args:
            docs: ``metadata.docs``; goes into the table in the commit of the load.
            allow: Source columns with ``loss: allow``.
            files: Parquet files that are the whole batch, untransformed: they may be taken as they are.
            once: The rows are computed once, and kept in their order for the gates.
        """
        self.docs, self.allow, self.files, self.once = docs or {}, tuple(allow), tuple(files), once

    def resolve(self, sql: str, schema: pa.Schema, *, follows_values: bool) -> Resolved:
        """Fit rows to the table; writes and creates nothing.

        Raises:
            DriftError: A type or a column does not fit.
            ConfigError: A partition or key column does not exist or has the wrong type.
        """
        fitted = fit(
            sql,
            schema,
            self.wanted,
            follows_values=follows_values,
            schema_evolution=bool(self.spec.get("schema_evolution", True)),
            allow=self.allow,
        )
        if self.base is None:
            build_spec(self.items, new_schema(fitted.schema))
        if self.mode == "upsert" and fitted.missing:
            raise DriftError(
                f"the rows lack the columns {', '.join(fitted.missing)} of {self.place.label}; "
                "an upsert replaces whole rows",
                hint="give every column, or append",
            )
        if self.window is not None:
            check_columns(self.window, fitted.schema, fitted.missing, self.place.label)
        for key, names in (("join_cols", self.keys), ("order_by", columns_of(self.spec, "order_by"))):
            for name in names if self.mode == "upsert" else ():
                if name not in fitted.schema.names or name in fitted.missing:
                    raise DriftError(f"{key} has the column {name!r}, which the rows do not have")
        return Resolved(fitted.sql, fitted.schema, fitted.losses, fitted.notes, fitted)

    def stage(self, resolved: Resolved) -> Staged:
        """Write the rows as data files that no snapshot has; for an upsert, as a spill in the run's folder.

        Raises:
            DriftError: A value does not fit its column; names column, row and value.
            TableChanged: Another run made the table meanwhile.
            duckdb.Error: The rows cannot be read.
        """
        fitted: Fitted = resolved.state
        with explained(self.ctx.con, fitted):
            losses = self._count(fitted)
            plan = Plan.make(self.ctx, self.place, self.base, fitted, self.items, self.docs)
            self.plan = plan
            if plan.base.exists and self.base is None:
                raise TableChanged(
                    f"table {self.place.label} was made by another run meanwhile", hint="run it again"
                )
            self.place.remember(plan.base.metadata.location)
            if not plan.base.exists:
                sweep(plan.base, self.place.existing)
            self.stage_ = Stage(plan.base, self.ctx.run_id, self.ctx.attempt, self.ctx.clock)
            self.stage_.__enter__()
            if self.mode == "upsert":
                return self._spill(plan, fitted, losses)
            if self.once:
                fitted = replace(fitted, sql=kept(self.ctx, fitted.sql))
            with self.ctx.progress.step(f"write {self.place.label}"):
                written = self._registered(plan, fitted) or self._write(plan, fitted, resolved.marked)
        paths = [file.file_path for file in written.files]
        batch = parquet_sql(self.ctx.con, paths, fitted.schema, plan.layout.io_properties)
        ordered = f"SELECT *, row_number() OVER () - 1 AS __row FROM ({fitted.sql}) AS o"
        staged = Staged(
            rows=written.rows,
            rows_in=written.rows,
            files=len(written.files),
            bytes=written.bytes,
            sql=batch,
            ordered_sql=ordered if paths else empty_sql(fitted.schema, ("__row", "BIGINT")),
            losses=losses,
            state=written,
            placed_sql=placed_sql(self.ctx.con, paths, fitted.schema, plan.layout.io_properties),
        )
        if self.window is not None:
            check_rows(plan, staged, self.window)
        return staged

    def _write(self, plan: Plan, fitted: Fitted, marked: Callable[[str], str] | None) -> Written:
        """The rows as files; those that a gate will put aside in files of their own."""
        assert self.stage_ is not None
        folder = self.stage_.folder
        if marked is not None and (found := apart(self.ctx.con, marked(fitted.sql), fitted.schema)):
            sql, flag = found
            return plan.write(sql, folder, flag)
        return plan.write(fitted.sql, folder)

    def without(self, staged: Staged, table: str) -> Staged:
        """The staged rows without those that a table names by ``__file`` and ``__pos``.

        Raises:
            Unreconciled: What was written again does not hold the rows that stay.
        """
        assert self.plan is not None
        assert self.stage_ is not None
        if self.mode == "upsert":
            self.judged = None  # the rows that these would have replaced stay now
            good = split_spill(self.ctx, self.plan.fitted.schema, staged, table)
            self.refused = self.refused and self._twice(good)
            return good
        return split_files(self.plan, staged, table, self.stage_.folder)

    def begin_batch(self, keyed: Keyed) -> str:
        """Publish under the key of a run that puts rows aside; the snapshot that the publish will make."""
        assert self.stage_ is not None
        self._refuse()
        self.ctx = replace(self.ctx, keyed=keyed)
        if self.plan is not None:
            self.plan = replace(self.plan, ctx=self.ctx)
        return str(self.stage_.snapshot_id)

    def standing(self, staged: Staged) -> Standing:
        """The rows of the table that a publish of the staged ones would leave beside them."""
        assert self.plan is not None
        return self._beside(self.plan, self.plan.base, staged)

    def publish(
        self,
        staged: Staged,
        summary: Mapping[str, str],
        again: Callable[[Callable[[], Standing]], None] | None = None,
    ) -> WriteResult:
        """Commit the staged rows in one step.

        Raises:
            NoData: There is no row to write.
            DriftError: An upsert has a key twice and ``dedupe`` does not say which row wins.
            TableChanged: The table's columns or partitions changed, so that the staged files do not fit.
            CommitConflict: All races were lost, or the table was dropped or replaced.
            Unreconciled: The counts do not add up; nothing is committed.
        """
        if not staged.rows and not staged.quarantined and not (self.ctx.keyed and self.ctx.keyed.empty):
            raise NoData(f"No data to write to {self.place.label}: the batch has no rows")
        self._refuse()
        assert self.plan is not None
        assert self.stage_ is not None
        plan, folder = self.plan, self.stage_.folder
        base = self.place.real(plan.base)
        before: list[Base] = []
        changed = self._changer(plan, staged, folder)

        def build(fresh: Base) -> Change:
            before[:] = [fresh]
            change = changed(fresh)
            if again is not None and self._stands_on(fresh):
                again(lambda: self._beside(plan, fresh, staged))
            prove({**summary, **change.summary}, self.place.label)
            return change

        policy = RECOMPUTE if self.mode == "upsert" else APPEND
        try:
            with self._locked(base) as base:
                done = publish(
                    base,
                    build,
                    policy=policy,
                    summary=dict(summary),
                    stage=self.stage_,
                    guard=self._claim().check,
                )
        except upsert.NothingChanged as nothing:
            snapshot = before[0].metadata.current_snapshot()
            self.discard()
            unchanged = Change("append", info=nothing.counts)
            return self._result(staged, before[0], snapshot.snapshot_id if snapshot else None, unchanged)
        self.stage_ = None
        return self._result(staged, done.base, done.snapshot_id, done.change)

    def keep(self, staged: Staged, summary: Mapping[str, str]) -> str | None:
        """Publish blocked rows to a private branch, where ``keep_staged`` says so and there is a table.

        The branch goes with the run's next attempt, at the latest after seven days. It carries no key.
        """
        plan, stage = self.plan, self.stage_
        if (
            not self.spec.get("keep_staged")
            or plan is None
            or stage is None
            or self.refused
            or not plan.base.exists
        ):
            return None
        changed = self._changer(plan, staged, stage.folder)
        told = {name: text for name, text in summary.items() if name != KEY}

        def build(fresh: Base) -> Change:
            name = branch_name(of_metadata(fresh.metadata, fresh.io), self.ctx.run_id, self.ctx.attempt)
            return replace(changed(fresh), branch=name)

        try:
            done = publish(plan.base, build, summary=told, stage=stage)
        except upsert.NothingChanged:
            return None
        self.stage_ = None
        return done.change.branch

    def _beside(self, plan: Plan, base: Base, staged: Staged) -> Standing:
        self.judged = (head_of(base),)
        schema, keyed = plan.fitted.schema, plan.ctx.keyed
        return Beside(plan.ctx.con, schema, self.mode, keyed, self.keys, staged.sql).of(base)

    def _stands_on(self, fresh: Base) -> bool:
        """Whether other rows may stand beside the batch than those that were told of last."""
        replaces_all = self.mode == "overwrite" and self.window is None
        return not replaces_all and (head_of(fresh),) != self.judged

    def _changer(self, plan: Plan, staged: Staged, folder: str) -> Callable[[Base], Change]:
        """What builds the change of this load on a table."""
        if self.window is not None:
            return WindowOverwrite(plan, staged, self.window, folder).change
        if self.mode == "upsert":
            return lambda fresh: upserted(plan, fresh, staged, self.keys, folder)
        made = overwrite if self.mode == "overwrite" else append
        return lambda fresh: made(plan, fresh, staged)

    @contextmanager
    def _locked(self, base: Base) -> Iterator[Base]:
        """The table as it is under its lock, for a change that is computed from what it holds."""
        if self.mode == "append" or not base.exists:
            yield base
            return
        with table_lock(base):
            with suppress(TableNotFound):
                fresh = load_base(base.catalog, base.identifier)
                base = fresh if fresh.metadata.table_uuid == base.metadata.table_uuid else base
            yield base

    def discard(self) -> None:
        """Delete what was staged and not published, and what was made for a table that did not come to be."""
        if self.stage_ is not None:
            self.stage_.discard()
            self.stage_ = None
            self.place.forget()
        self.plan = None

    def _result(self, staged: Staged, base: Base, snapshot_id: int | None, change: Change) -> WriteResult:
        counts = change.info if isinstance(change.info, upsert.UpsertCounts) else None
        before, after = _rows(base, change, counts)
        if isinstance(change.info, Replaced):
            after = None if before is None else before - change.info.rows + staged.rows
        elif self.mode == "overwrite":
            after = staged.rows
        return WriteResult(
            table_identifier=self.place.label,
            mode=self.mode,
            rows_written=counts.written if counts else staged.rows,
            rows_before=before,
            rows_after=after,
            snapshot_id=snapshot_id,
            rows_unchanged=counts.unchanged if counts else 0,
            rows_deduplicated=staged.deduplicated,
            rows_quarantined=staged.quarantined,
            files=len(change.added),
            bytes=sum(file.file_size_in_bytes for file in change.added),
            losses=staged.losses,
            table_uuid=str(base.metadata.table_uuid),
        )

    def _claim(self) -> Claim:
        """What the run asks of the table before every commit."""
        keyed = self.ctx.keyed or Keyed(self.place.label)
        return Claim.of(keyed, self.place.label, self.ctx.run_id, self.ctx.attempt, self.mode)

    def _fenced(self, base: Base | None) -> Base | None:
        """The table as it is once older attempts cannot publish any more.

        Raises:
            Superseded: A newer attempt is at work.
            AlreadyPublished: The key is on main.
        """
        if base is None:
            return None
        view = of_metadata(base.metadata, base.io)
        superseded(view, self.ctx.run_id, self.ctx.attempt)
        claim = self._claim()
        found = claim.look(view)
        if found is not None:
            if claim.adopt and needs_settling(claim, view):
                settle(base, claim)
            raise AlreadyPublished(str(claim.key), found.snapshot, current_rows(base), view.head)
        return put_fences(base, self.ctx.run_id, self.ctx.attempt)

    def _registered(self, plan: Plan, fitted: Fitted) -> Written | None:
        """The source's own files as the table's, where they can be; None where rows have to be written."""
        assert self.stage_ is not None
        if not self.files or not fitted.plain or fitted.missing:
            return None
        written = register(self.files, plan.layout, self.stage_.new_file)
        if written is not None and NAME_MAPPING not in plan.base.metadata.properties:
            self.plan = replace(plan, properties={NAME_MAPPING: name_mapping(plan.layout)})
        return written

    def _count(self, fitted: Fitted) -> tuple[Loss, ...]:
        query = fitted.count_sql()
        if query is None:
            return fitted.losses
        return fitted.counted(self.ctx.con.execute(query).fetchall()[0])

    def _spill(self, plan: Plan, fitted: Fitted, losses: tuple[Loss, ...]) -> Staged:
        staged = spill_upsert(self.ctx, self.spec, plan, fitted, losses, self.keys)
        self.refused = None if self.spec.get("dedupe") else self._twice(staged)
        return staged

    def _twice(self, staged: Staged) -> DriftError | None:
        """What is wrong with an upsert that has a key twice."""
        try:
            upsert.refuse_duplicates(self.ctx.con, staged.sql, self.keys, self.place.label)
        except DriftError as error:
            return error
        return None

    def _refuse(self) -> None:
        # Not before: rules may put the rows aside that have a key twice.
        if self.refused is not None:
            raise self.refused

    def _warn_partitioning(self, base: Base) -> None:
        own = described(base.metadata.spec(), base.metadata.schema())
        asked = [(item.column, item.transform) for item in self.items]
        if asked and asked != own:
            self.ctx.warn(
                f"table {self.place.label} exists and is partitioned by {_shown(own)}; "
                f"partition_by {_shown(asked)} only applies when a table is made"
            )


def current_rows(base: Base) -> int | None:
    """Rows of the table, where metadata tells."""
    snapshot = base.metadata.current_snapshot()
    if snapshot is None:
        return 0
    return live_rows(snapshot.summary.additional_properties) if snapshot.summary else None


def _rows(base: Base, change: Change, counts: upsert.UpsertCounts | None) -> tuple[int | None, int | None]:
    """Rows before and after a commit, where metadata tells."""
    snapshot = base.metadata.current_snapshot()
    summary = snapshot.summary.additional_properties if snapshot and snapshot.summary else {}
    before = live_rows(summary) if snapshot else 0
    if before is None:
        return None, None
    if counts and int(summary.get("total-position-deletes", 0)):
        return before, before + counts.inserted  # a removed file may hold rows that were deleted before
    gone = sum(file.record_count for file in change.removed)
    return before, before + sum(file.record_count for file in change.added) - gone


def _shown(fields: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{transform}({column})" for column, transform in fields) or "nothing"
