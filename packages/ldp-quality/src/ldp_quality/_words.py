"""Other words for what a rule says: those of the standard's examples and of other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.errors import ConfigError

ON_FAILURE = ("on_fail", "onFail", "onFailure")
"""Other words for ``on_failure``."""
_ABOVE = {
    name: (f"{side}_above", percent)
    for side in ("warn", "fail")
    for percent, names in (
        (False, (f"{side}Above", f"{side}IfGreaterThan", f"{side}_if_greater_than")),
        (True, (f"{side}IfPercentGreaterThan", f"{side}_if_percent_greater_than")),
    )
    for name in names
}
ALIASES: Mapping[str, str] = {
    **dict.fromkeys(ON_FAILURE, "on_failure"),
    **{name: word for name, (word, _) in _ABOVE.items()},
}
"""Each other word, and ours."""
PERCENT = frozenset(name for name, (_, percent) in _ABOVE.items() if percent)
"""Those whose numbers are percent."""
_PARTS = frozenset(name for name in _ABOVE if "if" in name.lower())
"""Those that say one of two limits: a number of rows, or a share."""


def in_our_words(item: Mapping[str, Any]) -> dict[str, Any]:
    """A rule or a section with our words for its keys; a number of rows and a share add up to a list.

    Raises:
        ConfigError: Two words for one thing say different things; names both.
    """
    found = {name: value for name, value in item.items() if name not in ALIASES}
    for word in dict.fromkeys(ALIASES[name] for name in item if name in ALIASES):
        given = [(name, value) for name, value in item.items() if name == word or ALIASES.get(name) == word]
        found[word] = _one(word, given)
    return found


def _one(word: str, given: list[tuple[str, Any]]) -> Any:
    """What several words for one thing say together."""
    said = [(name, value) for name, value in given if name not in _PARTS]
    parts = [(name, _part(name, value)) for name, value in given if name in _PARTS]
    kinds = [[part for part in parts if (part[0] in PERCENT) is percent] for percent in (False, True)]
    for same in kinds:
        _agree(same)
    together = [same[0] for same in kinds if same]
    if together:
        values = [value for _, value in together]
        named = " and ".join(name for name, _ in together)
        said.append((named, values[0] if len(values) == 1 else values))
    _agree(said)
    return dict(said).get(word, said[0][1])


def _agree(said: list[tuple[str, Any]]) -> None:
    for name, value in said[1:]:
        if _folded(value) != _folded(said[0][1]):
            first, other = said[0]
            raise ConfigError(f"{first} is {other}, and {name}, which means the same, is {value}", key=name)


def _part(name: str, value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}%" if name in PERCENT and number else value


def _folded(value: Any) -> Any:
    """Spelling aside: ``FAIL`` is ``fail``, ``5 %`` is ``5.0%``, a list of one is that one."""
    if isinstance(value, list | tuple):
        return _folded(value[0]) if len(value) == 1 else sorted(str(_folded(part)) for part in value)
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    try:
        return f"{float(text.removesuffix('%')):g}%" if text.endswith("%") else text
    except ValueError:
        return text
