"""What sources of text (CSV, JSON lines, sheets) offer to the code that types them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from ldp_core.errors import LDPError

if TYPE_CHECKING:
    from ldp_core.spi import RunContext


class TextInput(Protocol):
    """Files read as columns of text."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the source."""
        ...

    @property
    def shown(self) -> dict[str, str]:
        """A file as DuckDB names it to its name for messages."""
        ...

    @property
    def readable(self) -> list[str]:
        """The files as DuckDB opens them, in order."""
        ...

    def text_sql(self, files: list[str] | None = None) -> str:
        """A SELECT of all columns as text, named ``c0`` to ``c<n-1>``, of some or all files."""
        ...

    @property
    def aside(self) -> tuple[str, ...]:
        """Parquet files of the rows that this input leaves out, because no parser can split them."""
        ...

    def numbered_sql(self, file: str) -> str:
        """``text_sql`` of one file with ``row``, the number of the row among those of ``records``, from 1."""
        ...

    def count_sql(self, file: str) -> str:
        """A SELECT of how many rows ``records`` must give."""
        ...

    def records(self, file: str, ctx: RunContext) -> Iterator[tuple[int | None, str]]:
        """The line and the text of each row of a file, in order, as they stand there."""
        ...

    def without_broken(self, ctx: RunContext) -> TextInput | None:
        """The same rows without those that cannot be split, which are ``aside`` then.

        None where there is none, or where nobody can tell where the next row begins.
        """
        ...

    def explain(self, error: Exception) -> LDPError | None:
        """A parser's error as one clear line, or None when it is about something else."""
        ...
