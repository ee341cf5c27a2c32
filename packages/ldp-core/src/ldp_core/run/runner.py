"""The one route from any source to any target: stage, judge, publish."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ldp_core.clock import Clock, system_clock
from ldp_core.commit.claim import AlreadyPublished
from ldp_core.commit.retry import anew
from ldp_core.config import Config
from ldp_core.errors import DataQualityError, LDPError, SourceError, UsageError
from ldp_core.ids import new_id
from ldp_core.plan.build import build
from ldp_core.plan.keyed import Ask, need_window
from ldp_core.plan.stages import Plan
from ldp_core.run import gates
from ldp_core.run.aside import (
    dropped_unless_published,
    limit,
    put_aside,
    refuse_share,
    rejected,
    replaced,
)
from ldp_core.run.context import Lines, RunOptions, open_context
from ldp_core.run.extract import each_round, in_words, open_source, stamps
from ldp_core.run.nothing import nothing, untyped
from ldp_core.run.observe import Observer
from ldp_core.run.reconcile import reconciled
from ldp_core.run.result import PipelineResult
from ldp_core.run.skip import look, skipped
from ldp_core.run.skip_docs import apply_docs
from ldp_core.spi import (
    Batch,
    Extract,
    Keyed,
    Progress,
    Resolved,
    RunContext,
    Staged,
    TargetSession,
    Verdict,
    WriteResult,
)
from ldp_core.window.model import Window

if TYPE_CHECKING:
    from ldp_core.spi import PreparedGate


def run(
    config: Config,
    *,
    mode: str | None = None,
    memory_limit: str | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    clock: Clock = system_clock,
    run_id: str | None = None,
    attempt: int = 1,
    window: Any = None,
    idempotency_key: str | None = None,
    overlap: str | None = None,
    adopt: bool = False,
    on_failure: str | None = None,
) -> PipelineResult:
    """Load what a config describes.

    Args:
        config: The config.
        mode: A write mode that stands above the config's own.
        memory_limit: The engine's memory, such as ``400MB``.
        strict: What would be a warning about data is an error.
        progress: Where long steps report.
        clock: The time.
        run_id: uuid7 or any text; made when it is None.
        attempt: From 1; a later one fences those before it.
        window: The window to load: ``START/END``, a pair, or ``yesterday``, ``last-week``, ``last-month``.
        idempotency_key: A key in place of the window's.
        overlap: ``allow`` loads a window that shares time with a published one.
        adopt: Take over what another config published under the key.
        on_failure: What a failed gate does, above what the config and its rules say: ``fail`` or ``warn``.

    Raises:
        ConfigError: The config has errors; carries them all.
        DataQualityError: A gate held the batch back; nothing was published.
        LDPError: Anything else that stopped the run; nothing was published.
    """
    shown = progress or RunOptions.progress
    options = RunOptions(memory_limit, strict, shown, clock, run_id, attempt, on_failure=on_failure)
    ask = Ask(window, idempotency_key, overlap, adopt, clock())
    return execute(build(config, mode, ask), options)


def execute(plan: Plan, options: RunOptions) -> PipelineResult:
    """Run the stages of a plan. Whatever goes wrong, an interrupt too, leaves the target as it was.

    Args:
        plan: The stages.
        options: How to run them.

    Raises:
        DataQualityError: A gate held the batch back.
        LDPError: Anything else that stopped the run.
    """
    started = time.monotonic()
    need_window(plan)
    if options.run_id is None and options.attempt > 1:
        raise UsageError(
            "an attempt needs its run: a retry has the run id of the attempt before it, --run-id ID"
        )
    if options.run_id is None:
        options = replace(options, run_id=new_id())
    warnings = Lines()
    observer = Observer.open(
        plan,
        str(options.run_id),
        options.attempt,
        warn=warnings.add,
        clock=options.clock,
        part=options.part,
    )
    observer.started()
    try:
        look(plan, str(options.run_id), options.attempt)
        observer.begins()
        return _execute(plan, options, observer, warnings, started)
    except AlreadyPublished as found:
        wrote_docs = apply_docs(plan, warnings.add)
        observer.skipped(found.snapshot, time.monotonic() - started)
        result = skipped(plan, str(options.run_id), options.attempt, found, started)
        notes = ("the docs of the table were brought up to date",) if wrote_docs else ()
        return replace(result, warnings=tuple(warnings.found), notes=notes)
    except BaseException as caught:
        error = in_words(caught)
        status = "blocked_quality" if isinstance(error, DataQualityError) else "failed"
        observer.stopped(status, error, time.monotonic() - started)
        if error is caught:
            raise
        raise error from caught


def _execute(
    plan: Plan, options: RunOptions, observer: Observer, warnings: Lines, started: float
) -> PipelineResult:
    prepared = gates.prepare(plan.checks)
    with open_context(plan.base_dir, options, warnings, plan.keyed) as ctx:
        loaded = anew(functools.partial(_load, plan, ctx, prepared, observer))
        observer.finished("published", time.monotonic() - started)
        wrote = loaded.wrote
        return PipelineResult(
            name=plan.identifier,
            rows_read=loaded.rows_read,
            rows_written=wrote.rows_written,
            write_result=wrote,
            quality=gates.report_of(loaded.verdicts),
            duration_s=time.monotonic() - started,
            run_id=ctx.run_id,
            attempt=ctx.attempt,
            rows_kept=loaded.rows_kept,
            rows_in=loaded.rows_in,
            warnings=tuple(warnings.found),
            notes=loaded.notes,
            spec_hash=plan.spec_hash,
            keyed=plan.keyed,
            published_in=wrote.snapshot_id,
        )


@dataclass(frozen=True)
class _Loaded:
    """What a load that was published knows."""

    rows_read: int
    rows_kept: int
    rows_in: int
    wrote: WriteResult
    verdicts: dict[str, Verdict]
    notes: tuple[str, ...]


def _load(
    plan: Plan, ctx: RunContext, prepared: list[tuple[str, PreparedGate]], observer: Observer
) -> _Loaded:
    session = plan.write.target.open(plan.write.spec, ctx, plan.write.mode)
    try:
        extract = open_source(plan, ctx, session)
        seen = stamps(plan, extract)
        extract, resolved, staged = _stage(plan, ctx, session, extract, prepared)
        counts = reconciled(plan, ctx, extract, staged.rows_in)
        read, kept = counts.read, counts.kept
        rejects = rejected(ctx, extract)
        read, kept = read + rejects, kept + rejects
        observer.extracted(read, resolved.schema, kept)
        judged = _batch(ctx, resolved, staged, kept - rejects, session)
        verdicts = gates.judge(prepared, judged)
        if stamps(plan, extract) != seen:
            raise SourceError(f"{plan.read.text} changed while it was read", hint="run it again")
        observer.evaluated(verdicts)
        _refuse(verdicts, session, staged, _summary(plan, ctx, read, kept, staged))
        refuse_share(ctx, verdicts, staged, rejects, limit(plan, prepared))
        if ctx.turn is not None:
            ctx.turn()
        ctx, staged, aside = put_aside(plan, ctx, session, resolved, staged, verdicts, rejects)
        if staged.rows == 0 and not staged.quarantined:
            new = plan.write.kind == "ICEBERG" and session.wanted is None
            no_types = new and not read and bool(untyped(extract))
            if no_types or not (ctx.keyed and ctx.keyed.empty):
                raise nothing(plan, read, kept, untyped=no_types)
        staged = replace(staged, losses=(*extract.losses(), *staged.losses))
        summary = _summary(plan, ctx, read, kept, staged)
        good = _batch(ctx, resolved, staged, kept - rejects, session)
        again = gates.again(prepared, verdicts, good, observer.evaluated)
        try:
            with dropped_unless_published(plan, ctx, aside):
                wrote = session.publish(staged, summary, again)
        except DataQualityError as error:
            _keep(error, session, staged, summary)
            raise
        for name, verdict in verdicts.items():
            if not verdict.passed:
                ctx.warn(f"{name}: {verdict.report.summary()}")
        observer.published(wrote, rows_in=staged.rows_in)
        replaced(plan, ctx, wrote)
        return _Loaded(read, kept, staged.rows_in, wrote, verdicts, resolved.notes)
    finally:
        session.discard()


def _refuse(
    verdicts: dict[str, Verdict], session: TargetSession, staged: Staged, summary: dict[str, str]
) -> None:
    """Stop a run that a gate blocks; its rows are kept to be looked at where the target was told to.

    Raises:
        DataQualityError: A gate blocks.
    """
    try:
        gates.refuse(verdicts)
    except DataQualityError as error:
        _keep(error, session, staged, summary)
        raise


def _keep(error: DataQualityError, session: TargetSession, staged: Staged, summary: dict[str, str]) -> None:
    try:
        branch = session.keep(staged, summary) if staged.rows else None
    except LDPError as lost:
        branch, error.hint = None, f"its rows could not be kept on a branch: {lost}"
    if branch is not None:
        error.hint = f"the rows are on the branch {branch}: ldp query CONFIG --branch {branch} SQL"


def _stage(
    plan: Plan,
    ctx: RunContext,
    session: TargetSession,
    extract: Extract,
    prepared: list[tuple[str, PreparedGate]],
) -> tuple[Extract, Resolved, Staged]:
    """Write the rows where nobody sees them, with better types when the first ones did not hold."""

    def attempt(resolved: Resolved) -> Staged:
        try:
            return session.stage(replace(resolved, marked=gates.marked(prepared, ctx, resolved.schema)))
        except BaseException:
            session.discard()
            raise

    return each_round(plan, ctx, session, extract, attempt)


def _batch(
    ctx: RunContext, resolved: Resolved, staged: Staged, rows_read: int, session: TargetSession
) -> Batch:
    return Batch(
        con=ctx.con,
        sql=staged.sql,
        schema=resolved.schema,
        rows=staged.rows,
        source_rows=rows_read,
        ordered_sql=staged.ordered_sql,
        placed_sql=staged.placed_sql,
        now=gates.measured_at(ctx),
        on_failure=ctx.on_failure,
        standing=functools.cache(lambda: session.standing(staged)),
        partial=gates.is_partial(ctx),
    )


def _summary(plan: Plan, ctx: RunContext, rows_read: int, rows_kept: int, staged: Staged) -> dict[str, str]:
    """What the snapshot says of the run, so that a publish reconciles."""
    hashed = {"ldp.spec-hash": plan.spec_hash} if plan.spec_hash else {}
    return {
        "ldp.run-id": ctx.run_id,
        "ldp.attempt": str(ctx.attempt),
        "ldp.pipeline": plan.identifier,
        **hashed,
        **_keys(ctx.keyed),
        "ldp.rows-read": str(rows_read),
        "ldp.rows-kept": str(rows_kept),
        "ldp.rows-in": str(staged.rows_in),
        "ldp.rows-written": str(staged.rows),
        "ldp.rows-unchanged": "0",
        "ldp.rows-quarantined": str(staged.quarantined),
        "ldp.rows-deduplicated": str(staged.deduplicated),
    }


def _keys(keyed: Keyed | None) -> dict[str, str]:
    found = {}
    if keyed is not None and keyed.key is not None:
        found["ldp.idempotency-key"] = keyed.key
    if keyed is not None and keyed.start is not None and keyed.end is not None:
        found["ldp.logical-window"] = Window(keyed.start, keyed.end).logical
    if keyed is not None and keyed.requeued is not None:
        found["ldp.requeued-batch"] = keyed.requeued
    return found
