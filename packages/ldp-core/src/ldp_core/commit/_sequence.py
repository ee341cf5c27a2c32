"""A requirement that pyiceberg lacks: the table's last sequence number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table.update import ValidatableTableRequirement

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata


class AssertLastSequenceNumber(ValidatableTableRequirement):
    """No commit, on any branch, has come between the base and this one."""

    type: Literal["assert-last-sequence-number"] = Field(default="assert-last-sequence-number")
    last_sequence_number: int = Field(alias="last-sequence-number")

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override]
        """Check it against the table's present metadata.

        Raises:
            CommitFailedException: Another commit was made meanwhile.
        """
        if base_metadata is None or last_sequence_number(base_metadata) != self.last_sequence_number:
            raise CommitFailedException("Requirement failed: another snapshot was committed")


def last_sequence_number(metadata: TableMetadata) -> int:
    """The sequence number of the last commit; 0 for format version 1, which has none."""
    return int(getattr(metadata, "last_sequence_number", 0) or 0)
