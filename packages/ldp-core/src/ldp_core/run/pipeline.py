"""A pipeline put together in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ldp_core.config import Config
from ldp_core.errors import ConfigError
from ldp_core.plan.build import build
from ldp_core.plan.keyed import CommitContext, keyed, of_config
from ldp_core.plan.stages import Plan
from ldp_core.run import gates
from ldp_core.run.context import Lines, RunOptions, open_context
from ldp_core.run.objects import check_stages, read_stage, register, reshape_stages, write_stage
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import execute
from ldp_core.spi import Batch, Report

if TYPE_CHECKING:
    import pyarrow as pa


class Pipeline:
    """A source and a target, with transforms and checks between them.

    What is given in Python stands in place of that part of the config.

    Args:
        config: A config, or the data of one.
        source: A format such as ``CSV``, a ``pyarrow.Table``, or a function that returns one.
        target: A format such as ``Iceberg``.
        transforms: Functions from table to table, in order; each holds the whole table in memory.
        checks: Checks of ldp-quality.
        on_failure: ``fail`` (publish nothing), ``warn`` or ``quarantine`` (bad rows are put aside).
        name: What results and messages call it.

    Raises:
        ConfigError: The config has errors, or source or target is missing.
    """

    def __init__(
        self,
        config: Config | Mapping[str, Any] | None = None,
        *,
        source: Any = None,
        target: Any = None,
        transforms: Sequence[Callable[[Any], Any]] | None = None,
        checks: Sequence[Any] | None = None,
        on_failure: str | None = None,
        name: str | None = None,
    ) -> None:
        self.config = Config.from_dict(config) if isinstance(config, Mapping) else config
        self.source = source
        self.target = target
        self.transforms = transforms
        self.checks = checks
        self.on_failure = on_failure
        base = None if self.config is None else build(self.config)
        if base is None and (source is None or target is None):
            raise ConfigError("a pipeline needs a config, or a source and a target")
        self.name = name or (base.identifier if base else _name(source, target))
        self._base = base

    def __repr__(self) -> str:
        """Its name and route."""
        return f"Pipeline({self.name!r}, {self.plan().route})"

    def plan(self, mode: str | None = None) -> Plan:
        """Its stages.

        Args:
            mode: A write mode that stands above the target's own.

        Raises:
            ConfigError: A part is not what it must be, or the mode does not fit the config.
        """
        base = build(self.config, mode) if self.config is not None and mode else self._base
        read = read_stage(self.source) if self.source is not None else base.read if base else None
        write = write_stage(self.target, mode) if self.target is not None else base.write if base else None
        if read is None or write is None:
            raise ConfigError("a pipeline needs a source and a target")
        plan = base or Plan(self.name, read, write)
        changes: dict[str, Any] = {"identifier": self.name, "read": read, "write": write}
        if self.transforms is not None:
            changes["transforms"] = reshape_stages(self.transforms)
        if self.checks is not None:
            changes["checks"] = check_stages(self.checks, self.on_failure)
        return replace(plan, **changes)

    def extract(self) -> pa.Table:
        """All rows of the source, in memory."""
        plan = self.plan()
        with open_context(plan.base_dir, RunOptions(), Lines()) as ctx:
            extract = plan.read.source.open(plan.read.spec, ctx, None)
            while True:
                try:
                    return ctx.con.sql(extract.sql).to_arrow_table()
                except Exception as error:
                    extract = extract.after(error)

    def transform(self, df: pa.Table) -> pa.Table:
        """The transforms applied to a table, in order."""
        plan = self.plan()
        with open_context(plan.base_dir, RunOptions(), Lines()) as ctx:
            sql, schema = register(ctx, df), df.schema
            for step in plan.transforms:
                sql, schema = step.transform.apply(step.spec, sql, schema, ctx)
            return ctx.con.sql(sql).to_arrow_table() if plan.transforms else df

    def validate(self, df: pa.Table, context: Mapping[str, Any] | None = None) -> Report | None:
        """The checks' report on a table; None without checks.

        Args:
            df: The rows.
            context: ``source_rows``, for a check that compares with it; the rows of ``df`` by default.

        Raises:
            DataQualityError: A check failed and ``on_failure`` is ``fail``.
        """
        plan = self.plan()
        prepared = gates.prepare(plan.checks)
        options = RunOptions()
        with open_context(plan.base_dir, options, Lines()) as ctx:
            sql = register(ctx, df)
            batch = Batch(
                con=ctx.con,
                sql=sql,
                schema=df.schema,
                rows=df.num_rows,
                source_rows=int((context or {}).get("source_rows", df.num_rows)),
                ordered_sql=f"SELECT *, row_number() OVER () - 1 AS __row FROM ({sql})",
                now=options.clock(),
            )
            verdicts = gates.judge(prepared, batch)
        gates.refuse(verdicts)
        return gates.report_of(verdicts)

    def run(
        self, mode: str | None = None, commit: CommitContext | None = None, **options: Any
    ) -> PipelineResult:
        """Load: read, transform, write unseen, check, publish in one step.

        Args:
            mode: A write mode that stands above the target's own.
            commit: The window, the key, the run and the attempt.
            options: The fields of ``RunOptions``, such as ``memory_limit``.

        Raises:
            DataQualityError: A check held the rows back; nothing was published.
            LDPError: Anything else that stopped the run; nothing was published.
        """
        given = commit or CommitContext()
        names = {"run_id": given.run_id, "attempt": given.attempt} if commit else {}
        run_options = RunOptions(**{**names, **options})
        plan, ask = self.plan(mode), given.ask(run_options.clock())
        return execute(of_config(self.config, plan, ask) if self.config else keyed(plan, ask), run_options)

    load = run


def _name(source: Any, target: Any) -> str:
    """The target's name, else the source's."""
    for part in (target, source):
        if isinstance(name := getattr(part, "name", None), str):
            return name
    return "pipeline"
