"""``${NAME}``: a variable, which nothing here gives a value to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")


def variables(value: Any, known: tuple[str, ...] = ()) -> list[str]:
    """The names of the variables in all texts of a value, each once, without those that are known."""
    return list(dict.fromkeys(name for name in _found(value) if name not in known))


def _found(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _VARIABLE.findall(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _found(item)
    elif isinstance(value, list):
        for item in value:
            yield from _found(item)
