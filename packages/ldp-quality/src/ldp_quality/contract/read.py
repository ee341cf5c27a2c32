"""From a contract file to a contract, with everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ldp_core.config.load import Document
from ldp_core.errors import Problem

from ldp_quality.contract.load import load
from ldp_quality.contract.model import (
    Contract,
    ContractProperty,
    ContractTable,
    Origin,
    QualityItem,
    ServiceLevel,
)


def read(
    path: str | Path, variables: Mapping[str, Any] | None = None
) -> tuple[Contract | None, tuple[Problem, ...]]:
    """Read a contract file.

    Args:
        path: A JSON or YAML file.
        variables: Values of its variables, above those that it gives itself.

    Returns:
        The contract, None where the file has errors that leave none; and all that is wrong with it.

    Raises:
        ConfigError: It is not there, or not JSON or YAML.
    """
    from ldp_quality.contract.rules import rules_of

    loaded = load(path, variables)
    if loaded.problems or loaded.open:
        return None, (*loaded.problems, *loaded.open)
    contract = replace(contract_of(loaded.document), variables=loaded.variables)
    _, problems = rules_of(contract)
    return contract, tuple(loaded.placed(problem) for problem in problems)


def contract_of(document: Document) -> Contract:
    """The contract of a document that keeps to the standard."""
    return _Reader(document).contract()


class _Reader:
    """Makes the parts of one document, each with its place."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def contract(self) -> Contract:
        data = self._document.data
        return Contract(
            id=data["id"],
            version=data["version"],
            api_version=data["apiVersion"],
            tables=tuple(
                self._table(item, f"schema[{at}]") for at, item in enumerate(data.get("schema") or ())
            ),
            service_levels=tuple(self._levels(data)),
            values=data,
            file=self._document.name,
            lines=self._document,
        )

    def _origin(self, key: str) -> Origin:
        return Origin(self._document.name, self._document.line_of(key), key)

    def _table(self, data: Mapping[str, Any], key: str) -> ContractTable:
        return ContractTable(
            name=data["name"],
            physical_name=data.get("physicalName") or data["name"],
            values=data,
            origin=self._origin(key),
            properties=self._properties(data.get("properties"), f"{key}.properties"),
            quality=self._quality(data, key),
        )

    def _properties(self, data: Sequence[Any] | None, key: str) -> tuple[ContractProperty, ...]:
        return tuple(self._property(item, f"{key}[{at}]") for at, item in enumerate(data or ()))

    def _property(self, data: Mapping[str, Any], key: str, name: str = "") -> ContractProperty:
        parts = [*self._properties(data.get("properties"), f"{key}.properties")]
        if "items" in data:
            parts.append(self._property(data["items"], f"{key}.items", "items"))
        for name_of in ("key", "value"):
            if name_of in (data.get("map") or {}):
                parts.append(self._property(data["map"][name_of], f"{key}.map.{name_of}", name_of))
        called = data.get("name") or name
        return ContractProperty(
            name=called,
            column=data.get("physicalName") or called,
            values=data,
            origin=self._origin(key),
            quality=self._quality(data, key),
            parts=tuple(parts),
        )

    def _quality(self, data: Mapping[str, Any], key: str) -> tuple[QualityItem, ...]:
        return tuple(
            QualityItem(_type(item), item, self._origin(f"{key}.quality[{at}]"))
            for at, item in enumerate(data.get("quality") or ())
        )

    def _levels(self, data: Mapping[str, Any]) -> Iterator[ServiceLevel]:
        default = data.get("slaDefaultElement")
        for at, item in enumerate(data.get("slaProperties") or ()):
            element = item.get("element") or default or ""
            yield ServiceLevel(
                property=item["property"],
                value=item["value"],
                unit=item.get("unit"),
                elements=tuple(part.strip() for part in element.split(",") if part.strip()),
                values=item,
                origin=self._origin(f"slaProperties[{at}]"),
            )


def _type(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or ("sql" if "query" in item and "metric" not in item else "library"))
