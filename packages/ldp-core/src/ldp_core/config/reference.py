"""The reference of every config key as Markdown, drawn from the shapes of what is installed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ldp_core import registry
from ldp_core.config.catalogs import CATALOG, PROJECT
from ldp_core.config.names import NAMING, plugin, words
from ldp_core.config.pipeline import (
    SECTION_DOCS,
    SOURCE,
    TARGET,
    metadata_shape,
    pipeline_shape,
    sections,
    transform_shapes,
)
from ldp_core.shape import (
    Anything,
    Bool,
    Int,
    Key,
    ListOf,
    Literal,
    MapOf,
    Named,
    Number,
    OneOf,
    Shape,
    Text,
    Type,
)

_INTRO = """\
A config is JSON or YAML (the 1.2 core schema: dates stay text, only `true` and `false` are booleans).
A key that is not listed here is an error; `$schema` and keys that start with `x-` are remarks and may
stand anywhere. Relative paths start at the config's folder. Secrets are refused: keys that end in `_env`
name an environment variable instead. `ldp schema` prints the same as JSON Schema.
"""
_GROUPS = {
    "ldp.sources": "[source](#sources)",
    "ldp.targets": "[target](#targets)",
    "ldp.catalogs": "[catalog](#catalogs)",
    "ldp.checks": "[check](#checks)",
    "ldp.event_sinks": "[sink](#sinks)",
}


def render() -> str:
    """The whole page, beginning with its title."""
    lines = ["# Configuration", "", _INTRO]
    lines += ["## The file", "", *_rows(pipeline_shape(only=()).keys, nested=False)]
    lines += ["## metadata", "", *_rows(_linked(metadata_shape(only=()).keys))]
    lines += _plugins("Sources", "`metadata.source`, by its `format` (in any case).", SOURCE)
    lines += _plugins("Targets", "`metadata.target`, by its `format` (in any case).", TARGET)
    lines += _plugins("Catalogs", "`catalog` of a source or a target, by its `type`.", CATALOG)
    lines += ["## Transforms", "", "`metadata.transforms` is a list of these, in order.", ""]
    for name, shape in transform_shapes():
        lines += _object(name, shape, 3)
    if "quality" in sections():
        lines += _plugins(
            "Checks", "Items of `metadata.quality`, by their `check`.", Named("ldp.checks", "check")
        )
        lines += ["### Every check", "", "Besides its own keys, any check may have these.", ""]
        lines += _rows(_also(registry.load("ldp.sections", "quality").shape, "ldp.checks"))
    lines += ["## Sections", ""]
    for name in sections():
        lines += [f"### {name}", "", SECTION_DOCS.get(name, ""), ""]
        lines += _body(registry.load("ldp.sections", name).shape, 4)
    lines += _plugins("Sinks", "Items of `metadata.observability.sinks`.", Named("ldp.event_sinks", "type"))
    lines += ["## ldp.yaml", "", PROJECT.doc, "", *_table(PROJECT)]
    lines += [
        "A catalog in it is an object of [catalogs](#catalogs); its relative paths start at its folder."
    ]
    return "\n".join(lines).rstrip() + "\n"


def _linked(keys: tuple[Key, ...]) -> Iterator[Key]:
    """The keys of ``metadata`` that are installed; sections with a link to their own part."""
    for key in keys:
        if key.name in sections():
            yield replace(key, doc=f"[{key.name}](#{key.name}): {key.doc}")
        elif key.name == "transforms":
            yield replace(key, doc=f"[transforms](#transforms): {key.doc}")
        elif key.name not in SECTION_DOCS:
            yield key


def _plugins(title: str, intro: str, named: Named) -> Iterator[str]:
    yield from (f"## {title}", "", intro, "")
    known = words(named)
    for entry in registry.names(named.group):
        shape = plugin(named, entry).shape
        if shape is None:
            continue
        others = [f"`{word}`" for word, meant in known.items() if meant == entry and word != entry]
        others += [
            f"`{item.name}` with {item.key} `{item.value}`" for item in named.variants if item.entry == entry
        ]
        keys = [
            replace(key, type=Literal(entry), doc=key.doc if key.doc != NAMING else f"Makes it {entry}.")
            if key.name == named.by
            else key
            for key in shape.keys
        ]
        shape = replace(shape, keys=tuple(keys))
        yield from _object(entry, shape, 3, f"Also written {', '.join(others)}." if others else "")


def _also(type: Type, group: str) -> tuple[Key, ...]:
    """The keys that every object of a group may have, wherever the group is named in a type."""
    match type:
        case Named(group=found):
            return type.also if found == group else ()
        case ListOf():
            return _also(type.item, group)
        case OneOf():
            return next(filter(None, (_also(item, group) for item in type.types)), ())
        case Shape():
            return next(filter(None, (_also(key.type, group) for key in type.keys)), ())
        case _:
            return ()


def _object(title: str, shape: Shape, level: int, more: str = "") -> Iterator[str]:
    yield from (f"{'#' * level} {title}", "")
    text = " ".join(part for part in (shape.doc, more) if part)
    if text:
        yield from (_line(text), "")
    yield from _table(shape)


def _body(type: Type, level: int) -> Iterator[str]:
    """What a section may be: its kinds in a line, then the tables of its objects."""
    if isinstance(type, Shape):
        yield from _table(type)
        return
    yield from (f"{_kind(type)}.", "")
    for shape in _shapes_in(type):
        yield from _table(shape)


def _table(shape: Shape) -> Iterator[str]:
    yield from _rows(shape.keys)
    for group in shape.exactly_one:
        yield from (f"Exactly one of {_list_of(group)}.", "")
    for group in shape.at_most_one:
        yield from (f"At most one of {_list_of(group)}.", "")


def _rows(keys: Iterable[Key], *, nested: bool = True) -> Iterator[str]:
    yield from ("| key | value | default | |", "|---|---|---|---|")
    for key in keys:
        yield _row(key, "")
        for inner in _shapes_in(key.type) if nested else ():
            mark = "[]" if _in_list(key.type) else ""
            yield from (_row(sub, f"{key.name}{mark}.") for sub in inner.keys)
    yield ""


def _row(key: Key, around: str) -> str:
    default = "required" if key.required else f"`{_json(key.default)}`" if key.default is not None else ""
    kind = "" if isinstance(key.type, Anything) else _kind(key.type)
    cells = (f"`{around}{key.name}`", kind, default, key.doc)
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _shapes_in(type: Type) -> list[Shape]:
    """The objects with known keys that stand in a value, one level deep."""
    match type:
        case Shape():
            return [type]
        case ListOf():
            return _shapes_in(type.item)
        case OneOf():
            return [shape for item in type.types for shape in _shapes_in(item)]
        case _:
            return []


def _in_list(type: Type) -> bool:
    return isinstance(type, ListOf) or (isinstance(type, OneOf) and any(map(_in_list, type.types)))


def _kind(type: Type) -> str:
    """What a value may be, in a few words."""
    match type:
        case Text():
            return ", ".join(f"`{word}`" for word in type.choices) if type.choices else "text"
        case Int():
            return f"whole number{_span(type.min, type.max)}"
        case Number():
            above = f" above {type.above}" if type.above is not None else ""
            return f"number{above}{_span(type.min, type.max)}"
        case Bool():
            return "true or false"
        case Literal():
            return f"`{_json(type.value)}`"
        case ListOf():
            one = " (or one alone)" if type.or_single else ""
            return f"list of {_kind(type.item)}{one}"
        case MapOf():
            return f"object of free keys to {_kind(type.value)}"
        case OneOf():
            return " or ".join(dict.fromkeys(_kind(item) for item in type.types))
        case Named():
            return _GROUPS.get(type.group, "object")
        case Shape():
            return "object"
        case Anything():
            return "anything"
        case _:
            return "text, number, true or false"


def _span(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" from {low}"
    return f" up to {high}" if high is not None else ""


def _list_of(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=list)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")
