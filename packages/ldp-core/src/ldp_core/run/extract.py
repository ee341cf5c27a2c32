"""From an open source to rows that fit the target, again with better types when a value objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from ldp_core import fs
from ldp_core._duck import ident
from ldp_core._trouble import trouble, words
from ldp_core.errors import ConfigError, LDPError, NoData, SourceError
from ldp_core.plan.stages import Plan
from ldp_core.run.nothing import no_columns, nothing, untyped
from ldp_core.run.windowed import has_filter, kept_sql
from ldp_core.spi import Extract, Resolved, RunContext, TargetSession

if TYPE_CHECKING:
    import duckdb

ROUNDS = 32
"""How often types may be mended; each time a column at least is decided for good."""
_READ_AGAIN = ("CSV", "JSONL", "PARQUET")
T = TypeVar("T")


def open_source(plan: Plan, ctx: RunContext, session: TargetSession) -> Extract:
    """Open the source; the table's types are told only when no transform stands between.

    Raises:
        NoData: It has no row, and there is no table that would tell the types of its columns.
        LDPError: It cannot be read.
    """
    wanted = None if plan.transforms else session.wanted
    try:
        extract = plan.read.source.open(plan.read.spec, ctx, wanted)
    except NoData as error:
        raise no_columns(plan, table=session.wanted is not None) from error
    if session.wanted is None:
        extract = _with_window(plan, ctx, extract)
    whole = plan.read.kind == "PARQUET" and not plan.transforms and not has_filter(plan.keyed)
    once = bool(plan.checks and plan.transforms and plan.transforms[-1].kind != "python")
    session.tell(
        docs=plan.docs, allow=_allowed(plan, extract), files=extract.files if whole else (), once=once
    )
    return extract


def _with_window(plan: Plan, ctx: RunContext, extract: Extract) -> Extract:
    """The extract whose window column has a type; for a table that is still to be made, of such a column.

    Raises:
        NoData: No row has a value there, so that none is in the window.
    """
    import duckdb

    column = plan.keyed.column if plan.keyed and has_filter(plan.keyed) else None
    for _ in range(ROUNDS):
        if column is None or column not in untyped(extract):
            break
        try:
            count = f"SELECT count(*), count({ident(column)}) FROM (\n{extract.sql}\n) AS w"
            raise nothing(plan, int(ctx.con.execute(count).fetchall()[0][0]), 0, untyped=True)
        except duckdb.Error as error:
            extract = _better(extract, error, ctx)
    return extract


def _allowed(plan: Plan, extract: Extract) -> tuple[str, ...]:
    """Columns whose values may lose something: ``columns: {fare: {loss: allow}}``."""
    spec = plan.read.spec
    columns = spec.get("columns") or {}
    for name in columns:
        if name not in extract.schema.names:
            raise ConfigError(
                f"the source has no column {name!r}; it has {', '.join(extract.schema.names)}",
                file=spec.file,
                key=f"{spec.key}.columns.{name}",
            )
    return tuple(
        name
        for name, declared in columns.items()
        if isinstance(declared, Mapping) and declared.get("loss") == "allow"
    )


def stamps(plan: Plan, extract: Extract) -> list[tuple[int, int]]:
    """Size and time of the local files that are read again, to see whether they changed meanwhile."""
    again = plan.checks or plan.transforms or has_filter(plan.keyed)
    files = extract.files if again and plan.read.kind in _READ_AGAIN else ()
    local = [fs.local_path(file) for file in files if fs.is_local(file)]
    return [(found.st_size, found.st_mtime_ns) for found in (path.stat() for path in local)]


def each_round(
    plan: Plan,
    ctx: RunContext,
    session: TargetSession,
    extract: Extract,
    attempt: Callable[[Resolved], T],
) -> tuple[Extract, Resolved, T]:
    """Fit the rows and do something with them, until the source has no better types to offer.

    Args:
        plan: The stages.
        ctx: The run.
        session: The load into the target.
        extract: The open source.
        attempt: Reads the rows, and undoes what it did when that fails.

    Returns:
        The extract that held, its rows, and what the attempt gave.

    Raises:
        LDPError: The source or the engine refuses.
    """
    import duckdb

    for _ in range(ROUNDS):
        try:
            fitted = fit(plan, ctx, session, extract)
            return extract, fitted, attempt(fitted)
        except duckdb.Error as error:
            extract = _better(extract, error, ctx)
    raise SourceError(f"the types of {plan.read.text} could not be decided in {ROUNDS} rounds")


def fit(plan: Plan, ctx: RunContext, session: TargetSession, extract: Extract) -> Resolved:
    """The rows after the transforms, in the target's types and order. Reads no data."""
    sql, schema = kept_sql(plan.keyed, extract), extract.schema
    for step in plan.transforms:
        sql, schema = step.transform.apply(step.spec, sql, schema, ctx)
    return session.resolve(sql, schema, follows_values=extract.follows_values)


def _better(extract: Extract, error: duckdb.Error, ctx: RunContext) -> Extract:
    """The extract with better types, or an error in the project's words."""
    import duckdb

    if (found := trouble(error, ctx.scratch / "spill")) is not None:
        raise found from error
    try:
        return extract.after(error)
    except duckdb.Error as refused:
        raise engine_error(refused) from error


def engine_error(error: Exception) -> LDPError:
    """What the engine says, as one line with what to do."""
    return trouble(error) or LDPError(f"the rows cannot be computed: {words(error)}")


def in_words(error: BaseException) -> BaseException:
    """The error in the project's words, or the KeyboardInterrupt that the engine made a RuntimeError of."""
    if type(error) is RuntimeError and str(error) == "Query interrupted":
        return KeyboardInterrupt()
    if isinstance(error, Exception) and type(error).__module__ == "_duckdb":
        return engine_error(error)
    return error
