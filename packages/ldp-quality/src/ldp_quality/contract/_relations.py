"""``relationships``: keys that exist in another table of the contract."""

from __future__ import annotations

from typing import Any

from ldp_quality.checks.base import Check
from ldp_quality.checks.not_run import NotRun
from ldp_quality.checks.referential import Referential
from ldp_quality.contract._library import CannotRun
from ldp_quality.contract.model import Contract, ContractTable


def relation(left: Any, right: Any, table: ContractTable, contract: Contract) -> Check:
    """The check of one relationship; the other table is looked up in the catalog of the table's own.

    Args:
        left: What refers: ``orders.customer``, or a list of such.
        right: What it refers to, of the same kind.
        table: The table it stands in.
        contract: Its contract.
    """
    sides = [[str(name) for name in (side if isinstance(side, list) else [side])] for side in (left, right)]
    try:
        own, columns = _columns(sides[0], contract)
        other, keys = _columns(sides[1], contract)
        if own.name != table.name:
            raise CannotRun(f"it is about {own.name}, and stands in {table.name}")
        if other.name == table.name:
            raise CannotRun("a table that refers to itself is not looked up")
        if len(columns) != len(keys):
            raise CannotRun("its two sides are not equally long")
        return Referential(columns, {"table": other.physical_name, "columns": keys})
    except CannotRun as error:
        about = [", ".join(side) for side in sides]
        return NotRun(str(error), f"foreign key {about[0]} to {about[1]}")


def _columns(names: list[str], contract: Contract) -> tuple[ContractTable, list[str]]:
    """The one table that all names are of, and their columns."""
    found: list[tuple[ContractTable, str]] = []
    for name in names:
        at = [
            (table, column.column)
            for table in contract.tables
            for called in dict.fromkeys((table.name, table.physical_name))
            if name.startswith(f"{called}.") and (column := table.column(name[len(called) + 1 :])) is not None
        ]
        if not at:
            raise CannotRun(f"{name} is no column of the contract, so that nobody knows where it is stored")
        found.append(at[0])
    if len({table.name for table, _ in found}) != 1:
        raise CannotRun(f"{', '.join(names)} are columns of several tables")
    return found[0][0], [column for _, column in found]
