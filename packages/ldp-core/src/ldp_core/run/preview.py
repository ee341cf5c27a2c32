"""The rows that a run would publish, and the gates' verdict on them; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_core.config import Config
from ldp_core.plan.build import build
from ldp_core.plan.keyed import NOTHING, Ask, need_window
from ldp_core.plan.stages import Plan
from ldp_core.run import gates
from ldp_core.run.context import Lines, RunOptions, open_context
from ldp_core.run.extract import each_round, open_source
from ldp_core.run.reconcile import reconciled
from ldp_core.spi import Batch, Loss, Resolved, RunContext, Verdict

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Preview:
    """What a run would do.

    Attributes:
        name: The pipeline's identifier.
        rows: The first rows, in published names and types.
        total: Rows in all; None where no gate asked for them.
        verdicts: Each gate's verdict on all the rows.
        losses: Conversions on the way into the target.
        notes: Lines about the target, such as a new column.
        warnings: Lines about the data.
    """

    name: str
    rows: pa.Table
    total: int | None
    verdicts: Mapping[str, Verdict]
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return all(verdict.passed for verdict in self.verdicts.values())

    def loss_lines(self) -> list[str]:
        """One line for each conversion on the way into the target; the run counts the values."""
        return [
            f"{loss.column}: {loss.source_type} as {loss.target_type} ({loss.kind})" for loss in self.losses
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        report = gates.report_of(dict(self.verdicts))
        return {
            "name": self.name,
            "schema": {column.name: str(column.type) for column in self.rows.schema},
            "rows": self.rows.to_pylist(),
            "total": self.total,
            "quality": report.to_dict() if report else None,
            "losses": [loss.to_dict() for loss in self.losses],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


def preview(
    config: Config, limit: int, options: RunOptions, mode: str | None = None, ask: Ask = NOTHING
) -> Preview:
    """Read, transform and cast as a run would, and let the gates judge; write nothing, create nothing.

    Args:
        config: The config.
        limit: How many rows to give.
        options: How to run.
        mode: A write mode that stands above the config's own.
        ask: The window of the run.

    Raises:
        ConfigError: The config has errors, or its path waits for a window.
        LDPError: The source cannot be read, or does not fit the target.
    """
    return preview_plan(build(config, mode, ask), limit, options)


def preview_plan(plan: Plan, limit: int, options: RunOptions) -> Preview:
    """As ``preview``, of stages.

    Args:
        plan: The stages.
        limit: How many rows to give.
        options: How to run.

    Raises:
        ConfigError: The path of the source waits for a window.
        LDPError: The source cannot be read, or does not fit the target.
    """
    need_window(plan)
    warnings = Lines()
    prepared = gates.prepare(plan.checks)
    with open_context(plan.base_dir, options, warnings, plan.keyed) as ctx:
        session = plan.write.target.open(plan.write.spec, ctx, plan.write.mode)
        try:
            extract = open_source(plan, ctx, session)

            def look(resolved: Resolved) -> tuple[pa.Table, Batch | None]:
                return _look(plan, ctx, resolved, limit)

            extract, resolved, (rows, batch) = each_round(plan, ctx, session, extract, look)
            verdicts: dict[str, Verdict] = {}
            if batch is not None:
                kept = reconciled(plan, ctx, extract, batch.rows).kept
                verdicts = gates.judge(
                    prepared, replace(batch, source_rows=kept, on_failure=options.on_failure)
                )
            total = batch.rows if batch else None
        finally:
            session.discard()
        return Preview(
            plan.identifier, rows, total, verdicts, resolved.losses, resolved.notes, tuple(warnings.found)
        )


def _look(plan: Plan, ctx: RunContext, resolved: Resolved, limit: int) -> tuple[pa.Table, Batch | None]:
    """The first rows; with gates, all rows on the engine's own disk for them to judge."""
    first = f"SELECT * FROM (\n{resolved.sql}\n) LIMIT {int(limit)}"
    if not plan.checks:
        return ctx.con.sql(first).to_arrow_table(), None
    ctx.con.execute(f"CREATE OR REPLACE TEMP TABLE ldp_preview AS FROM (\n{resolved.sql}\n)")
    rows = ctx.con.sql(f"FROM ldp_preview LIMIT {int(limit)}").to_arrow_table()
    total = int(ctx.con.execute("SELECT count(*) FROM ldp_preview").fetchall()[0][0])
    # A column that is called rowid would hide the number that the engine gives each row.
    hidden = ", ".join(f"c{at}" for at in range(len(resolved.schema)))
    return rows, Batch(
        con=ctx.con,
        sql="SELECT * FROM ldp_preview",
        schema=resolved.schema,
        rows=total,
        source_rows=total,
        ordered_sql="SELECT *, row_number() OVER () - 1 AS __row FROM ldp_preview",
        placed_sql=f"SELECT *, 'preview' AS __file, rowid AS __pos FROM ldp_preview AS p({hidden})",
        now=gates.measured_at(ctx),
        partial=gates.is_partial(ctx),
    )
