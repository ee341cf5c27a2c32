"""``schemaDrift`` among the ``customProperties`` of a table: what each kind of drift means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ldp_core.config.validate import check as fits
from ldp_core.errors import Problem
from ldp_core.shape import Key, Shape, Text

from ldp_quality.checks.drift import GRADES, Drift
from ldp_quality.checks.logical import COMPARE, LOGICALLY

NAME = "schemaDrift"
_SHAPE = Shape(
    (
        Key("missing", Text(choices=GRADES), "A column that is declared is not there."),
        Key("added", Text(choices=GRADES), "A column is there that is not declared."),
        Key("type", Text(choices=GRADES), "A column is not of its type."),
        Key("compare", Text(choices=COMPARE), "How types are compared."),
    ),
    doc="What drift of the schema means.",
)


def drift(custom: Any, key: str) -> tuple[Drift, str, list[Problem]]:
    """What drift means to a table, how types are compared, and what is wrong with what is said of it.

    Args:
        custom: The custom properties of the table.
        key: The key of the table.
    """
    for at, item in enumerate(custom or ()):
        if item.get("property") == NAME and item.get("vendor") in (None, "ldp"):
            value, place = item.get("value"), f"{key}.customProperties[{at}].value"
            if isinstance(value, Mapping):
                problems = fits(_SHAPE, value, place)
            else:
                text = f"{NAME} must be an object such as {{added: warn}}, got {value!r}"
                problems = [Problem(text, key=place)]
            if problems:
                return Drift(), LOGICALLY, list(problems)
            parts = {name: word for name, word in value.items() if name != "compare"}
            return Drift(**parts), value.get("compare", LOGICALLY), []
    return Drift(), LOGICALLY, []
