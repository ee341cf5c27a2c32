"""The gates of a run: prepared before the source is opened, asked before anything is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ldp_core import _duck
from ldp_core.errors import DataQualityError, TableChanged
from ldp_core.plan.stages import Check
from ldp_core.spi import Batch, PreparedGate, Report, RunContext, Standing, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY = "200MB"
"""What the engine may use to judge: twelve checks over 10M rows, one of them unique, are no slower for it."""


def prepare(checks: Sequence[Check]) -> list[tuple[str, PreparedGate]]:
    """Each gate with its name, in order.

    Raises:
        ConfigError: A section says what its gate cannot do.
    """
    return [(check.name, check.prepare()) for check in checks]


def judge(gates: Sequence[tuple[str, PreparedGate]], batch: Batch) -> dict[str, Verdict]:
    """Every gate's verdict on the batch; all are asked, also after one that blocks.

    They have less memory than the write had: its buffers are still resident when they begin.
    """
    if not gates:
        return {}
    with _duck.at_most(batch.con, MEMORY):
        return {name: gate.judge(batch) for name, gate in gates}


def marked(
    gates: Sequence[tuple[str, PreparedGate]], ctx: RunContext, schema: pa.Schema
) -> Callable[[str], str] | None:
    """What marks rows that a gate will put aside; that of the first gate that can."""
    for _, gate in gates:
        mark = getattr(gate, "marked", None)
        found: Callable[[str], str] | None = mark(ctx.con, schema, ctx.on_failure) if mark else None
        if found is not None:
            return found
    return None


def again(
    gates: Sequence[tuple[str, PreparedGate]],
    verdicts: dict[str, Verdict],
    batch: Batch,
    tell: Callable[[Mapping[str, Verdict]], None],
) -> Callable[[Callable[[], Standing]], None] | None:
    """What a publish calls when the table is not the one any more that the verdicts rest on.

    Args:
        gates: All gates.
        verdicts: What they decided; a gate that judged again has its new verdict here.
        batch: The rows that are published.
        tell: Takes the verdicts after each judgement.

    Returns:
        A function of what tells of the rows that stand beside the batch now; None where no verdict rests on
        them. It raises DataQualityError where a gate blocks now, and TableChanged where more rows would have
        to be put aside.
    """
    concerned = [(name, gate) for name, gate in gates if verdicts[name].of_table]
    if not concerned:
        return None
    apart = {name for name, verdict in verdicts.items() if verdict.apart}
    if apart:  # the order of the input is that of all rows, those put aside among them
        batch = replace(
            batch, ordered_sql=f"SELECT *, row_number() OVER () - 1 AS __row FROM ({batch.sql}) AS g"
        )

    def judge_again(standing: Callable[[], Standing]) -> None:
        fresh = judge(concerned, replace(batch, standing=standing))
        more = [
            verdict.report.summary() for verdict in fresh.values() if verdict.apart and verdict.apart.rows
        ]
        if more:
            why = "\n".join(line for line in more[0].splitlines() if not line.startswith("quarantined"))
            raise TableChanged(
                f"beside what is in the table now, more rows have to be put aside: {why}",
                hint="run it again; where it says so again, correct these rows in the source",
            )
        # What was put aside is told by the first verdict alone: these rows are not judged again.
        verdicts.update({name: made for name, made in fresh.items() if made.blocks or name not in apart})
        tell(verdicts)
        refuse(fresh)

    return judge_again


def measured_at(ctx: RunContext) -> datetime:
    """What a check without a moment of its own measures from: the end of the window, else the present."""
    return ctx.keyed.end if ctx.keyed and ctx.keyed.end else ctx.clock()


def is_partial(ctx: RunContext) -> bool:
    """Whether the rows of a run are a part of what an earlier one loaded."""
    return ctx.keyed is not None and ctx.keyed.requeued is not None


def report_of(verdicts: dict[str, Verdict]) -> Report | None:
    """The report that a result carries: that of ``quality``, else of the first gate there is."""
    verdict = verdicts.get("quality") or next(iter(verdicts.values()), None)
    return verdict.report if verdict else None


def refuse(verdicts: dict[str, Verdict]) -> None:
    """Stop the run when a gate blocks.

    Raises:
        DataQualityError: With the report of the first gate that blocks; its text tells of all that do.
    """
    blocking = [verdict.report for verdict in verdicts.values() if verdict.blocks]
    if blocking:
        raise DataQualityError("\n".join(report.summary() for report in blocking), blocking[0])
