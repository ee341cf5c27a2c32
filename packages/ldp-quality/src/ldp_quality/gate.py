"""The gate: the checks of a config judge the rows that would be published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError, UsageError
from ldp_core.spi import Batch, Spec, Verdict

from ldp_quality.aside.judge import judge
from ldp_quality.aside.mark import marking
from ldp_quality.checks.base import Check
from ldp_quality.config import rules_from_config
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.histories import history_of
from ldp_quality.history import History, PartOfRun
from ldp_quality.kinds import kind_of
from ldp_quality.plan import Context
from ldp_quality.policy import effective
from ldp_quality.result import QualityReport
from ldp_quality.rule import FAIL, QUARANTINE, Rule, rule_of
from ldp_quality.scopes import wider
from ldp_quality.section import (
    NO_QUARANTINE,
    contract_path,
    is_file,
    items_of,
    max_share,
    on_failure,
    said_on_failure,
)
from ldp_quality.share import MAX_SHARE
from ldp_quality.verdicts import evaluated

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from ldp_quality.contracted import Contracted


@dataclass(frozen=True)
class PreparedQuality:
    """The checks of one config, ready to judge batches.

    Attributes:
        items: The rules.
        on_failure: ``fail``, ``warn`` or ``quarantine``, for the rules that do not say.
        base_dir: Where relative paths in checks start.
        catalog: The catalog of the run's own target.
        contract: The id and the version of the contract that rules are from.
        max_share: The share of the rows (0 to 1) that may be put aside.
        primary_key: The columns that name a row to people.
        of_file: The target is a file, of which no rows can be put aside.
        history: Earlier runs of the dataset.
        keys_in: The scope of rules about keys that look at the batch alone; None leaves them as they are.
    """

    items: tuple[Rule, ...]
    on_failure: str
    base_dir: Path | None = None
    catalog: Spec | None = None
    contract: tuple[str, str] | None = None
    max_share: float = MAX_SHARE
    primary_key: tuple[str, ...] = ()
    of_file: bool = False
    history: History | None = None
    keys_in: str | None = None

    @property
    def checks(self) -> int:
        """How many checks it will make."""
        return len(self.items)

    def marked(
        self, con: DuckDBPyConnection, schema: pa.Schema, on_failure: str | None
    ) -> Callable[[str], str] | None:
        """What marks the rows that a rule will put aside for what is in them; None where no rule does."""
        rules = [rule for rule in self.items if effective(rule, on_failure, self.on_failure) == QUARANTINE]
        if self.of_file or not rules:
            return None
        columns = {field.name: kind_of(field.type) for field in schema}
        return marking(rules, con, columns, Context(None, None, self.base_dir, self.catalog, self.history))

    def judge(self, batch: Batch) -> Verdict:
        """Judge the rows that would be published; a failure blocks them unless it only warns.

        A rule that puts rows aside looks at all rows, the others at those that stay.

        A check that could not be evaluated blocks: nobody knows. What nothing here could ever judge (a
        sentence for people, a rule for another engine) is told with its reason, and does not.

        Raises:
            UsageError: The run is to put rows of a file aside.
        """
        if self.of_file and batch.on_failure == QUARANTINE:
            raise UsageError(f"--on-failure quarantine: {NO_QUARANTINE}", hint="say fail or warn")
        columns = {field.name: kind_of(field.type) for field in batch.schema}
        rows = DuckDBExecutor(batch.con, batch.sql, batch.ordered_sql, columns)
        history = PartOfRun() if batch.partial else self.history
        context = Context(batch.now, batch.source_rows, self.base_dir, self.catalog, history)
        policies = [effective(rule, batch.on_failure, self.on_failure) for rule in self.items]
        rules = [wider(rule, self.keys_in, rows, context) for rule in self.items]
        found = judge(rules, policies, batch, rows, context)
        apart = replace(found.apart, primary_key=self.primary_key) if found.apart else None
        told = self._evaluated(found.report, policies, batch.on_failure)
        return Verdict(found.report.passed, found.held, found.report, told, apart, found.of_table)

    def _evaluated(self, report: QualityReport, policies: Sequence[str], asked: str | None) -> dict[str, Any]:
        """Names, verdicts and counts, each with the policy that held; never a value of the data."""
        told = evaluated(report, self.items)
        for line, policy, result in zip(told["checks"], policies, report.results, strict=True):
            line |= {"on_failure": policy, "quarantined": result.quarantined}
        by = {"contract": dict(zip(("id", "version"), self.contract, strict=True))} if self.contract else {}
        more = {"on_failure": asked or self.on_failure, "quarantined": report.quarantined}
        return {**told, **more, "engine": "duckdb", **by}


class QualityGate:
    """The gate as ``ldp_core.spi.Gate`` wants it."""

    def prepare(self, section: Any, spec: Spec) -> PreparedQuality:
        """Build the checks, before anything is read.

        Raises:
            ConfigError: A check is wrong.
        """
        target = spec.get("target")
        has_catalog = isinstance(target, Mapping) and isinstance(target.get("catalog"), Mapping)
        contracted = _contracted(section, spec)
        of_contract = contracted.contract.max_share if contracted else None
        share = next((found for found in (max_share(section), of_contract) if found is not None), MAX_SHARE)
        return PreparedQuality(
            (*_rules(contracted, spec), *rules_from_config(items_of(section))),
            on_failure(section),
            spec.base_dir,
            spec.sub("target").sub("catalog") if has_catalog else None,
            (contracted.contract.id, contracted.contract.version) if contracted else None,
            share,
            _primary_key(contracted, spec),
            is_file(spec),
            history_of(spec),
        )

    def of(self, checks: Sequence[Any], on_failure: str = FAIL) -> PreparedQuality:
        """The gate of a pipeline put together in Python.

        Args:
            checks: Checks and rules of this package, or objects as a config has them.
            on_failure: ``fail``, ``warn`` or ``quarantine``.

        Raises:
            ConfigError: One is neither, or wrong.
        """
        items: list[Rule] = []
        for number, item in enumerate(checks, start=1):
            if isinstance(item, Mapping):
                items += rules_from_config([item])
            elif isinstance(item, Check | Rule):
                items.append(rule_of(item))
            else:
                raise ConfigError(
                    f"check #{number}: {type(item).__name__} is no check",
                    hint="give NotNull(...), Range(...)",
                )
        return PreparedQuality(tuple(items), on_failure)


def _contracted(section: Any, spec: Spec) -> Contracted | None:
    """The contract that the section names, and the table of it."""
    if contract_path(section, spec) is None:
        return None
    from ldp_quality.contracted import find

    return find(section, spec)


def _rules(contracted: Contracted | None, spec: Spec) -> tuple[Rule, ...]:
    """The rules of the contract; what the config itself says of failures stands above its words."""
    rules = contracted.rules() if contracted else ()
    if said_on_failure(spec.get("quality")) is not None:
        return tuple(replace(rule, on_failure=None) for rule in rules)
    return rules


def _primary_key(contracted: Contracted | None, spec: Spec) -> tuple[str, ...]:
    """What names a row to people: the primary key of the contract or the docs, else the key of the upsert."""
    docs, target = spec.get("docs"), spec.get("target")
    of_contract = contracted.table.primary_key if contracted else ()
    of_docs = docs.get("primary_key") if isinstance(docs, Mapping) else None
    of_target = target.get("join_cols") if isinstance(target, Mapping) else None
    for key in (of_contract, of_docs, of_target):
        listed = [key] if isinstance(key, str) else key
        if listed and isinstance(listed, list | tuple):
            return tuple(str(name) for name in listed)
    return ()


GATE = QualityGate()
