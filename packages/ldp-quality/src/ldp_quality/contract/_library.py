"""``type: library``: the metrics of the standard, and the rules of 3.0.2 that came before them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.config.names import nearest
from ldp_core.errors import ConfigError

from ldp_quality.checks.base import Check
from ldp_quality.checks.metric import DUPLICATES, INVALID, METRICS, MISSING, NULLS, ROWS, Metric
from ldp_quality.checks.operators import OPERATORS, Operator
from ldp_quality.checks.valid import Valid
from ldp_quality.contract._extras import plain
from ldp_quality.contract.model import ContractProperty, ContractTable, QualityItem

_UNITS = {"rows": "rows", "row": "rows", "percent": "percent", "%": "percent"}
_VALID = {
    "validValues": "values",
    "pattern": "pattern",
    "min": "min",
    "minimum": "min",
    "max": "max",
    "maximum": "max",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "minLength": "min_length",
    "maxLength": "max_length",
    "multipleOf": "multiple_of",
}
"""The arguments of ``invalidValues``; the standard names the first two, the rest are as in its types."""
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    NULLS: (),
    MISSING: ("missingValues",),
    INVALID: tuple(_VALID),
    DUPLICATES: ("properties",),
    ROWS: (),
}
_OLD = {
    NULLS: "nullcheck nullcount nullvalues notnull notnullcheck",
    MISSING: "missingcheck missingcount missingvalues",
    DUPLICATES: "duplicatecheck duplicatecount duplicatevalues uniquecheck unique uniqueness",
    INVALID: "validvalues validcheck invalidcount invalidvalues mincheck maxcheck between rangecheck "
    "patterncheck pattern regex",
    ROWS: "rowcount countcheck",
}
_METRIC_OF_RULE = {word: metric for metric, words in _OLD.items() for word in words.split()}


class CannotRun(Exception):
    """Nothing here can judge it; the text says why."""


def library(item: QualityItem, table: ContractTable, column: ContractProperty | None) -> Check:
    """The check of a library item.

    Raises:
        CannotRun: It is not one that the standard defines, or leaves open what it wants.
    """
    try:
        return _metric(item, table, column)
    except ConfigError as error:
        raise CannotRun(error.message) from None


def _metric(item: QualityItem, table: ContractTable, column: ContractProperty | None) -> Check:
    values = item.values
    old = "metric" not in values
    metric = _named(values)
    arguments = _old_arguments(values, metric) if old else _arguments(values, metric)
    operators = tuple(Operator.of(name, values[name]) for name in OPERATORS if name in values)
    if old and not operators and metric != ROWS:
        operators = (Operator.of("mustBe", 0),)
    more: dict[str, Any] = {}
    if metric == MISSING and "missingValues" in arguments:
        more["missing"] = tuple(_listed(arguments["missingValues"], "missingValues"))
    if metric == INVALID:
        more["valid"] = _valid(arguments)
    return Metric(
        metric, operators, _columns(metric, arguments, table, column), _unit(values), name=item.name, **more
    )


def _named(values: Mapping[str, Any]) -> str:
    metric = values.get("metric")
    if metric is not None:
        return str(metric)
    rule = values.get("rule")
    if rule is None:
        raise CannotRun("it has no metric")
    found = _METRIC_OF_RULE.get("".join(char for char in str(rule).lower() if char.isalnum()))
    if found is None:
        known = ", ".join(METRICS)
        raise CannotRun(f"the standard defines no rule {rule}; its metrics are {known}")
    return found


def _arguments(values: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    given: Mapping[str, Any] = values.get("arguments") or {}
    for name in given:
        if name not in _ARGUMENTS[metric]:
            near = nearest(name, _ARGUMENTS[metric])
            hint = f"did you mean {near}?" if near else f"known: {', '.join(_ARGUMENTS[metric]) or 'none'}"
            raise CannotRun(f"{metric} has no argument {name}; {hint}")
    return given


def _old_arguments(values: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    """3.0.2 says nothing of arguments: they stand beside the rule or among its custom properties."""
    given = {**plain(values.get("customProperties")), **values, **(values.get("arguments") or {})}
    return {name: given[name] for name in _ARGUMENTS[metric] if given.get(name) is not None}


def _valid(arguments: Mapping[str, Any]) -> Valid:
    known = {_VALID[name]: value for name, value in arguments.items() if value is not None}
    if "values" in known:
        known["values"] = tuple(_listed(known["values"], "validValues"))
    if not known:
        raise CannotRun(
            "invalidValues has no arguments that say what is valid, such as validValues or pattern"
        )
    return Valid(**known)


def _listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise CannotRun(f"{name} must be a list of values")
    return value


def _unit(values: Mapping[str, Any]) -> str:
    unit = values.get("unit") or "rows"
    if str(unit).strip().lower() not in _UNITS:
        raise CannotRun(f"the unit {unit} is neither rows nor percent")
    return _UNITS[str(unit).strip().lower()]


def _columns(
    metric: str, arguments: Mapping[str, Any], table: ContractTable, column: ContractProperty | None
) -> tuple[str, ...]:
    if metric == ROWS:
        return ()
    if "properties" in arguments:
        named = [str(name) for name in _listed(arguments["properties"], "properties")]
        found = [(name, table.column(name)) for name in named]
        missing = [name for name, there in found if there is None]
        if missing:
            raise CannotRun(f"{table.name} has no property {', '.join(missing)}")
        return tuple(dict.fromkeys(there.column for _, there in found if there is not None))
    if column is not None:
        return (column.column,)
    if metric == DUPLICATES:
        raise CannotRun("duplicateValues of a table needs arguments: {properties: [...]}")
    raise CannotRun(f"{metric} is about one property, and it stands under none")
