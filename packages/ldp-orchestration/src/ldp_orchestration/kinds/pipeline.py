"""The task kind ``pipeline``: a dataset config, run for the window of the workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ldp_core.config import Config
from ldp_core.config.pipeline import NOT_EMPTY
from ldp_core.errors import ConfigError, Problem
from ldp_core.fs import is_local
from ldp_core.plan import build as plans
from ldp_core.plan.ends import names
from ldp_core.plan.keyed import Ask, has_placeholder, key_of, keys_of, of_config, section
from ldp_core.plan.stages import Plan
from ldp_core.run.context import RunOptions
from ldp_core.run.observe import Part
from ldp_core.run.published import published
from ldp_core.run.registered import own_route, run_config
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import execute
from ldp_core.run.skip import label
from ldp_core.spi import Task, TaskCall, TaskInfo, TaskResult
from ldp_core.window.model import Window

ICEBERG = "ICEBERG"


class PipelineKind:
    """The kind."""

    shape = NOT_EMPTY

    def open(self, task: Task) -> OpenPipeline:
        """Read the config that the task names."""
        try:
            return OpenPipeline(task, Config.of_task(task, task.value))
        except ConfigError as error:
            return OpenPipeline(task, None, error)


class OpenPipeline:
    """A task whose config was read.

    Args:
        task: The task.
        config: The config; None where it cannot be read.
        error: Why it cannot.
    """

    counts = True

    def __init__(self, task: Task, config: Config | None, error: ConfigError | None = None) -> None:
        self.task = task
        self.config = config
        self._error = error
        self._keys: tuple[Sequence[Window], bool, list[str]] = ((), False, [])

    @property
    def _known(self) -> Config:
        if self.config is None:
            raise self._error or ConfigError("the config was not read")
        return self.config

    @property
    def vouched(self) -> bool:
        """Whether it writes to a table, which keeps its keys."""
        return self.config is not None and str(self.config.target.get("format", "")).upper() == ICEBERG

    @property
    def side_by_side(self) -> bool:
        """Whether its windows touch rows of their own alone: appends, and overwrites by a window column."""
        if not self.vouched or self._own:
            return False
        how = str(self._known.target.get("write_mode") or "append").lower()
        return how == "append" or (how == "overwrite" and bool(section(self._known).get("column")))

    @cached_property
    def _own(self) -> Any:
        """The class that somebody registered for the route; None for the generic one."""
        return own_route(self._known)

    @cached_property
    def _plan(self) -> Plan:
        """The stages without a window; made once for all windows."""
        return plans.build(self._known)

    @cached_property
    def _replacing(self) -> Plan:
        """The stages of a load that replaces the rows of its window."""
        return plans.build(self._known, "overwrite")

    def _of(self, window: Window | None, *, replace: bool = False) -> Plan:
        """The plan of one window."""
        again = replace and window is not None and self.vouched
        base = self._replacing if again else self._plan
        key = key_of(base, window, replace=True) if again and window is not None else None
        return of_config(self._known, base, Ask(window, key))

    # What is asked of every open task

    def problems(self, *, replace: bool = False) -> list[Problem]:
        """The findings about the config, as ``ldp plan`` has them."""
        if self.config is None:
            return list(self._known_error().about(self.task.kind))
        again = replace and self.vouched
        by_column = bool(section(self.config).get("column"))
        found = list(plans.problems(self.config, "overwrite" if again and by_column else None))
        if again and not by_column:
            found.append(
                Problem(
                    "there is no metadata.window.column, so replacing a window would add its rows again",
                    key="metadata.window",
                    file=self.config.name,
                    line=self.config.document.line_of("metadata.window"),
                    hint="set window.column to the column that holds the time of each row, so that a replace "
                    "overwrites only the rows of the window",
                )
            )
        return found

    def _known_error(self) -> ConfigError:
        return self._error or ConfigError("the config was not read")

    def info(self, window: Window | None, *, replace: bool = False) -> TaskInfo:
        """Its target, its key, and what it reads and writes."""
        plan = self._of(window, replace=replace)
        path = plan.read.spec.get("path")
        warnings = []
        if not self.vouched:
            warnings.append(
                "its target is a file, which every run replaces whole, so the task has no idempotency key "
                "and a second run of the window writes the file again"
            )
        if has_placeholder(plan):
            warnings.append(
                "the source path has a window placeholder, so it is shown as written; "
                "pass --window to see the path of one window"
            )
        return TaskInfo(
            target=label(plan) if self.vouched else str(plan.write.spec.get("path") or ""),
            idempotency_key=plan.keyed.key if plan.keyed else None,
            source_path=path if isinstance(path, str) else None,
            reads=tuple(names(plan.read.spec)),
            writes=tuple(names(plan.write.spec)),
            warnings=tuple(warnings),
            notes=self._known.notes(),
        )

    def done(self, windows: Sequence[Window], *, replace: bool = False) -> list[bool]:
        """Which windows the table holds the key of; a table that is not there holds none."""
        keys = self.keys(windows, replace=replace)
        return published(self._replacing if replace else self._plan, windows, replace=replace, keys=keys)

    def keys(self, windows: Sequence[Window], *, replace: bool = False) -> list[str]:
        """The keys of windows; those of the last ones that were asked for are at hand."""
        if self._keys[:2] != (windows, replace):
            plan = self._replacing if replace else self._plan
            self._keys = (windows, replace, keys_of(plan, windows, replace=replace))
        return self._keys[2]

    def inputs(self, window: Window | None) -> list[str]:
        """The config, the files that it names, and its source where that is on this machine."""
        if self.config is None:
            return [str(Path(self.task.base_dir, self.task.value))]
        config = self.config
        named = [item.get("sql_file") for item in config.metadata.get("transforms") or () if _is(item)]
        quality = config.metadata.get("quality")
        named.append(quality.get("contract") if isinstance(quality, Mapping) else None)
        files = [str(config.path)] if config.path else []
        files += [str(config.resolve(name)) for name in named if isinstance(name, str)]
        try:
            path = self._of(window).read.spec.get("path")
        except ConfigError:
            return files
        listed = path if isinstance(path, list | tuple) else [path]
        return [*files, *(str(config.resolve(one)) for one in listed if _here(one))]

    def run(self, call: TaskCall) -> TaskResult:
        """Load the window.

        Raises:
            DataQualityError: A gate held its data back.
            LDPError: It failed.
        """
        if self._own:
            key = self._of(call.window, replace=call.replace).keyed
            own = key.key if call.replace and key else None
            return _told(
                run_config(
                    self._known,
                    "overwrite" if own else None,
                    window=call.window,
                    idempotency_key=own,
                    run_id=call.run_id,
                    attempt=call.attempt,
                )
            )
        part = Part(call.workflow, self.task.id, call.sinks)
        plan = self._of(call.window, replace=call.replace)
        return _told(
            execute(
                plan,
                RunOptions(
                    memory_limit=call.memory_limit,
                    clock=call.clock,
                    run_id=call.run_id,
                    attempt=call.attempt,
                    part=part,
                    readings=None if has_placeholder(self._plan) else call.readings,
                    turn=call.turn,
                    progress=call.progress or RunOptions.progress,
                ),
            )
        )


def _is(value: Any) -> bool:
    return isinstance(value, Mapping)


def _here(path: Any) -> bool:
    return isinstance(path, str) and is_local(path)


def _told(result: PipelineResult) -> TaskResult:
    wrote = result.write_result
    return TaskResult(
        status=result.status,
        rows_read=result.rows_read,
        rows_written=result.rows_written,
        rows_quarantined=wrote.rows_quarantined,
        snapshot_id=result.published_in,
        tables=(wrote.table_identifier,),
        warnings=result.warnings,
    )


KIND = PipelineKind()
