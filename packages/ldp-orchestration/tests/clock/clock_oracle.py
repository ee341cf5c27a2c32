"""A naive reading of cron, minute by minute, to compare the real one with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)

ZONES = [
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "America/Caracas",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Asia/Kolkata",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Antarctica/Troll",
    "Europe/Volgograd",
    "Atlantic/Azores",
]


@dataclass(frozen=True)
class Cron:
    """An expression and what it means."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    on: Callable[[date], bool]

    @property
    def fixed(self) -> bool:
        """Whether the time is fixed, as cron means it."""
        minute, hour = self.text.split()[:2]
        return not minute.startswith("*") and not hour.startswith("*")

    def shows(self, local: datetime) -> bool:
        """Whether a clock that shows a local time is on one of its times."""
        return local.minute in self.minutes and local.hour in self.hours and self.on(local.date())


def numbers(low: int, high: int) -> st.SearchStrategy[tuple[str, frozenset[int]]]:
    """A field of numbers: its text and what it means."""
    one = st.integers(low, high)
    pair = st.tuples(one, one).map(sorted)
    step = st.integers(1, high)
    single = st.one_of(
        one.map(lambda value: (str(value), {value})),
        pair.map(lambda ends: (f"{ends[0]}-{ends[1]}", set(range(ends[0], ends[1] + 1)))),
        st.tuples(pair, step).map(
            lambda both: (
                f"{both[0][0]}-{both[0][1]}/{both[1]}",
                set(range(both[0][0], both[0][1] + 1, both[1]))
                if both[0][0] < both[0][1]
                else set(range(both[0][0], high + 1, both[1])),
            )
        ),
        st.tuples(one, step).map(
            lambda both: (f"{both[0]}/{both[1]}", set(range(both[0], high + 1, both[1])))
        ),
    )
    listed = st.lists(single, min_size=1, max_size=3).map(
        lambda items: (",".join(text for text, _ in items), frozenset().union(*(found for _, found in items)))
    )
    stars = st.sampled_from([1, 2, 3, 5, 15, 20]).map(
        lambda every: ("*" if every == 1 else f"*/{every}", frozenset(range(low, high + 1, every)))
    )
    return st.one_of(listed, stars)


def month_day(text: str, day: date) -> bool:
    """Whether a day is one of a list of days of the month, with ``L``."""
    last = (day.replace(day=1) + 31 * DAY).replace(day=1) - DAY
    return any(
        item == "*" or (item == "L" and day == last) or item == str(day.day) for item in text.split(",")
    )


def week_day(text: str, day: date) -> bool:
    """Whether a day is one of a list of weekdays, with names, ``5#2`` and ``5L``."""
    names = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
    own = day.isoweekday() % 7
    for item in text.upper().split(","):
        if item == "*":
            return True
        word, _, nth = item.partition("#")
        last = word.endswith("L") and word[0].isdigit()
        number = names.index(word) if word in names else int(word.rstrip("L"))
        if number % 7 != own:
            continue
        if last and (day + 7 * DAY).month == day.month:
            continue
        if nth and (day.day + 6) // 7 != int(nth):
            continue
        return True
    return False


MONTH_DAYS = st.sampled_from(["*", "*", "*", "1", "L", "1,15", "29,30,31", "4,L"])
WEEK_DAYS = st.sampled_from(["*", "*", "*", "0", "7", "SUN", "mon,Wed", "5#2", "0#1,0L", "6,0"])


@st.composite
def crons(draw: st.DrawFn) -> Cron:
    """Expressions of every kind of field."""
    minute, minutes = draw(numbers(0, 59))
    hour, hours = draw(numbers(0, 23))
    days, weekdays = draw(MONTH_DAYS), draw(WEEK_DAYS)
    both = days.startswith("*") or weekdays.startswith("*")

    def on(day: date) -> bool:
        found = (month_day(days, day), week_day(weekdays, day))
        return all(found) if both else any(found)

    return Cron(f"{minute} {hour} {days} * {weekdays}", minutes, hours, on)


def naive_fires(cron: Cron, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """The fires in ``(after, until]`` by the rules of the specification, looking at every minute."""
    info = ZoneInfo(zone)
    found = []
    at = after.replace(second=0, microsecond=0) + MINUTE
    before = (at - MINUTE).astimezone(info)
    while at <= until:
        local = at.astimezone(info)
        if cron.fixed:
            fire = (cron.shows(local) and not local.fold) or any(map(cron.shows, _skipped(before, local)))
        else:
            fire = cron.shows(local)
        if fire:
            found.append(at)
        before, at = local, at + MINUTE
    return found


def _skipped(before: datetime, after: datetime) -> list[datetime]:
    """The local minutes that no clock shows between two that follow each other."""
    first, end = before.replace(tzinfo=None) + MINUTE, after.replace(tzinfo=None)
    return [first + number * MINUTE for number in range(int((end - first) / MINUTE))]
