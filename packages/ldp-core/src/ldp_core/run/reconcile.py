"""What a run counted: its source, the rows of its window, the rows that it wrote; and that they agree."""

from __future__ import annotations

from dataclasses import dataclass

from ldp_core.errors import SourceError
from ldp_core.plan.stages import Plan
from ldp_core.run.windowed import has_filter, in_window
from ldp_core.spi import Extract, RunContext


@dataclass(frozen=True)
class Counts:
    """Rows of a source.

    Attributes:
        read: All of them, also those that a filter kept from being read.
        kept: Those inside the window; all of them without one.
    """

    read: int
    kept: int


def reconciled(plan: Plan, ctx: RunContext, extract: Extract, rows_in: int) -> Counts:
    """Count the source, apart from the pass that wrote, and compare.

    Where metadata tells how many rows there are, nothing is read for it. A text source without a window and
    without transforms is read once, by the pass that writes: its rows are the rows that came out.

    Args:
        plan: The stages.
        ctx: The run.
        extract: The source.
        rows_in: The rows that came out of the transforms.

    Raises:
        SourceError: Other rows were written than the source has in the window: it changed meanwhile.
        ConfigError: As for ``in_window``.
    """
    counts = _counted(plan, ctx, extract, rows_in)
    if not plan.transforms and counts.kept != rows_in:
        where = " in the window" if has_filter(plan.keyed) else ""
        raise SourceError(
            f"{plan.read.text} has {counts.kept} rows{where}, but {rows_in} were read: "
            "it changed meanwhile, nothing was published",
            hint="run it again",
        )
    return counts


def _counted(plan: Plan, ctx: RunContext, extract: Extract, rows_in: int) -> Counts:
    keyed, rows = plan.keyed, extract.rows
    if keyed is None or not has_filter(keyed):
        if rows is None:
            rows = _count(ctx, extract, "count(*)")[0] if plan.transforms else rows_in
        return Counts(rows, rows)
    where = in_window(keyed, extract)
    if rows is not None:
        return Counts(rows, _count(ctx, extract, "count(*)", where)[0])
    if not plan.transforms:
        return Counts(_count(ctx, extract, "count(*)")[0], rows_in)
    read, kept = _count(ctx, extract, f"count(*), count(*) FILTER (WHERE {where})")
    return Counts(read, kept)


def _count(ctx: RunContext, extract: Extract, what: str, where: str = "true") -> tuple[int, ...]:
    found = ctx.con.execute(f"SELECT {what} FROM (\n{extract.sql}\n) AS w WHERE {where}").fetchall()[0]
    return tuple(int(number) for number in found)
