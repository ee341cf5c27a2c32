"""The gate: the checks of a config judge the rows that would be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp_core.errors import ConfigError
from ldp_core.spi import Batch, Spec, Verdict

from ldp_quality.checks.base import Check
from ldp_quality.config import rules_from_config
from ldp_quality.engine import evaluate
from ldp_quality.executor import DuckDBExecutor
from ldp_quality.histories import history_of
from ldp_quality.history import History
from ldp_quality.kinds import kind_of
from ldp_quality.plan import Context
from ldp_quality.policy import blocks
from ldp_quality.result import QualityReport
from ldp_quality.rule import FAIL, Rule, rule_of
from ldp_quality.section import contract_path, items_of, on_failure
from ldp_quality.verdicts import evaluated

if TYPE_CHECKING:
    import pyarrow as pa

    from ldp_quality.contracted import Contracted


@dataclass(frozen=True)
class PreparedQuality:
    """The checks of one config, ready to judge batches.

    Attributes:
        items: The rules.
        on_failure: ``fail`` or ``warn``, for the rules that do not say.
        base_dir: Where relative paths in checks start.
        catalog: The catalog of the run's own target.
        contract: The id and the version of the contract that rules are from.
        history: Earlier runs of the dataset.
    """

    items: tuple[Rule, ...]
    on_failure: str
    base_dir: Path | None = None
    catalog: Spec | None = None
    contract: tuple[str, str] | None = None
    history: History | None = None

    @property
    def checks(self) -> int:
        """How many checks it will make."""
        return len(self.items)

    @property
    def max_share(self) -> float:
        """The share of the rows (0 to 1) that may be put aside."""
        return 0.1

    def marked(self, sql: str, schema: pa.Schema) -> str | None:
        """None: no rule puts rows aside."""
        return None

    def judge(self, batch: Batch) -> Verdict:
        """Judge the rows that would be published; a failure blocks them unless it only warns.

        A check that could not be evaluated blocks: nobody knows. What nothing here could ever judge (a
        sentence for people, a rule for another engine) is told with its reason, and does not.
        """
        columns = {field.name: kind_of(field.type) for field in batch.schema}
        rows = DuckDBExecutor(batch.con, batch.sql, batch.ordered_sql, columns)
        context = Context(batch.now, batch.source_rows, self.base_dir, self.catalog, self.history)
        report = evaluate(self.items, rows, context)
        held = blocks(self.items, report, batch.on_failure, self.on_failure)
        return Verdict(report.passed, held, report, self._evaluated(report, batch.on_failure))

    def _evaluated(self, report: QualityReport, policy: str | None) -> dict[str, Any]:
        """Names, verdicts and counts, each with the policy that held; never a value of the data."""
        told = evaluated(report, self.items)
        for line, rule in zip(told["checks"], self.items, strict=True):
            line["on_failure"] = policy or rule.on_failure or self.on_failure
        by = {"contract": dict(zip(("id", "version"), self.contract, strict=True))} if self.contract else {}
        return {**told, "on_failure": policy or self.on_failure, "engine": "duckdb", **by}


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
        return PreparedQuality(
            (*_rules(contracted, spec), *rules_from_config(items_of(section))),
            on_failure(section),
            spec.base_dir,
            spec.sub("target").sub("catalog") if has_catalog else None,
            (contracted.contract.id, contracted.contract.version) if contracted else None,
            history_of(spec),
        )

    def of(self, checks: Sequence[Any], on_failure: str = FAIL) -> PreparedQuality:
        """The gate of a pipeline put together in Python.

        Args:
            checks: Checks and rules of this package, or objects as a config has them.
            on_failure: ``fail`` or ``warn``.

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
    written = spec.get("quality")
    if isinstance(written, Mapping) and written.get("on_failure") is not None:
        return tuple(replace(rule, on_failure=None) for rule in rules)
    return rules


GATE = QualityGate()
