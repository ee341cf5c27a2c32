"""Rows judged by a contract in Python: a report, a block that runs only on good rows, a guarded function."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from ldp_core.errors import ConfigError, DataQualityError
from ldp_core.spi import Spec

from ldp_quality.contract.model import Contract
from ldp_quality.contracted import Contracted
from ldp_quality.engine import context_of, run_checks
from ldp_quality.plan import Context
from ldp_quality.policy import blocks, broken, policy_of
from ldp_quality.result import QualityReport
from ldp_quality.rule import Rule

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger("ldp_quality")


def check(
    contract: Contract, df: Any, table: str | None, context: Mapping[str, Any] | Context | None = None
) -> QualityReport:
    """See ``Contract.check``."""
    return run_checks(df, rules_for(contract, table), placed(contract, df, context_of(context)))


@dataclass(frozen=True)
class _Guard:
    """What rows are held to; known before any of them is read."""

    contract: Contract
    rules: tuple[Rule, ...]
    policy: str | None
    context: Context

    @contextmanager
    def over(self, df: Any) -> Iterator[QualityReport]:
        """The block runs where the rows are good."""
        yield self.judge(df)

    def judge(self, df: Any) -> QualityReport:
        """The report of rows that are used afterwards.

        Raises:
            DataQualityError: They are held back.
            ConfigError: They cannot be read, or only once.
        """
        import pyarrow as pa

        if isinstance(df, pa.RecordBatchReader):
            raise ConfigError(
                "a RecordBatchReader can be read only once, and nothing would be left of it",
                hint="guard what its read_all() gives",
            )
        report = run_checks(df, self.rules, placed(self.contract, df, self.context))
        if blocks(self.rules, report, self.policy):
            raise DataQualityError(report.summary(), report, file=self.contract.file)
        if report.warnings or broken(self.rules, report):
            logger.warning("%s: %s", self.contract.file or self.contract.id, report.summary())
        return report


def guard_of(
    contract: Contract,
    table: str | None,
    on_failure: str | None,
    context: Mapping[str, Any] | Context | None,
) -> _Guard:
    """What ``Contract.guard`` and ``Contract.guarded`` hold rows to."""
    return _Guard(contract, rules_for(contract, table), policy_of(on_failure), context_of(context))


def decorator(guard: _Guard) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """See ``Contract.guarded``."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise ConfigError(f"{function.__qualname__} does not return rows: guarded takes plain functions")

        @functools.wraps(function)
        def judged(*args: P.args, **kwargs: P.kwargs) -> R:
            rows = function(*args, **kwargs)
            guard.judge(rows)
            return rows

        return judged

    return decorated


def placed(contract: Contract, df: Any, context: Context) -> Context:
    """A context that knows where the contract's paths start, and the catalog of a table."""
    base = context.base_dir or (Path(contract.file).parent if contract.file else None)
    return replace(context, base_dir=base, catalog=context.catalog or _catalog(df))


def _catalog(df: Any) -> Spec | None:
    """The catalog of a table of ``ldp_core``; only that class has a ``ref`` with one."""
    found = getattr(getattr(df, "ref", None), "catalog", None)
    return found if isinstance(found, Spec) else None


def rules_for(contract: Contract, table: str | None) -> tuple[Rule, ...]:
    """What the contract says of a table, its policy with it.

    Raises:
        ConfigError: There is no such table.
    """
    if callable(table):
        raise ConfigError("guarded is written with brackets", hint='@contract.guarded() or (table="orders")')
    return Contracted(contract, contract.table(table)).rules()
