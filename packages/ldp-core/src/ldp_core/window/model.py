"""A window: ``[start, end)``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ldp_core.errors import ConfigError


@dataclass(frozen=True, order=True)
class Window:
    """The instants from ``start`` up to ``end``, which is not part of it.

    Attributes:
        start: Aware; kept in UTC.
        end: Aware; kept in UTC.

    Raises:
        ConfigError: A bound has no offset, or the end is not after the start.
    """

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        for name, moment in (("start", self.start), ("end", self.end)):
            if moment.tzinfo is None:
                raise ConfigError(f"window {name} {moment.isoformat()} has no time zone")
            object.__setattr__(self, name, moment.astimezone(UTC))
        if self.end <= self.start:
            raise ConfigError(
                f"window end {self.end.isoformat()} must be after its start {self.start.isoformat()}"
            )

    def __str__(self) -> str:
        """``2026-08-01T00:00:00Z/2026-08-02T00:00:00Z``; fractions of a second only where there are any."""
        return f"{instant(self.start)}/{instant(self.end)}"

    @property
    def length(self) -> timedelta:
        """From start to end."""
        return self.end - self.start

    @property
    def logical(self) -> str:
        """As snapshot summaries name it: ``2026-08-01T00:00:00+00:00/2026-08-02T00:00:00+00:00``."""
        return f"{self.start.isoformat()}/{self.end.isoformat()}"

    def overlaps(self, other: Window) -> bool:
        """Whether an instant lies in both."""
        return self.start < other.end and other.start < self.end


def instant(moment: datetime) -> str:
    """A moment as UTC ISO-8601 with ``Z``; microseconds only when they are not zero. Naive times are UTC."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(tzinfo=None).isoformat() + "Z"
