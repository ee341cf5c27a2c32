"""``metadata.docs``: what a table is, for people. A run writes it into the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Key, ListOf, MapOf, Shape, Text, Type
from ldp_core.spi import Spec

LAYERS = ("bronze", "silver", "gold")
_SOME = Text(pattern=r"\S")
DOCS = Shape(
    keys=(
        Key("layer", Text(choices=LAYERS, ignore_case=True), "How refined the table is."),
        Key("description", Text(), "What the table holds."),
        Key("owner", Text(), "Who answers for it."),
        Key("grain", Text(), "What one row is."),
        Key("primary_key", ListOf(_SOME, or_single=True), "The columns that tell its rows apart."),
        Key("columns", MapOf(Text()), "A description of each column, by name."),
        Key("tags", ListOf(_SOME, or_single=True), "Words to find it by."),
        Key("refresh", Text(), "How often it changes."),
    ),
    doc="The documentation of a table. A table of the layer gold has to have all of it.",
)


class DocsSection:
    """The section; not hashed, because it changes no row."""

    shape: Type = DOCS
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """What a gold table lacks, and columns of the key that have no description."""
        if value.get("layer") != "gold":
            return []
        missing = [
            Problem("a gold table needs it", key=key.name)
            for key in DOCS.keys
            if not _given(value.get(key.name))
        ]
        columns = value.get("columns")
        blank = [
            Problem("a gold table needs a description of each column", key=f"columns.{name}")
            for name, text in (columns.items() if isinstance(columns, Mapping) else ())
            if not text.strip()
        ]
        unknown = [
            Problem(f"the key column {name!r} is not among the columns", key=f"primary_key[{at}]")
            for at, name in enumerate(value.get("primary_key") or ())
            if columns and name not in columns
        ]
        return [*missing, *blank, *unknown]

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """The layer and how much is described."""
        parts = [value[name] for name in ("layer", "owner") if value.get(name)]
        columns = value.get("columns") or {}
        if columns:
            parts.append(f"{len(columns)} columns described")
        return [("docs", ", ".join(parts) or "nothing said")]


def _given(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else bool(value)


SECTION = DocsSection()
