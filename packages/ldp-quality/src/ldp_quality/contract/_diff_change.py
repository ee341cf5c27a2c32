"""What a difference of two contracts is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

BREAKING, TIGHTENING, LOOSENING, INFORMATIONAL = "breaking", "tightening", "loosening", "informational"
IMPACTS = (BREAKING, TIGHTENING, LOOSENING, INFORMATIONAL)
"""The classes of a change, worst first."""
ADDED, REMOVED, CHANGED = "added", "removed", "changed"


@dataclass(frozen=True)
class Change:
    """One difference.

    Attributes:
        path: Where, by names: ``schema.orders.properties.amount.logicalType``.
        kind: ``added``, ``removed`` or ``changed``.
        old: What stood there; None where it was added.
        new: What stands there now; None where it was removed.
        impact: One of ``IMPACTS``: what it means to those who read the data and to those who write it.
        message: The same in a sentence.
    """

    path: str
    kind: str
    old: Any
    new: Any
    impact: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "path": self.path,
            "kind": self.kind,
            "class": self.impact,
            "old": self.old,
            "new": self.new,
            "message": self.message,
        }


@dataclass(frozen=True)
class ContractDiff:
    """All differences of two versions of a contract, worst first.

    Attributes:
        contract: The id that both have.
        old_version: The ``version`` of the one before.
        new_version: The ``version`` of the one after.
        changes: What differs; empty when both say the same.
    """

    contract: str | None
    old_version: str | None
    new_version: str | None
    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def worst(self) -> str | None:
        """The worst class that there is; None where nothing changed."""
        return self.changes[0].impact if self.changes else None

    def of(self, impact: str) -> tuple[Change, ...]:
        """The changes of one class."""
        return tuple(change for change in self.changes if change.impact == impact)

    def at_least(self, impact: str) -> tuple[Change, ...]:
        """The changes of a class and of those above it."""
        reach = IMPACTS.index(impact)
        return tuple(change for change in self.changes if IMPACTS.index(change.impact) <= reach)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "contract": self.contract,
            "old_version": self.old_version,
            "new_version": self.new_version,
            "worst": self.worst,
            "counts": {impact: len(self.of(impact)) for impact in IMPACTS},
            "changes": [change.to_dict() for change in self.changes],
        }
