"""Shapes as JSON Schema (draft 2020-12), so that an editor knows what ``check`` knows."""

from __future__ import annotations

import re
from typing import Any

from ldp_core.config.names import BY_TEXT, plugin, words
from ldp_core.shape import (
    Anything,
    Bool,
    Int,
    ListOf,
    Literal,
    MapOf,
    Named,
    Number,
    OneOf,
    Scalar,
    Shape,
    Text,
    Type,
    Variant,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REMARKS: dict[str, Any] = {"^x-": {}, "^\\$schema$": {}}


def render(type: Type, *, title: str | None = None) -> dict[str, Any]:
    """A self-contained JSON Schema that accepts what ``check`` accepts.

    Args:
        type: A shape, or any other type.
        title: What the document is called.
    """
    writer = _Writer()
    body = writer.of(type)
    head: dict[str, Any] = {"$schema": DRAFT}
    if title:
        head["title"] = title
    return {**head, **body, **({"$defs": dict(sorted(writer.defs.items()))} if writer.defs else {})}


class _Writer:
    """Renders types; the objects of plugins stand once each, in ``defs``."""

    def __init__(self) -> None:
        self.defs: dict[str, Any] = {}
        self._seen: list[tuple[Named, str]] = []

    def of(self, type: Type) -> dict[str, Any]:
        match type:
            case Text():
                return _text(type)
            case Int():
                return _with({"type": "integer"}, minimum=type.min, maximum=type.max)
            case Number():
                return _with(
                    {"type": "number"}, minimum=type.min, maximum=type.max, exclusiveMinimum=type.above
                )
            case Bool():
                return {"type": "boolean"}
            case Literal():
                return {"const": type.value}
            case Scalar():
                return {"type": ["string", "number", "boolean"]}
            case Anything():
                return {}
            case ListOf():
                return self.list_of(type)
            case MapOf():
                return {"type": "object", "additionalProperties": self.of(type.value)}
            case OneOf():
                return {"anyOf": [self.of(item) for item in type.types]} if type.types else {"not": {}}
            case Named():
                return self.named(type)
            case Shape():
                return self.shape(type)

    def list_of(self, type: ListOf) -> dict[str, Any]:
        item = self.of(type.item)
        many: dict[str, Any] = {"type": "array", "items": item}
        if type.min_items:
            many["minItems"] = type.min_items
        return {"anyOf": [many, item]} if type.or_single else many

    def shape(self, type: Shape) -> dict[str, Any]:
        properties = {}
        for key in type.keys:
            body = self.of(key.type)
            if key.doc:
                body = {**body, "description": key.doc}
            if key.default is not None:
                body = {**body, "default": key.default}
            properties[key.name] = body
        found: dict[str, Any] = {"type": "object"}
        if type.doc:
            found["description"] = type.doc
        found["properties"] = properties
        required = [key.name for key in type.keys if key.required]
        if required:
            found["required"] = required
        found["patternProperties"] = _REMARKS
        found["additionalProperties"] = False
        rules: list[dict[str, Any]] = [
            {"oneOf": [{"required": [name]} for name in group]} for group in type.exactly_one
        ]
        rules += [
            {"not": {"required": [one, other]}}
            for group in type.at_most_one
            for at, one in enumerate(group)
            for other in group[at + 1 :]
        ]
        if rules:
            found["allOf"] = rules
        return found

    def named(self, type: Named) -> dict[str, Any]:
        known = next((name for other, name in self._seen if other == type), None)
        if known is None:
            taken = sum(other.group == type.group for other, _ in self._seen)
            known = f"{type.group}.{taken + 1}" if taken else type.group
            self._seen.append((type, known))
            self.defs[known] = self._named(type, known)
        return {"$ref": f"#/$defs/{known}"}

    def _named(self, type: Named, name: str) -> dict[str, Any]:
        known = words(type)
        by = {"anyOf": [{"enum": list(known)}, {"pattern": any_case(known)}]} if known else {}
        found: dict[str, Any] = {"type": "object", "properties": {type.by: {"type": "string", **by}}}
        if type.default is None:
            found["required"] = [type.by]
        branches = []
        for word, entry in known.items():
            variants = [item for item in type.variants if item.name.lower() == word.lower()]
            branches += [
                {"if": _holds(type.by, word, item), "then": self._branch(type, item.entry, name)}
                for item in variants
            ]
            condition = _holds(type.by, word)
            if variants:
                condition["not"] = {"anyOf": [_holds(type.by, word, item) for item in variants]}
            branches.append({"if": condition, "then": self._branch(type, entry, name)})
        if type.default is not None:
            then = self._branch(type, known.get(type.default, type.default), name)
            branches.append({"if": {"not": {"required": [type.by]}}, "then": then})
        found["allOf"] = branches
        if not branches:
            del found["allOf"]
        if type.group in BY_TEXT:
            return {"anyOf": [{"type": "string", "pattern": "\\S"}, found]}
        return found

    def _branch(self, type: Named, entry: str, prefix: str) -> Any:
        """A reference to the shape of a plugin; false where it is not there or does not load."""
        if entry not in words(type):
            return False
        name = f"{prefix}.{entry}"
        if name not in self.defs:
            self.defs[name] = {}  # stands for itself should the shape hold objects of its own kind
            shape = plugin(type, entry).shape
            self.defs[name] = False if shape is None else self.shape(shape)
        return {"$ref": f"#/$defs/{name}"}


def _holds(by: str, word: str, variant: Variant | None = None) -> dict[str, Any]:
    """The condition that an object is of a kind."""
    wanted = {by: word} if variant is None else {by: word, variant.key: variant.value}
    return {
        "required": list(wanted),
        "properties": {
            key: {"type": "string", "pattern": any_case([value])} for key, value in wanted.items()
        },
    }


def any_case(options: Any) -> str:
    """A pattern, in JavaScript's and Python's regex language alike, for words in any case."""
    spelled = ("".join(_letter(char) for char in word) for word in options)
    return f"^(?:{'|'.join(spelled)})$"


def _letter(char: str) -> str:
    low, up = char.lower(), char.upper()
    return f"[{low}{up}]" if low != up else re.escape(char)


def _text(type: Text) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "string"}
    if type.choices and type.ignore_case:
        found["anyOf"] = [{"enum": list(type.choices)}, {"pattern": any_case(type.choices)}]
    elif type.choices:
        found["enum"] = list(type.choices)
    if type.pattern is not None:
        found["pattern"] = type.pattern
    return found


def _with(body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**body, **{name: value for name, value in more.items() if value is not None}}
