"""Data quality checks for LDP."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldp_quality.checks.anomaly import Anomaly
    from ldp_quality.checks.expression import Expression
    from ldp_quality.checks.freshness import Freshness
    from ldp_quality.checks.metric_anomaly import MetricAnomaly
    from ldp_quality.checks.range import Range
    from ldp_quality.checks.referential import Referential
    from ldp_quality.checks.rows import AcceptedValues, NotNull, Regex
    from ldp_quality.checks.schema import SchemaHas
    from ldp_quality.checks.temporal import MaxGap, MaxSkew, Monotonic, RateBelow
    from ldp_quality.checks.unique import Unique
    from ldp_quality.checks.volume import RowCount
    from ldp_quality.config import checks_from_config, rules_from_config
    from ldp_quality.contract.diff import ContractDiff, diff
    from ldp_quality.contract.model import Contract, ContractProperty, ContractTable
    from ldp_quality.contract.rules import ContractRule
    from ldp_quality.contract.what_if import WhatIf, what_if
    from ldp_quality.engine import run_checks
    from ldp_quality.executors.postgres import PostgresTable
    from ldp_quality.executors.stored import FileTable
    from ldp_quality.profiling.draft import draft_contract
    from ldp_quality.profiling.measure import profile
    from ldp_quality.profiling.model import ColumnProfile, Profile
    from ldp_quality.result import CheckResult, QualityReport
    from ldp_quality.rule import Rule
    from ldp_quality.store.records import ContractVersion, Point, RuleRecord, RunRecord
    from ldp_quality.store.store import Store, open_store

__all__ = [
    "AcceptedValues",
    "Anomaly",
    "CheckResult",
    "ColumnProfile",
    "Contract",
    "ContractDiff",
    "ContractProperty",
    "ContractRule",
    "ContractTable",
    "ContractVersion",
    "Expression",
    "FileTable",
    "Freshness",
    "MaxGap",
    "MaxSkew",
    "MetricAnomaly",
    "Monotonic",
    "NotNull",
    "Point",
    "PostgresTable",
    "Profile",
    "QualityReport",
    "Range",
    "RateBelow",
    "Referential",
    "Regex",
    "RowCount",
    "Rule",
    "RuleRecord",
    "RunRecord",
    "SchemaHas",
    "Store",
    "Unique",
    "WhatIf",
    "checks_from_config",
    "diff",
    "draft_contract",
    "open_store",
    "profile",
    "rules_from_config",
    "run_checks",
    "what_if",
]

_HOMES = {
    "checks.anomaly": ("Anomaly",),
    "checks.expression": ("Expression",),
    "checks.freshness": ("Freshness",),
    "checks.metric_anomaly": ("MetricAnomaly",),
    "checks.range": ("Range",),
    "checks.referential": ("Referential",),
    "checks.rows": ("AcceptedValues", "NotNull", "Regex"),
    "checks.schema": ("SchemaHas",),
    "checks.temporal": ("MaxGap", "MaxSkew", "Monotonic", "RateBelow"),
    "checks.unique": ("Unique",),
    "checks.volume": ("RowCount",),
    "config": ("checks_from_config", "rules_from_config"),
    "contract.diff": ("ContractDiff", "diff"),
    "contract.model": ("Contract", "ContractProperty", "ContractTable"),
    "contract.rules": ("ContractRule",),
    "contract.what_if": ("WhatIf", "what_if"),
    "engine": ("run_checks",),
    "executors.postgres": ("PostgresTable",),
    "executors.stored": ("FileTable",),
    "profiling.draft": ("draft_contract",),
    "profiling.measure": ("profile",),
    "profiling.model": ("ColumnProfile", "Profile"),
    "result": ("CheckResult", "QualityReport"),
    "rule": ("Rule",),
    "store.records": ("ContractVersion", "Point", "RuleRecord", "RunRecord"),
    "store.store": ("Store", "open_store"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ldp_quality' has no attribute {name!r}")
    return getattr(import_module(f"ldp_quality.{_HOME[name]}"), name)
