"""The kinds of values that a property's types allow."""

from __future__ import annotations

from ldp_quality.checks.families import physical_family
from ldp_quality.checks.logical import LOGICAL, Part
from ldp_quality.contract.model import ContractProperty, ContractTable


def types_of(table: ContractTable) -> dict[str, tuple[str, ...]]:
    """Each column with the logical types that it may have; none where the contract says nothing of it.

    Either of the two types that a property may name is enough: ``logicalType: date`` with
    ``physicalType: timestamp`` is a date or a timestamp. A measure is no column.
    """
    return {item.column: accepted(item) for item in table.properties if not is_measure(item)}


def inside_of(table: ContractTable) -> dict[str, tuple[Part, ...]]:
    """What the columns have inside, where that has types that can be seen."""
    columns = [item for item in table.properties if item.parts and not is_measure(item)]
    return {item.column: _parts(item) for item in columns if not is_text(item)}


def is_text(item: ContractProperty) -> bool:
    """Whether it may be stored as a text that holds what is inside of it."""
    return "string" in accepted(item)


def _parts(item: ContractProperty) -> tuple[Part, ...]:
    """``items``, ``key`` and ``value`` stand in a key of their own, fields in ``properties``."""
    found = []
    for part in item.parts:
        name = part.origin.key.removeprefix(f"{item.origin.key}.").rpartition(".")[2]
        holder = {"items": "array", "key": "map", "value": "map"}.get(name)
        inner = () if is_text(part) else _parts(part)
        found.append(Part(name if holder else part.column, holder or "object", accepted(part), inner))
    return tuple(found)


def is_measure(item: ContractProperty) -> bool:
    """Whether it is computed from columns, and none itself."""
    return item.values.get("semanticType") == "measure"


def accepted(item: ContractProperty) -> tuple[str, ...]:
    """The logical types that a column may have."""
    logical, physical = item.logical_type, physical_family(item.physical_type)
    found = [logical] if logical else []
    if logical == "timestamp" and isinstance(item.options.get("timezone"), bool):
        words = {True: "timestamp with time zone", False: "timestamp without time zone"}
        return (words[item.options["timezone"]],)
    if physical:
        found += physical
    if logical == "string" and item.options.get("format") in ("binary", "byte"):
        found.append("binary")
    if logical == "string" and item.options.get("format") == "uuid":
        found.append("uuid")
    return tuple(dict.fromkeys(type_ for type_ in found if type_ in LOGICAL))
