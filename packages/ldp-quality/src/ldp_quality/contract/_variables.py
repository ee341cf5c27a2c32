"""``${NAME}`` in a contract: where its value comes from, and what happens without one.

A value given from outside (``--var``, ``quality.variables``, ``variables=``) stands above that in the
contract's own custom property ``variables``, which stands above the one that the place itself names:
``${NAME:-value}``. The environment of the process is never read by itself: a verdict hangs on what is written
down, and nobody who writes a contract learns what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ldp_core.config.names import nearest
from ldp_core.config.secrets import find_secrets, is_secret_key
from ldp_core.errors import ConfigError, Problem

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_PART = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")
PLACES = ("object", "table", "property", "column")
"""What stands for the table and the column of a query, and is no variable."""
PROPERTY = "variables"
"""The custom property of a contract that gives values."""


def variables(value: Any, known: tuple[str, ...] = ()) -> list[str]:
    """The names of the variables in all texts of a value, each once, without those that are known."""
    return list(dict.fromkeys(name for name in _found(value) if name not in known))


def without_value(names: list[str]) -> str:
    """Why what holds such a variable cannot run."""
    return f"the variable {names[0]} has no value; --var {names[0]}=VALUE gives it one"


def filled(data: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A contract's document with the values of its variables; those without one stay as they are.

    A text that is one variable alone becomes its value, also a number; keys for secrets keep their reference.

    Args:
        data: The document as it is written.
        given: Values from outside.
    """
    values = {**own(data), **(given or {})}
    found: dict[str, Any] = _fill(data, values)
    return found


def own(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a contract itself gives."""
    found: dict[str, Any] = {}
    for _, value in _properties(data):
        if isinstance(value, Mapping):
            found |= {str(name): item for name, item in value.items() if _is_scalar(item)}
    return found


def own_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the values that a contract itself gives."""
    for at, value in _properties(data):
        key = f"customProperties[{at}].value"
        if not isinstance(value, Mapping):
            yield Problem("must be an object of names and values, such as {MIN_ROWS: 100}", key=key)
            continue
        for name, item in value.items():
            for problem in problems_of(str(name), item):
                yield Problem(problem, key=f"{key}.{name}")


def problems_of(name: str, value: Any) -> Iterator[str]:
    """Why a variable cannot have such a name or value."""
    if not _NAME.fullmatch(name):
        yield "is no name of a variable: letters, digits and _"
    elif name in PLACES:
        yield f"stands for the {name} that a query looks at, and is no variable"
    elif is_secret_key(name) or find_secrets(value, name):
        yield "looks like a secret, and a variable may not hold one: it is shown in reports"
    elif not _is_scalar(value):
        yield "must be a text, a number, or true or false"


def unknown(names: Mapping[str, Any], used: Sequence[str]) -> Iterator[tuple[str, str, str | None]]:
    """Values that no place of the contract asks for: the name, the message, a hint."""
    known = ", ".join(used) or "none"
    for name in names:
        if name not in used:
            near = nearest(name, used)
            yield (
                name,
                f"the contract has no variable {name}; it has: {known}",
                f"did you mean {near}?" if near else None,
            )


def used(data: Mapping[str, Any]) -> list[str]:
    """The names of all variables of a document, as it is written."""
    return variables(data, PLACES)


def parsed(text: str) -> Any:
    """A value as a command line has it: a number and true or false are what they look like.

    ``"7"`` in quotes is a text.
    """
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _PART.fullmatch(text):
        return float(text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def checked(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Values that Python gives.

    Raises:
        ConfigError: One has no name of a variable, or is a secret or no plain value.
    """
    for name, value in (given or {}).items():
        for problem in problems_of(str(name), value):
            raise ConfigError(f"the variable {name} {problem}", key=f"variables.{name}")
    return dict(given or {})


def _fill(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _text(value, values)
    if isinstance(value, list):
        return [_fill(item, values) for item in value]
    if not isinstance(value, Mapping):
        return value
    name = value.get("property")
    if isinstance(name, str) and (name == PROPERTY or is_secret_key(name)):
        return dict(value)
    return {key: item if is_secret_key(str(key)) else _fill(item, values) for key, item in value.items()}


def _text(text: str, values: Mapping[str, Any]) -> Any:
    whole = _VARIABLE.fullmatch(text)
    if whole is not None and whole[1] not in PLACES:
        if whole[1] in values:
            return values[whole[1]]
        return text if whole[2] is None else parsed(whole[2])

    def shown(found: re.Match[str]) -> str:
        if found[1] in PLACES:
            return found[0]
        default = found[0] if found[2] is None else found[2]
        value = values.get(found[1], default)
        return str(value).lower() if isinstance(value, bool) else str(value)

    return _VARIABLE.sub(shown, text)


def _properties(data: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """The custom properties of a contract that give values, with their place in the list."""
    listed = data.get("customProperties")
    for at, item in enumerate(listed if isinstance(listed, list) else ()):
        if (
            isinstance(item, Mapping)
            and item.get("property") == PROPERTY
            and item.get("vendor") in (None, "ldp")
        ):
            yield at, item.get("value")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _found(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from (found[1] for found in _VARIABLE.finditer(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _found(item)
    elif isinstance(value, list):
        for item in value:
            yield from _found(item)
