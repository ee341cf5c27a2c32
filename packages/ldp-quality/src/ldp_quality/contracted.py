"""The contract that a config points at: its rules are checks like any other, its words describe the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ldp_core.errors import ConfigError, Problem
from ldp_core.spi import Spec

from ldp_quality.contract._variables import unknown
from ldp_quality.contract.model import Contract, ContractTable
from ldp_quality.policy import effective
from ldp_quality.rule import Rule
from ldp_quality.section import contract_path, variables_of


@dataclass(frozen=True)
class Contracted:
    """A contract, and the table of it that a config loads.

    Attributes:
        contract: The contract.
        table: The table.
    """

    contract: Contract
    table: ContractTable

    def rules(self) -> tuple[Rule, ...]:
        """What must be true of the table, with what the contract says of failures."""
        said = self.contract.on_failure
        found = tuple(item.rule for item in self.contract.rules(self.table.name))
        if said is None:
            return found
        return tuple(replace(rule, on_failure=effective(rule, None, said)) for rule in found)

    def docs(self) -> dict[str, Any]:
        """What it says of the table, as ``metadata.docs`` has it; only what is said."""
        columns = {item.column: item.description for item in self.table.properties if item.description}
        found = {
            "description": self.table.description or self.contract.description,
            "owner": self.contract.owner,
            "grain": self.table.grain,
            "primary_key": list(self.table.primary_key),
            "tags": list(dict.fromkeys((*self.contract.tags, *self.table.tags))),
            "columns": columns,
        }
        return {name: value for name, value in found.items() if value}


def find(section: Any, spec: Spec) -> Contracted | None:
    """The contract of a config and its table; None where the section names none.

    Raises:
        ConfigError: It is not there or has errors, or has no table of that name.
    """
    path = contract_path(section, spec)
    if path is None:
        return None
    contract = Contract.from_file(path, variables_of(section))
    return Contracted(contract, _table(contract, spec))


def problems(section: Any, spec: Spec) -> list[Problem]:
    """What is wrong with the contract, each with the contract's own file and line."""
    from ldp_quality.contract.read import read

    path = contract_path(section, spec)
    if path is None:
        return []
    if not Path(path).is_file():
        return [Problem(f"there is no file {section['contract']}", key="contract")]
    try:
        contract, found = read(path, variables_of(section))
        if contract is not None and not any(item.severity == "error" for item in found):
            _table(contract, spec)
    except ConfigError as error:
        return [*error.problems] or [
            Problem(error.message, key="contract", hint=error.hint, file=error.file, line=error.line)
        ]
    known = contract.variables if contract is not None else tuple(variables_of(section))
    strange = [
        Problem(message, key=f"variables.{name}", hint=hint)
        for name, message, hint in unknown(variables_of(section), known)
    ]
    return [*found, *strange]


def _table(contract: Contract, spec: Spec) -> ContractTable:
    """The table that the config loads: by the target's name, or the only one there is.

    Raises:
        ConfigError: There are several, and none has the name.
    """
    target = spec.get("target")
    name = target.get("name") if isinstance(target, Mapping) else None
    if len(contract.tables) == 1 or not isinstance(name, str):
        return contract.table()
    return contract.table(name)
