"""What ``ldp health`` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core._output import note, print_json, say

from ldp_maintenance.commands import _options


def show(given: Mapping[str, Any]) -> int:
    """Grade the tables that a command line names; 1 where one of them cannot be looked at."""
    from ldp_core.errors import LDPError

    from ldp_maintenance.addressing import Neighbours, find
    from ldp_maintenance.commands._run import lost_of, say_error
    from ldp_maintenance.health import health

    address = _options.address(given)
    found = find(address)
    several = address.every or (address.table_config is not None and address.word is None)
    neighbours = Neighbours(found.catalog)
    lost = list(lost_of(found))
    graded = []
    for identifier in found.identifiers:
        try:
            target = found.target(identifier)
            graded.append(health(target, wins=bool(given.get("wins", True)), neighbours=neighbours))
        except LDPError as error:
            if not several:
                raise
            lost.append((".".join(identifier), error.to_dict(), str(error)))
    for _, _, text in lost:
        say_error(text)
    if given.get("as_json"):
        bodies = [one.to_dict() for one in graded]
        if not several and not lost:
            print_json(bodies[0])
        else:
            told = [{"table": table, "error": error} for table, error, _ in lost]
            print_json({"tables": bodies, **({"lost": told, "error": told[0]["error"]} if told else {})})
        return 1 if lost else 0
    for one in sorted(graded, key=lambda item: item.grade, reverse=True):
        say(f"{one.table}: {one.grade}")
        for line in one.lines():
            say(f"  {line}")
    if several and not graded and not lost:
        note("there is no table")
    return 1 if lost else 0
