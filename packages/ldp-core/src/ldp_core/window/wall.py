"""Windows over a column of local times without a zone: each value belongs to one window and no more.

Where a clock is put back, a local time stands for two instants; it is read as the later one, so the first
pass of the repeated hour holds no rows and the second pass holds them all. Where a clock is put forward,
local times that do not exist belong to the window that holds the change. The bounds grow with the instants,
so windows that tile time tile the values too.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ldp_core.window.calendar import zone_of

_SECOND = timedelta(seconds=1)


def wall_bound(moment: datetime, zone: str) -> datetime:
    """The first local time, without a zone, that does not lie before an instant.

    Args:
        moment: Aware; a bound of a window.
        zone: An IANA name.
    """
    info = zone_of(zone)
    local = moment.astimezone(info)
    later = local.replace(fold=1)
    before, after = local.utcoffset(), later.utcoffset()
    assert before is not None
    assert after is not None
    if local.fold or before <= after:
        return local.replace(tzinfo=None)
    change = _change(moment.astimezone(UTC), before - after, zone)
    return (change + after).replace(tzinfo=None)


def _change(moment: datetime, step: timedelta, zone: str) -> datetime:
    """The instant, at most ``step`` away, at which the clock is put back; found by halving."""
    info = zone_of(zone)
    offset = moment.astimezone(info).utcoffset()
    low, high = 0, int(step / _SECOND) + 1
    while high - low > 1:
        middle = (low + high) // 2
        at = moment.replace(microsecond=0) + middle * _SECOND
        if at.astimezone(info).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return moment.replace(microsecond=0) + high * _SECOND
