"""The range of a backfill: from where to where, and the windows that tile it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from ldp_core.errors import ConfigError
from ldp_core.window import SIZES, Window, iter_windows, starts_window
from ldp_core.window.calendar import next_start, window_start
from ldp_core.window.model import instant
from ldp_core.window.parse import moment

from ldp_orchestration.model import Workflow

MAX_WINDOWS = 1000
"""How many windows a range may have unless the user says otherwise."""

_STARTS = {
    "day": "at local midnight",
    "hour": "on each full hour from local midnight",
    "15m": "on each quarter of an hour from local midnight",
}


def parse_range(workflow: Workflow, start: Any, end: Any, now: datetime) -> tuple[datetime, datetime]:
    """The bounds of a range as a user wrote them, in UTC.

    Args:
        workflow: Its size of windows, and the time zone of bounds without an offset.
        start: The start of the first window: a date, a datetime or ISO 8601 text.
        end: The end of the last window, not part of the range; None for that of the last complete window.
        now: The present moment.

    Raises:
        ConfigError: The windows have no size, a bound is no time or starts no window, or no window lies
            between the two.
    """
    size = size_of(workflow)
    first = _bound(start, "start", size, workflow.zone)
    last = window_start(now, size, workflow.zone) if end is None else _bound(end, "end", size, workflow.zone)
    if last <= first:
        if end is None:
            what, hint = f"the last complete window of size {size} ends at", "give an earlier start"
        else:
            what, hint = "the end of the range is", "give an end after the start"
        raise ConfigError(
            f"the range has no window: it starts at {instant(first)} and {what} {instant(last)}", hint=hint
        )
    return first, last


def windows_of(
    size: str, zone: str, start: datetime, end: datetime, max_windows: int = MAX_WINDOWS
) -> list[Window]:
    """The windows of a size that lie end to end in a range.

    Args:
        size: ``day``, ``hour`` or ``15m``.
        zone: An IANA name.
        start: The start of the first window.
        end: No window reaches beyond it.
        max_windows: A range with more of them is refused before they are counted to the end.

    Raises:
        ConfigError: There are too many, or none, or no such size or zone.
    """
    found = list(islice(iter_windows(start, end, size, zone), max(max_windows, 0) + 1))
    if len(found) > max_windows:
        about = max(round((end - start) / SIZES[size]), len(found))
        raise ConfigError(
            f"the range {instant(start)}/{instant(end)} has about {about:,} windows of size {size}, "
            f"more than {max_windows:,}",
            hint="give a shorter range, or allow more with --max-windows",
        )
    if not found:
        raise ConfigError(f"the range {instant(start)}/{instant(end)} has no window of size {size}")
    return found


def size_of(workflow: Workflow) -> str:
    """The size of the windows of a workflow.

    Raises:
        ConfigError: Neither its window nor its schedule says it.
    """
    if workflow.size is None:
        raise ConfigError(
            f"{workflow.identifier} does not say how long a window is",
            file=workflow.name,
            key="metadata.window.size",
            hint="set it to day, hour or 15m; a schedule of @daily or @hourly means a day or an hour",
        )
    return workflow.size


def last_complete(size: str, zone: str, at: datetime) -> Window:
    """The last window of a size that ends at or before an instant.

    Raises:
        ConfigError: There is no such size or zone.
    """
    end = window_start(at, size, zone)
    return Window(window_start(end - timedelta(microseconds=1), size, zone), end)


def _bound(value: Any, name: str, size: str, zone: str) -> datetime:
    at = moment(value, f"the {name} of the range", zone).astimezone(UTC)
    try:
        if starts_window(at, size, zone):
            return at
        before, after = window_start(at, size, zone), next_start(at, size, zone)
    except OverflowError as error:  # the calendar ends with the year 9999
        raise ConfigError(f"the {name} of the range, {instant(at)}, is too far away") from error
    raise ConfigError(
        f"the {name} of the range, {instant(at)}, does not start a window of size {size} in {zone}",
        hint=f"windows of that size start {_STARTS[size]}; "
        f"the nearest are {instant(before)} and {instant(after)}",
    )
