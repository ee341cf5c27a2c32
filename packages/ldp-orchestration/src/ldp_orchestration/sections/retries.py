"""``metadata.retries``: how often a task is tried. Not hashed: it changes nothing about what a run does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ldp_core.errors import Problem
from ldp_core.shape import Int, Key, Number, Shape, Type
from ldp_core.spi import Spec

from ldp_orchestration.model import Retries

NONE = Retries()
"""One attempt."""
RETRIES = Shape(
    keys=(
        Key("max_attempts", Int(min=1), "The attempts in all; 1 is no retry.", default=1),
        Key("delay_s", Number(min=0), "The longest wait before the first retry, in seconds.", default=30),
        Key("backoff", Number(min=1), "What it is multiplied by for each retry after that.", default=2.0),
    ),
    doc="How often a task is tried that fails with an error which another attempt may fix.",
)


class RetriesSection:
    """The section."""

    shape: Type = RETRIES
    hashed = False

    def problems(self, value: Any, spec: Spec) -> list[Problem]:
        """Nothing that the shape does not say."""
        return []

    def canonical(self, value: Any, spec: Spec) -> Any:
        """As written."""
        return value

    def explain(self, value: Any, spec: Spec) -> list[tuple[str, str]]:
        """One line."""
        found = retries(value)
        if found.max_attempts == 1:
            return [("retries", "none")]
        wait = f"after up to {found.delay_s:g} s, then up to {found.backoff:g} times as long each time"
        return [("retries", f"{found.max_attempts} attempts in all, {wait}")]


def retries(value: Any, above: Retries = NONE) -> Retries:
    """What a section says, with what is not in it as ``above`` has it.

    Args:
        value: The section, of the right shape; None where there is none.
        above: What holds for the keys that it leaves out.
    """
    if not isinstance(value, Mapping):
        return above
    known = {key.name for key in RETRIES.keys}
    return replace(above, **{name: item for name, item in value.items() if name in known})


SECTION = RetriesSection()
