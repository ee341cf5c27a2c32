"""Rows that gates or the source put aside go into quarantine; the others are published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ldp_core._duck import ident, text
from ldp_core.errors import CommitUnknown, DataQualityError
from ldp_core.plan.stages import Plan
from ldp_core.spi import (
    Apart,
    Extract,
    Keyed,
    Resolved,
    RunContext,
    Staged,
    TargetSession,
    Verdict,
    WriteResult,
)
from ldp_core.tables import quarantine as q

if TYPE_CHECKING:
    from ldp_core.spi import PreparedGate

MAX_SHARE = 0.1
"""The share of the rows that may be put aside where no gate says."""
_REJECTS = "ldp_rejects"
_ASIDE = "ldp_aside"


def rejected(ctx: RunContext, extract: Extract) -> int:
    """Gather the rows that the source leaves out; how many."""
    if extract.rejects is None:
        return 0
    ctx.con.execute(f"CREATE OR REPLACE TEMP TABLE {_REJECTS} AS {extract.rejects}")
    return int(ctx.con.execute(f"SELECT count(*) FROM {_REJECTS}").fetchall()[0][0])


def limit(plan: Plan, prepared: Iterable[tuple[str, PreparedGate]]) -> float:
    """The share of the rows that may be put aside."""
    if plan.max_share is not None:
        return plan.max_share
    return min((gate.max_share for _, gate in prepared), default=MAX_SHARE)


def refuse_share(
    ctx: RunContext, verdicts: Mapping[str, Verdict], staged: Staged, rejects: int, most: float
) -> None:
    """Stop a run that would put too many rows aside.

    Raises:
        DataQualityError: It would.
    """
    aside = rejects + sum(verdict.apart.rows for verdict in verdicts.values() if verdict.apart)
    rows = staged.rows_in + rejects
    if aside and aside > most * rows:
        report = next((verdict.report for verdict in verdicts.values() if verdict.apart), None)
        plain = getattr(report, "without_quarantine", None)
        report = plain() if plain is not None else report
        share = f"{aside} of {rows} rows ({100 * aside / rows:.3g}%)"
        told = f"{share} would go into quarantine, more than max_share {100 * most:.3g}%"
        why = [report.summary()] if report else []
        raise DataQualityError("\n".join([told, *_first_rejects(ctx, rejects), *why]), report)


def _first_rejects(ctx: RunContext, rejects: int) -> list[str]:
    """The first of the rows that the source leaves out, and why."""
    if not rejects:
        return []
    known = [row[0] for row in ctx.con.execute(f"DESCRIBE {_REJECTS}").fetchall()]
    place = f"{q.FILE}, {q.LINE}" if {q.FILE, q.LINE} <= set(known) else "NULL, NULL"
    found = ctx.con.execute(f"SELECT {place}, {q.REASON} FROM {_REJECTS} ORDER BY ALL LIMIT 3").fetchall()
    return [f"{file}:{line}: {reason}" if file else str(reason) for file, line, reason in found]


def put_aside(
    plan: Plan,
    ctx: RunContext,
    session: TargetSession,
    resolved: Resolved,
    staged: Staged,
    verdicts: Mapping[str, Verdict],
    rejects: int,
) -> tuple[RunContext, Staged, str | None]:
    """Write the rows of the run's batch, and take them out of what is published.

    A run without a key is recorded under ``run:<run id>``: by that the rows count once it has published.

    Returns:
        The run with its key, the rows that stay, and the name of the batch.

    Raises:
        LDPError: The quarantine table cannot be written.
    """
    from ldp_core.quarantine.remove import sweep
    from ldp_core.quarantine.write import write

    aparts = [verdict.apart for verdict in verdicts.values() if verdict.apart and verdict.apart.rows]
    if not aparts and not rejects:
        return ctx, staged, None
    keyed = ctx.keyed or Keyed(plan.identifier)
    if keyed.key is None:
        keyed = replace(keyed, key=q.run_key(ctx.run_id))
    ctx = replace(ctx, keyed=keyed)
    selects = [f"SELECT * FROM {_REJECTS}"] if rejects else []
    good = staged
    if aparts:
        table = _merged(ctx, aparts)
        selects.append(_lines(resolved.schema.names, staged, aparts, table))
        good = session.without(staged, table)
    batch = session.begin_batch(keyed)
    sweep(ctx.con, plan.write.spec, ctx.warn)
    write(ctx, plan.write.spec, keyed, batch, resolved.schema, selects)
    staged = replace(good, rows_in=good.rows_in + rejects, quarantined=good.quarantined + rejects)
    return ctx, staged, batch


@contextmanager
def dropped_unless_published(plan: Plan, ctx: RunContext, batch: str | None) -> Iterator[None]:
    """Around the publish: where it fails for sure, the run's batch leaves the quarantine table."""
    try:
        yield
    except CommitUnknown:
        raise
    except Exception:
        if batch is not None:
            from ldp_core.quarantine.remove import sweep

            sweep(ctx.con, plan.write.spec, ctx.warn, ended=batch)
        raise


def replaced(plan: Plan, ctx: RunContext, wrote: WriteResult) -> None:
    """After an overwrite: what was put aside of the rows that it replaced leaves the quarantine table."""
    if plan.write.kind == "ICEBERG" and wrote.mode == "overwrite" and wrote.rows_before != 0:
        from ldp_core.quarantine.remove import sweep

        sweep(ctx.con, plan.write.spec, ctx.warn)


def _merged(ctx: RunContext, aparts: Sequence[Apart]) -> str:
    """One table that names each row once, whatever gates put it aside."""
    if len(aparts) == 1:
        return aparts[0].table
    every = " UNION ALL ".join(f"SELECT __file, __pos, rules, reason FROM {apart.table}" for apart in aparts)
    ctx.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {_ASIDE} AS SELECT __file, __pos, flatten(list(rules)) AS rules, "
        f"string_agg(reason, '; ') AS reason FROM ({every}) GROUP BY __file, __pos"
    )
    return _ASIDE


def _lines(columns: Sequence[str], staged: Staged, aparts: Sequence[Apart], table: str) -> str:
    """The rows with what is wrong with them."""
    from ldp_core.targets._rows import same_place

    names = next((apart.primary_key for apart in aparts if apart.primary_key), ())
    known = [name for name in names if name in columns]
    pairs = ", ".join(f"{text(name)}: p.{ident(name)}" for name in known)
    key = f"CAST(to_json({{{pairs}}}) AS VARCHAR)" if pairs else "CAST(NULL AS VARCHAR)"
    listed = ", ".join(f"p.{ident(name)}" for name in columns)
    return (
        f"SELECT {listed}, a.rules AS {q.RULES}, a.reason AS {q.REASON}, {key} AS {q.PRIMARY_KEY} "
        f"FROM ({staged.placed_sql}) AS p JOIN {table} AS a ON {same_place(columns)} "
        f"ORDER BY a.__file, a.__pos"
    )
