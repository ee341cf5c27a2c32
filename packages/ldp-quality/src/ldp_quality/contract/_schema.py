"""The JSON Schema of the standard as each of its versions has it.

The schema that ``open-data-contract-standard`` ships is that of 3.2.0. Earlier versions are the same document
with fewer keys, and 3.0.2 is looser and spells two things differently; what differs is written down here.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSIONS = ("v3.0.2", "v3.1.0", "v3.2.0")
"""What ``apiVersion`` may be."""
NEWEST = VERSIONS[-1]

SINCE: dict[str, dict[str, tuple[str, ...]]] = {
    "v3.2.0": {
        "": ("context",),
        "SchemaElement": ("deprecated", "synonyms"),
        "SchemaObject": ("context",),
        "SchemaBaseProperty": ("enum", "semanticType"),
        "CustomProperty": ("vendor",),
        "ServiceLevelAgreementProperty": ("customProperties", "authoritativeDefinitions"),
        "RelationshipBase": ("id",),
    },
    "v3.1.0": {
        "SchemaElement": ("id",),
        "SchemaObject": ("relationships",),
        "SchemaBaseProperty": ("relationships",),
    },
}
"""The keys that a version brought, by the definition that holds them, where older versions refuse them."""
TYPES_SINCE = {"v3.2.0": ("map", "vector"), "v3.1.0": ("timestamp", "time")}
"""The logical types that a version brought."""
SERVERS_SINCE = {
    "v3.2.0": (
        *("btrieve", "exasol", "fastobjects", "hana", "iceberg", "ingres", "poet", "teradata"),
        *("vectorwise", "versant"),
    ),
    "v3.1.0": ("hive", "impala", "zen"),
}
"""The types of servers that a version brought."""
LOOSE_BEFORE_3_1 = (
    "Server",
    "DataQuality",
    "CustomProperty",
    "Pricing",
    "TeamMember",
    "Role",
    "ServiceLevelAgreementProperty",
    "SupportItem",
)
"""What took keys that the standard does not know until 3.1.0."""


@functools.cache
def schema_of(version: str) -> Mapping[str, Any]:
    """The JSON Schema of one version of the standard."""
    schema = _shipped()
    defs = schema["$defs"]
    _guard_types(defs)
    if version != NEWEST:
        _without(schema, "v3.2.0")
        schema["required"].append("status")
    if version == "v3.0.2":
        _without(schema, "v3.1.0")
        schema["properties"]["team"] = schema["properties"]["team"]["oneOf"][1]
        _loosen(defs)
    return schema


def _shipped() -> dict[str, Any]:
    import open_data_contract_standard as odcs

    text = Path(odcs.__file__).with_name("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _guard_types(defs: dict[str, Any]) -> None:
    """What holds of one logical type is not asked of a property that names none.

    As shipped, each condition is also true where ``logicalType`` is absent, so that a property without a
    type would need a ``map``.
    """
    for part in defs["SchemaBaseProperty"]["allOf"]:
        for condition in (part.get("if", {}), *part.get("if", {}).get("anyOf", ())):
            if "logicalType" in condition.get("properties", {}):
                condition["required"] = ["logicalType"]


def _without(schema: dict[str, Any], version: str) -> None:
    """Take out what a version brought."""
    for name, keys in SINCE[version].items():
        holder = schema["$defs"][name] if name else schema
        for key in keys:
            holder["properties"].pop(key, None)
    choices = (("SchemaBaseProperty", "logicalType", TYPES_SINCE), ("Server", "type", SERVERS_SINCE))
    for name, key, since in choices:
        holder = schema["$defs"][name]["properties"][key]
        holder["enum"] = [item for item in holder["enum"] if item not in since[version]]


def _loosen(defs: dict[str, Any]) -> None:
    """3.0.2: unknown keys in many places, ``rule`` for ``metric``, exclusive bounds as true or false."""
    for name in LOOSE_BEFORE_3_1:
        for word in ("unevaluatedProperties", "additionalProperties"):
            defs[name].pop(word, None)
    defs["AuthoritativeDefinitions"]["items"].pop("additionalProperties", None)
    for name in ("CustomProperty", "TeamMember"):
        defs[name].pop("required", None)
    defs["SupportItem"]["required"] = ["channel", "url"]
    for part in defs["SchemaBaseProperty"]["allOf"]:
        options = part.get("then", {}).get("properties", {}).get("logicalTypeOptions", {})
        for key in ("exclusiveMinimum", "exclusiveMaximum"):
            if key in options.get("properties", {}):
                bound = options["properties"][key]
                bound["type"] = ["boolean", bound["type"]]
    library = defs["DataQualityLibrary"]
    del library["required"]
    library["anyOf"] = [{"required": ["metric"]}, {"required": ["rule"]}]
    operators = defs["DataQualityOperators"]
    operators["properties"] = {
        name: type_ for one in operators.pop("oneOf") for name, type_ in one["properties"].items()
    }
    defs["DataQualitySql"].pop("allOf")
    untyped = {"not": {"required": ["type"]}}
    defs["DataQuality"]["allOf"][0]["if"]["anyOf"].append(untyped)
