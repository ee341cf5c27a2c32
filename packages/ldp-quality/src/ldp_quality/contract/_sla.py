"""``slaProperties``: how old the data may be is a check; all else is said of the service, not of the rows."""

from __future__ import annotations

from fractions import Fraction

from ldp_core.errors import ConfigError

from ldp_quality.bounds import as_number
from ldp_quality.checks.base import Check
from ldp_quality.checks.freshness import Freshness
from ldp_quality.contract._library import CannotRun
from ldp_quality.contract.model import Contract, ContractProperty, ContractTable, ServiceLevel

FRESH = ("latency", "ly", "freshness")
"""The properties that say how old the newest row may be."""
_HOURS = {
    Fraction(1, 3600): "s sec second seconds",
    Fraction(1, 60): "min minute minutes",
    Fraction(1): "h hr hour hours",
    Fraction(24): "d day days",
    Fraction(24 * 7): "w wk week weeks",
    Fraction(24 * 365): "y yr year years",
}
_UNITS = {word: hours for hours, words in _HOURS.items() for word in words.split()}


def is_fresh(level: ServiceLevel) -> bool:
    """Whether it is about how old the rows may be."""
    return level.property.strip().lower() in FRESH


def freshness(level: ServiceLevel, column: str) -> Check:
    """The check of a latency.

    Raises:
        CannotRun: Its value or its unit cannot be read.
    """
    number = as_number(level.value)
    if not isinstance(number, Fraction):
        raise CannotRun(f"{level.value} is no number")
    unit = (level.unit or "").strip().lower()
    if unit not in _UNITS:
        known = ", ".join(words.split()[0] for words in _HOURS.values())
        raise CannotRun(
            f"the unit {level.unit} is none of {known}" if unit else f"it has no unit, such as {known}"
        )
    hours = number * _UNITS[unit]
    try:
        whole = int(hours) if hours.denominator == 1 else float(hours)
        return Freshness(column, whole, name=f"{level.property}({column})")
    except ConfigError as error:
        raise CannotRun(error.message) from None


def column_of(element: str, contract: Contract) -> tuple[ContractTable, ContractProperty]:
    """What an element such as ``orders.created_at`` names; the table may be left out where there is one.

    Raises:
        CannotRun: It names no column.
    """
    found = []
    for table in contract.tables:
        for name in dict.fromkeys((table.name, table.physical_name)):
            column = (
                table.column(element.removeprefix(f"{name}.")) if element.startswith(f"{name}.") else None
            )
            if column is not None:
                found.append((table, column))
        if len(contract.tables) == 1 and not found:
            column = table.column(element)
            if column is not None:
                found.append((table, column))
    if not found:
        raise CannotRun(f"{element} names no column of the contract")
    return found[0]
