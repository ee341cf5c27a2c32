"""What a schedule says of the local calendar: which days, at which times. cronsim reads the expression."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError
from ldp_core.config.sections.schedule import ALIASES, wrong
from ldp_core.errors import ConfigError

_DAY = timedelta(days=1)
_HORIZON = timedelta(days=50 * 366)
"""A schedule with no time in so many days has none."""


@dataclass(frozen=True)
class Rule:
    """A schedule, read.

    Attributes:
        schedule: As it was written.
        times: The times of a day, from midnight, ascending.
        months: The months that have any.
        on: Whether a day of these months has them.
        fixed: Whether neither minute nor hour begins with ``*``, which decides what clock changes do.
    """

    schedule: str
    times: tuple[timedelta, ...]
    months: frozenset[int]
    on: Callable[[date], bool]
    fixed: bool


@lru_cache(maxsize=1024)
def rule_of(schedule: str) -> Rule:
    """Read a schedule.

    Raises:
        ConfigError: It is none.
    """
    reason = wrong(schedule)
    if reason:
        raise ConfigError(reason, key="metadata.schedule", hint="for example 5 2 * * * or @daily")
    expression = ALIASES.get(schedule.strip(), schedule)
    try:
        read = CronSim(expression, datetime(2000, 1, 1))
    except CronSimError as error:
        message = f"{schedule!r} is not a cron expression: {error}"
        raise ConfigError(message, key="metadata.schedule") from error
    minute, hour = expression.split()[:2]
    return Rule(
        schedule,
        tuple(timedelta(hours=h, minutes=m) for h in sorted(read.hours) for m in sorted(read.minutes)),
        frozenset(read.months),
        read.match_day,
        not minute.startswith("*") and not hour.startswith("*"),
    )


def local_times(rule: Rule, after: datetime) -> Iterator[datetime]:
    """The times of a schedule after a local time, without a zone, in which each day has 24 hours.

    Raises:
        ConfigError: None comes in fifty years.
    """
    day = after.date()
    last = day + _HORIZON
    while day <= last:
        if day.month not in rule.months:
            day = (day.replace(day=1) + 31 * _DAY).replace(day=1)
            continue
        if rule.on(day):
            midnight = datetime.combine(day, time())
            for at in rule.times[bisect_right(rule.times, after - midnight) :]:
                yield midnight + at
            last = day + _HORIZON
        day += _DAY
    raise ConfigError(f"schedule {rule.schedule!r} never comes", key="metadata.schedule")
