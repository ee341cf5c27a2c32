"""What a config may say: small declarations that validation, JSON Schema and the docs are all drawn from.

A plugin (source, target, catalog, check, section) declares a ``Shape``; nobody writes validation of
structure by hand. ``ldp_core.config.validate`` checks a value against it, ``ldp_core.config.json_schema``
prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Text:
    """A string; ``choices`` limits it, ``ignore_case`` compares them without case, ``pattern`` is a regex.

    ``what`` says in words what the pattern wants: ``a length such as 90m``.
    """

    choices: tuple[str, ...] = ()
    ignore_case: bool = False
    pattern: str | None = None
    what: str | None = None
    secret: bool = False


@dataclass(frozen=True)
class Int:
    """A whole number (never a boolean) within bounds that are part of the range."""

    min: int | None = None
    max: int | None = None


@dataclass(frozen=True)
class Number:
    """A number (never a boolean, never NaN); ``above`` excludes the bound itself."""

    min: float | None = None
    max: float | None = None
    above: float | None = None


@dataclass(frozen=True)
class Bool:
    """True or false."""


@dataclass(frozen=True)
class Literal:
    """Exactly one value, such as the string ``none``."""

    value: str | int | bool | None


@dataclass(frozen=True)
class Scalar:
    """A string, a number or a boolean."""


@dataclass(frozen=True)
class Anything:
    """Any JSON value; the owner checks it by hand."""


@dataclass(frozen=True)
class ListOf:
    """A list; with ``or_single`` a lone item stands for a list of one."""

    item: Type
    min_items: int = 0
    or_single: bool = False


@dataclass(frozen=True)
class MapOf:
    """An object with free keys."""

    value: Type


@dataclass(frozen=True)
class OneOf:
    """The first of the types that fits the kind of the value (string, number, list, object)."""

    types: tuple[Type, ...]


@dataclass(frozen=True)
class Variant:
    """A name that means another plugin where a second key holds a word: ``JSON`` with engine ``BIGQUERY``."""

    name: str
    key: str
    value: str
    entry: str


@dataclass(frozen=True)
class Named:
    """An object whose shape is that of the plugin named by one of its keys.

    Attributes:
        group: The entry-point group, such as ``ldp.checks``.
        by: The key that holds the plugin's name, such as ``check``. Names are compared without case.
        default: The name where the key is absent; None makes the key required.
        aliases: Other spellings to entry names, compared without case.
        also: Keys that every such object may have; a plugin's own key of the same name wins.
        variants: Names that a second key turns into another plugin.
    """

    group: str
    by: str
    default: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Key, ...] = ()
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True)
class Key:
    """One key of an object.

    Attributes:
        name: As it is written.
        type: What its value may be.
        doc: One sentence for the reference; plain text.
        required: Whether the object needs it.
        default: What holds when it is absent, for the reference.
    """

    name: str
    type: Type
    doc: str
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class Shape:
    """An object with known keys; any other key is an error (``$schema`` and ``x-*`` are ignored).

    Attributes:
        keys: The keys.
        exactly_one: Groups of keys of which exactly one must be given.
        at_most_one: Groups of keys of which no two may be given.
        doc: What the object is, for the reference.
    """

    keys: tuple[Key, ...]
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_most_one: tuple[tuple[str, ...], ...] = ()
    doc: str = ""

    def extended(self, *more: Key, **changes: Any) -> Shape:
        """The same shape with more keys."""
        return Shape(
            keys=(*self.keys, *more),
            exactly_one=changes.get("exactly_one", self.exactly_one),
            at_most_one=changes.get("at_most_one", self.at_most_one),
            doc=changes.get("doc", self.doc),
        )


Type: TypeAlias = (
    Text | Int | Number | Bool | Literal | Scalar | Anything | ListOf | MapOf | OneOf | Named | Shape
)
