"""The pipeline whose keys are looked at, and its ledger when it has none yet."""

from __future__ import annotations

from dataclasses import dataclass

from ldp_core.commit.ledger import Ledger, Who


@dataclass(frozen=True)
class Owner:
    """A config, as far as its keys go.

    Attributes:
        pipeline: The identifier.
        target: ``namespace.table``.
        who: Who publishes.
        zone: The zone of its windows.
    """

    pipeline: str
    target: str
    who: Who
    zone: str = "UTC"

    def blank(self, uuid: str) -> Ledger:
        """A ledger that holds nothing."""
        return Ledger(self.pipeline, self.target, uuid, zone=self.zone)
