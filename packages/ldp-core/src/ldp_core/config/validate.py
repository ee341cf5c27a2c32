"""Whether a value fits a shape: every problem, each with its key, what is wrong and what was meant."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ldp_core import registry
from ldp_core.config.fitting import UNKNOWN
from ldp_core.config.load import child, kind_of
from ldp_core.config.names import BY_TEXT, entry_of, ignored, nearest, plugin, words
from ldp_core.errors import Problem
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
)


def check(type: Type, value: Any, key: str = "") -> list[Problem]:
    """Check a value against a shape.

    Args:
        type: What the value may be.
        value: Plain data: None, booleans, numbers, texts, lists, mappings.
        key: The dotted key of the value, for the problems.

    Returns:
        Every problem found, in the order of the value; empty when it fits.
    """
    return _CHECKS[type.__class__](type, value, key)


def _wrong(expected: str, value: Any, key: str) -> list[Problem]:
    return [Problem(f"must be {expected}, not {kind_of(value)}", key=key)]


def shown(value: Any) -> str:
    """A scalar as JSON would show it, cut to a sane length, without secrets."""
    import json

    from ldp_core.config.secrets import mask

    text = mask(value) if isinstance(value, str) else value
    body = json.dumps(text, ensure_ascii=False, default=str)
    return body if len(body) <= 80 else f"{body[:77]}..."


def _text(type: Text, value: Any, key: str) -> list[Problem]:
    if not isinstance(value, str):
        return _wrong("a text", value, key)
    if type.choices and choice(type, value) is None:
        near = nearest(value, type.choices)
        hint = f"did you mean {near}?" if near else None
        return [Problem(f"must be one of {', '.join(type.choices)}, not {shown(value)}", key=key, hint=hint)]
    if type.pattern is not None and not re.search(type.pattern, value):
        if not value.strip():
            return [Problem("must not be empty", key=key)]
        if type.what is not None:
            return [Problem(f"must be {type.what}, not {shown(value)}", key=key)]
        return [Problem(f"{shown(value)} does not match {type.pattern}", key=key)]
    return []


def choice(type: Text, value: str) -> str | None:
    """The choice that a text stands for, in the spelling of the shape, or None."""
    for option in type.choices:
        if value == option or (type.ignore_case and value.lower() == option.lower()):
            return option
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _int(type: Int, value: Any, key: str) -> list[Problem]:
    whole = _is_number(value) and math.isfinite(value) and value == math.floor(value)
    if not whole:
        return (
            [Problem(f"must be a whole number, not {shown(value)}", key=key)]
            if _is_number(value)
            else _wrong("a whole number", value, key)
        )
    return _bounds(value, key, type.min, type.max, None)


def _number(type: Number, value: Any, key: str) -> list[Problem]:
    if not _is_number(value):
        return _wrong("a number", value, key)
    if not math.isfinite(value):
        return [Problem("must be a finite number", key=key)]
    return _bounds(value, key, type.min, type.max, type.above)


def _bounds(
    value: float, key: str, low: float | None, high: float | None, above: float | None
) -> list[Problem]:
    if low is not None and value < low:
        return [Problem(f"must be at least {low}, not {shown(value)}", key=key)]
    if above is not None and value <= above:
        return [Problem(f"must be more than {above}, not {shown(value)}", key=key)]
    if high is not None and value > high:
        return [Problem(f"must be at most {high}, not {shown(value)}", key=key)]
    return []


def _bool(type: Bool, value: Any, key: str) -> list[Problem]:
    return [] if isinstance(value, bool) else _wrong("true or false", value, key)


def _literal(type: Literal, value: Any, key: str) -> list[Problem]:
    same = value == type.value and isinstance(value, bool) == isinstance(type.value, bool)
    return [] if same else [Problem(f"must be {shown(type.value)}", key=key)]


def _scalar(type: Scalar, value: Any, key: str) -> list[Problem]:
    fits = isinstance(value, str | bool) or (_is_number(value) and math.isfinite(value))
    return [] if fits else _wrong("a text, a number, true or false", value, key)


def _anything(type: Anything, value: Any, key: str) -> list[Problem]:
    return []


def _list(type: ListOf, value: Any, key: str) -> list[Problem]:
    if not isinstance(value, list | tuple):
        return check(type.item, value, key) if type.or_single else _wrong("a list", value, key)
    if len(value) < type.min_items:
        what = "must not be empty" if type.min_items == 1 else f"needs at least {type.min_items} items"
        return [Problem(what, key=key)]
    return [problem for at, item in enumerate(value) for problem in check(type.item, item, f"{key}[{at}]")]


def _map(type: MapOf, value: Any, key: str) -> list[Problem]:
    if not isinstance(value, Mapping):
        return _wrong("an object", value, key)
    return [
        problem for name, item in value.items() for problem in check(type.value, item, child(key, str(name)))
    ]


def _one_of(type: OneOf, value: Any, key: str) -> list[Problem]:
    tried = [(candidate, check(candidate, value, key)) for candidate in type.types]
    if any(not problems for _, problems in tried):
        return []
    fitting = [item for item in tried if _fits_kind(item[0], value)]
    if all(isinstance(candidate, Literal) for candidate, _ in fitting):
        expected = " or ".join(dict.fromkeys(_kind_word(item) for item in type.types))
        if not fitting:
            return _wrong(expected, value, key)
        return [Problem(f"must be {expected}, not {shown(value)}", key=key)]
    return min(fitting, key=lambda item: (-_shared(item[0], value), len(item[1])))[1]


def _fits_kind(type: Type, value: Any) -> bool:
    match type:
        case Text():
            return isinstance(value, str)
        case Int() | Number():
            return _is_number(value)
        case Bool():
            return isinstance(value, bool)
        case Literal():
            return not isinstance(value, list | tuple | Mapping) and kind_of(value) == kind_of(type.value)
        case Scalar():
            return isinstance(value, str | int | float)
        case ListOf():
            return isinstance(value, list | tuple) or (type.or_single and _fits_kind(type.item, value))
        case OneOf():
            return any(_fits_kind(item, value) for item in type.types)
        case Anything():
            return True
        case _:
            return isinstance(value, Mapping)


def _kind_word(type: Type) -> str:
    match type:
        case Literal():
            return shown(type.value)
        case Text():
            return "a text"
        case Int():
            return "a whole number"
        case Number():
            return "a number"
        case Bool():
            return "true or false"
        case Scalar():
            return "a text or a number"
        case ListOf():
            return "a list"
        case _:
            return "an object"


def _shared(type: Type, value: Any) -> int:
    """How many keys of an object a shape knows."""
    if isinstance(type, Shape) and isinstance(value, Mapping):
        return len({key.name for key in type.keys} & set(value))
    return 0


def _named(type: Named, value: Any, key: str) -> list[Problem]:
    if type.group in BY_TEXT and isinstance(value, str):
        return [] if value.strip() else [Problem("must not be empty", key=key)]
    if not isinstance(value, Mapping):
        return _wrong("an object", value, key)
    here = child(key, type.by)
    if type.by not in value and type.default is None:
        known = ", ".join(words(type)) or "none"
        return [Problem("is required", key=here, hint=f"one of: {known}")]
    entry = entry_of(type, value)
    if entry is None:
        return _unknown_name(type, value.get(type.by), here)
    found = plugin(type, entry)
    if found.shape is None:
        error = found.error
        return [Problem(error.message, key=here, hint=error.hint)] if error else []
    return check(found.shape, value, key)


def _unknown_name(type: Named, word: Any, key: str) -> list[Problem]:
    if not isinstance(word, str):
        return _wrong("a text", word, key)
    known = words(type)
    package = registry.PACKAGES.get(type.group, {}).get(word)
    near = nearest(word, known)
    hint = f"pip install {package}" if package else f"did you mean {near}?" if near else None
    listed = ", ".join(known) or "none"
    return [Problem(f"unknown {type.by} {shown(word)}; known: {listed}", key=key, hint=hint)]


def _shape(type: Shape, value: Any, key: str) -> list[Problem]:
    if not isinstance(value, Mapping):
        return _wrong("an object", value, key)
    known = {item.name: item for item in type.keys}
    found: list[Problem] = []
    for name, item in value.items():
        here = child(key, str(name))
        if name in known:
            found += check(known[name].type, item, here)
        elif not ignored(str(name)):
            near = nearest(str(name), [other for other in known if other not in value])
            found.append(Problem(UNKNOWN, key=here, hint=_key_hint(near, known)))
    found += [
        Problem("is required", key=child(key, item.name))
        for item in type.keys
        if item.required and item.name not in value
    ]
    for group in type.exactly_one:
        found += _one(group, value, key, needed=True)
    for group in type.at_most_one:
        found += _one(group, value, key, needed=False)
    return found


def _key_hint(near: str | None, known: Mapping[str, Any]) -> str:
    if near:
        return f"did you mean {near}?"
    return f"known keys: {', '.join(known)}" if known else "no key is known here"


def _one(group: tuple[str, ...], value: Mapping[str, Any], key: str, *, needed: bool) -> list[Problem]:
    given = [name for name in group if name in value]
    if len(given) > 1:
        return [Problem(f"only one of {_or(group)} may be given, not {' and '.join(given)}", key=key)]
    if needed and not given:
        return [Problem(f"needs {'exactly one of ' if len(group) > 1 else ''}{_or(group)}", key=key)]
    return []


def _or(group: tuple[str, ...]) -> str:
    return " or ".join(group)


_CHECKS: dict[Any, Callable[[Any, Any, str], list[Problem]]] = {
    Text: _text,
    Int: _int,
    Number: _number,
    Bool: _bool,
    Literal: _literal,
    Scalar: _scalar,
    Anything: _anything,
    ListOf: _list,
    MapOf: _map,
    OneOf: _one_of,
    Named: _named,
    Shape: _shape,
}
