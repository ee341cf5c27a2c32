"""What an engine is: registered in ``ldp.maintenance_engines`` under the word of ``--engine``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ldp_maintenance.model import Doing, Operation, Outcome, Target


@dataclass(frozen=True)
class Capability:
    """That an engine does an operation.

    Attributes:
        preview: Whether it can tell what it would do without doing it.
        note: What is particular about it, in one line.
        refuses: Tables and settings that it refuses, a line each.
    """

    preview: bool = True
    note: str = ""
    refuses: tuple[str, ...] = ()


class Engine(Protocol):
    """Does operations. One that cannot do an operation, or not preview it, is never asked to."""

    name: str

    def can(self) -> Mapping[Operation, Capability]:
        """The operations that it does. Reaches for nothing: no server is asked."""

    def refuses(self) -> Mapping[Operation, str]:
        """Why it does not do the others, in one line each."""

    def run(self, operation: Operation, target: Target, doing: Doing) -> Outcome:
        """Do an operation, or preview it.

        Raises:
            LDPError: It cannot go on; nothing half-done is visible.
        """
