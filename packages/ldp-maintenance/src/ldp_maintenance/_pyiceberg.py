"""The only place of this package that relies on inner workings of pyiceberg; each function says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata


def same_refs(metadata: TableMetadata) -> Any:
    """A requirement that the branches and tags are those of some metadata: no more, no fewer, none moved.

    Of our own because the specification's requirements ask about refs by name only, and pyiceberg drops a tag
    that somebody put meanwhile on a snapshot that goes. Only catalogs whose client checks requirements may
    get it.
    """
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.table.update import ValidatableTableRequirement

    expected = {name: ref.snapshot_id for name, ref in metadata.refs.items()}

    class SameRefs(ValidatableTableRequirement):
        type: str = "assert-same-refs"

        def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override]
            found = {} if base_metadata is None else base_metadata.refs
            if {name: ref.snapshot_id for name, ref in found.items()} != expected:
                raise CommitFailedException("Requirement failed: branches or tags have changed")

    return SameRefs()
