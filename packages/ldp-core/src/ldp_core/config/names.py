"""Which plugin a ``Named`` object means, and the words that name it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from ldp_core import registry
from ldp_core.errors import LDPError
from ldp_core.shape import Key, Named, Shape, Text

NAMING = "The kind."
"""What the key that names a plugin says of itself where the plugin says nothing."""
BY_TEXT = frozenset({"ldp.catalogs"})
"""Groups whose object may be written as a lone text: the name it has in ``ldp.yaml``."""


@dataclass(frozen=True)
class Found:
    """The plugin that an object means.

    Attributes:
        entry: Its entry name.
        shape: Its shape, with the keys that every object of the kind may have; None when it does not load.
        error: Why it does not load.
    """

    entry: str
    shape: Shape | None = None
    error: LDPError | None = None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that the user most likely meant, or None."""
    folded = {_fold(name): name for name in known}
    close = get_close_matches(_fold(word), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")


def ignored(key: str) -> bool:
    """Whether a key of an object is a remark that nothing reads."""
    return key == "$schema" or key.startswith("x-")


def entry_of(named: Named, values: Mapping[str, Any]) -> str | None:
    """The entry name of the plugin that an object means, or None where no such plugin is installed."""
    word = values.get(named.by, named.default)
    if not isinstance(word, str):
        return None
    for variant in named.variants:
        other = values.get(variant.key)
        if _same(word, variant.name) and isinstance(other, str) and _same(other, variant.value):
            return registry.find(named.group, variant.entry)
    for alias, entry in named.aliases.items():
        if _same(word, alias):
            return registry.find(named.group, entry)
    return registry.find(named.group, word, ignore_case=True)


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def words(named: Named) -> dict[str, str]:
    """Every word that may be written (entry names and aliases) with the entry it means, sorted."""
    known = {entry: entry for entry in registry.names(named.group)}
    found = {alias: entry for alias, entry in named.aliases.items() if entry in known}
    return dict(sorted({**known, **found}.items()))


def plugin(named: Named, entry: str) -> Found:
    """Load a plugin's shape.

    The key that names the plugin and the keys of ``also`` are part of the shape.
    """
    try:
        shape = registry.load(named.group, entry).shape
    except LDPError as error:
        return Found(entry, error=error)
    return Found(entry, completed(named, shape))


def completed(named: Named, shape: Shape) -> Shape:
    """A plugin's shape with the keys that it has for being named.

    The naming key may hold any text there: the plugin has been found by it, in whatever spelling.
    """
    own = {key.name: key for key in shape.keys}
    doc = own[named.by].doc if named.by in own else NAMING
    by = Key(named.by, Text(), doc, required=named.default is None, default=named.default)
    keys = [key for key in shape.keys if key.name != named.by]
    keys += [key for key in named.also if key.name not in own]
    return replace(shape, keys=(by, *keys))
