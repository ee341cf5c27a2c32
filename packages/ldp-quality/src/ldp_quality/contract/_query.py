"""``type: sql``: a query over the table that it stands under."""

from __future__ import annotations

import re
from typing import Any

from ldp_core._duck import ident
from ldp_core.errors import ConfigError

from ldp_quality.checks.base import Check
from ldp_quality.checks.operators import OPERATORS, Operator
from ldp_quality.checks.query import Query
from ldp_quality.contract._library import CannotRun
from ldp_quality.contract._variables import PLACES
from ldp_quality.contract.model import ContractProperty, ContractTable, QualityItem

_PLACE = re.compile(rf"\$?\{{({'|'.join(PLACES)})\}}")


def query(item: QualityItem, table: ContractTable, column: ContractProperty | None) -> Check:
    """The check of an item with a query.

    ``{object}`` or ``{table}`` is the table, ``{property}`` or ``{column}`` the property, with a dollar sign
    or without; the table may also be called by its name in the contract or where it is stored.

    Raises:
        CannotRun: It is more than one SELECT over that table.
    """
    names = dict.fromkeys((table.physical_name, table.name))
    for name in names:
        try:
            return _named(item, name, column)
        except ConfigError as error:
            reason = error.message
    raise CannotRun(reason)


def _named(item: QualityItem, table: str, column: ContractProperty | None) -> Check:
    """The check, where the query calls the table so."""

    def filled(found: re.Match[str]) -> str:
        if found[1] in ("object", "table"):
            return ident(table)
        if column is None:
            raise CannotRun(f"{found[0]} stands for a property, and the query stands under none")
        return ident(column.column)

    written = str(item.values["query"]).strip().removesuffix(";").rstrip()
    given = [name for name in OPERATORS if name in item.values]
    operators = tuple(Operator.of(name, _number(item.values[name])) for name in given)
    return Query(_PLACE.sub(filled, written), table, operators, name=item.name)


def _number(bound: Any) -> Any:
    """True is 1 and false is 0: a query may give either."""
    return int(bound) if isinstance(bound, bool) else bound
