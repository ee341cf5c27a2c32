"""What a batch offers to the run that requeues it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ldp_core.spi import Extract, Loss

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class BatchExtract:
    """See ``ldp_core.spi.Extract``.

    Attributes:
        sql: The rows that go through the gate.
        schema: The table's types.
        rejects: A SELECT of the rows that stay put aside.
        rows: How many go through the gate.
    """

    sql: str
    schema: pa.Schema
    rejects: str | None
    rows: int | None
    follows_values = False
    files: tuple[str, ...] = ()

    def losses(self) -> tuple[Loss, ...]:
        """None."""
        return ()

    def after(self, error: Exception) -> Extract:
        """There are no better types than those of the table."""
        raise error
