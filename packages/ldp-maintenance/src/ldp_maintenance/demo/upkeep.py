"""The upkeep of the demo's tables: every operation that is due, committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


@dataclass(frozen=True)
class Told:
    """What was done.

    Attributes:
        lines: For people.
        detail: As JSON.
    """

    lines: tuple[str, ...]
    detail: dict[str, Any]


def look_after(catalog: Catalog, identifier: tuple[str, str]) -> Told:
    """Run what is due on a table.

    The five days are over and nobody writes to them any more, so the newest partitions are not left alone, as
    they are by default.
    """
    from dataclasses import replace

    from ldp_maintenance.maintenance import Maintenance
    from ldp_maintenance.model import Target
    from ldp_maintenance.policy import Policy, Rewrite

    policy = replace(Policy(), rewrite=Rewrite(skip_newest=None), evolution=())
    done = Maintenance(Target(catalog, identifier, policy)).run(commit=True)
    return Told(tuple(done.lines()), done.to_dict())
