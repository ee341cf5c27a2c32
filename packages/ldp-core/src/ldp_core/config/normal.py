"""A value in its one canonical spelling: what a plugin reads after validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ldp_core.config.names import entry_of, ignored, plugin
from ldp_core.config.validate import check, choice
from ldp_core.shape import Int, ListOf, MapOf, Named, OneOf, Shape, Text, Type


def normalise(type: Type, value: Any) -> Any:
    """Resolve aliases and spellings: a lone item to a list, choices and names as declared.

    Remarks (``$schema``, ``x-*``) are dropped, defaults are not filled in except the key that names a
    plugin. What does not fit the shape is left as it is.
    """
    match type:
        case Text() if isinstance(value, str):
            return (choice(type, value) or value) if type.choices else value
        case Int() if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            return int(value)
        case ListOf():
            if isinstance(value, list | tuple):
                return [normalise(type.item, item) for item in value]
            return [normalise(type.item, value)] if type.or_single else value
        case MapOf() if isinstance(value, Mapping):
            return {str(name): normalise(type.value, item) for name, item in value.items()}
        case OneOf():
            for candidate in type.types:
                if not check(candidate, value):
                    return normalise(candidate, value)
            return value
        case Named() if isinstance(value, Mapping):
            return _named(type, value)
        case Shape() if isinstance(value, Mapping):
            known = {key.name: key.type for key in type.keys}
            return {
                str(name): normalise(known[name], item) if name in known else item
                for name, item in value.items()
                if name in known or not ignored(str(name))
            }
    return value


def _named(type: Named, value: Mapping[str, Any]) -> Any:
    entry = entry_of(type, value)
    shape = plugin(type, entry).shape if entry is not None else None
    if entry is None or shape is None:
        return dict(value)
    return {**normalise(shape, value), type.by: entry}
