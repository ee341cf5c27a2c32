"""What a number of the rows was in earlier runs, for the check that compares it with now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ldp_core.errors import LDPError

ROWS = "row_count"
"""The number that is no rule's own: how many rows it covered."""
PARTIAL = "partial"
"""Among the numbers of a check: its rows were a part of what an earlier run loaded, and are no example."""


class NoHistory(LDPError):
    """The history of a number cannot be read; the text says why."""

    code = "no_history"


@dataclass(frozen=True)
class Past:
    """A number in one earlier run that was published.

    Attributes:
        at: The end of the run's window; the moment that the data is about, or that of the run, without one.
        value: The number.
    """

    at: datetime
    value: float


class History(Protocol):
    """Earlier runs of one dataset."""

    @property
    def timezone(self) -> str:
        """Where days begin; an IANA name."""
        ...

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """A number in the runs before a moment, the last first; a window that was loaded again counts once.

        Args:
            number: ``row_count``, or what the check calls it: ``sum(fare)``.
            where: The condition of the rows that it is about.
            before: Only runs whose data ends before it.
            limit: So many at most.
            keep: Which moments count.

        Raises:
            LDPError: It cannot be read.
        """
        ...


@dataclass(frozen=True)
class PartOfRun:
    """See ``History``: that of rows which are only a part of what an earlier run loaded, like no run at all.

    Attributes:
        timezone: See ``History``.
    """

    timezone: str = "UTC"

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """Nothing: there is nothing that they could be compared with."""
        return []


@dataclass(frozen=True)
class Unkept:
    """No history, and why.

    Attributes:
        reason: In words.
        timezone: See ``History``.
    """

    reason: str
    timezone: str = "UTC"

    def past(
        self,
        number: str,
        where: str | None,
        before: datetime,
        limit: int,
        keep: Callable[[datetime], bool] = lambda at: True,
    ) -> list[Past]:
        """Nothing.

        Raises:
            NoHistory: Always.
        """
        raise NoHistory(self.reason)
