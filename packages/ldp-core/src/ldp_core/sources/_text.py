"""What sources of text (CSV, JSON lines, sheets) offer to the code that types them."""

from __future__ import annotations

from typing import Protocol

from ldp_core.errors import LDPError


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

    def explain(self, error: Exception) -> LDPError | None:
        """A parser's error as one clear line, or None when it is about something else."""
        ...
