"""The engine of this package: this process, with DuckDB and pyiceberg."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from ldp_maintenance.engines.protocol import Capability
from ldp_maintenance.model import Doing, Operation, Outcome, Run, Target

_NEWER = "format version 3 and later: pyiceberg does not write their metadata"
_UNCOLLECTED = "tables whose property gc.enabled is not true"


class Local:
    """Every operation, each with a preview."""

    name = "local"

    def can(self) -> Mapping[Operation, Capability]:
        """See ``Engine.can``."""
        return {
            "apply-properties": Capability(refuses=(_NEWER,)),
            "evolve-partitions": Capability(note="rows move between partition specs", refuses=(_NEWER,)),
            "rewrite-data-files": Capability(
                note="bin-pack, sort and z-order; equality deletes are applied", refuses=(_NEWER,)
            ),
            "remove-dangling-deletes": Capability(
                note="on main only", refuses=("format version 3 and later with deletes",)
            ),
            "rewrite-manifests": Capability(refuses=(_NEWER,)),
            "expire-snapshots": Capability(refuses=(_NEWER, _UNCOLLECTED)),
            "remove-orphans": Capability(refuses=(_UNCOLLECTED, "storage that cannot be listed")),
        }

    def refuses(self) -> Mapping[Operation, str]:
        """See ``Engine.refuses``."""
        return {}

    def run(self, operation: Operation, target: Target, doing: Doing) -> Outcome:
        """See ``Engine.run``."""
        from ldp_maintenance.maintenance import HOMES

        module, name = HOMES[operation]
        run: Run = getattr(import_module(f"ldp_maintenance.{module}"), name)
        return run(target, doing)


local = Local()
