"""When schedules fire: as a naive reading says, as cronsim says, and as the rules of clock changes say."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ldp_core.errors import ConfigError
from ldp_core.window import Window
from ldp_core.window.model import instant
from ldp_orchestration.fires import fires, latest_fire, next_fire, problem_of, window_of_fire

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from clock_oracle import ZONES, Cron, crons, naive_fires
finally:
    sys.path.remove(HERE)

MOMENTS = st.datetimes(datetime(2008, 1, 1), datetime(2027, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))


def changes(zone: str) -> list[datetime]:
    """The days before which a zone changed its clock."""
    info = ZoneInfo(zone)
    days = [datetime(2008, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(7300)]
    offsets = [day.astimezone(info).utcoffset() for day in days]
    return [days[at] for at in range(1, len(days)) if offsets[at] != offsets[at - 1]]


CHANGES = {zone: changes(zone) for zone in ZONES}
NEAR = st.sampled_from([zone for zone in ZONES if CHANGES[zone]]).flatmap(
    lambda zone: st.tuples(
        st.just(zone), st.sampled_from(CHANGES[zone]), st.timedeltas(timedelta(days=-2), timedelta(0))
    ).map(lambda parts: (parts[0], parts[1] + parts[2]))
)


def listed(schedule: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    found = []
    for fire in fires(schedule, zone, after):
        if fire > until:
            return found
        found.append(fire)
    raise AssertionError("fires end")


def shown(schedule: str, zone: str, after: str, count: int) -> list[str]:
    return [instant(at) for at in islice(fires(schedule, zone, datetime.fromisoformat(after)), count)]


@settings(deadline=None, max_examples=120)
@given(cron=crons(), place=NEAR)
def test_fires_near_a_clock_change_are_those_of_a_naive_reading(
    cron: Cron, place: tuple[str, datetime]
) -> None:
    zone, after = place
    until = after + timedelta(days=3)
    assert listed(cron.text, zone, after, until) == naive_fires(cron, zone, after, until)


@settings(deadline=None, max_examples=120)
@given(cron=crons(), zone=st.sampled_from(ZONES), after=MOMENTS)
def test_fires_are_cronsims_where_no_clock_changes(cron: Cron, zone: str, after: datetime) -> None:
    days = [change for change in CHANGES[zone] if after - timedelta(days=2) < change]
    until = min([after + timedelta(days=12), *(change - timedelta(days=2) for change in days)])
    assume(until > after)
    steps = CronSim(cron.text, after.astimezone(ZoneInfo(zone)))
    wanted = []
    while (fire := next(steps).astimezone(UTC)) <= until:
        wanted.append(fire)
    assert listed(cron.text, zone, after, until) == wanted


@settings(deadline=None, max_examples=100)
@given(cron=crons(), months=st.sampled_from(["*", "2", "JAN-mar", "*/5", "4,10-12"]), after=MOMENTS)
def test_fires_in_utc_are_cronsims_over_years(cron: Cron, months: str, after: datetime) -> None:
    parts = cron.text.split()
    text = " ".join((*parts[:3], months, parts[4]))
    try:
        steps = CronSim(text, after)
        wanted = list(islice(steps, 50))
    except Exception:
        assert problem_of(text) is not None
        return
    assert list(islice(fires(text, "UTC", after), 50)) == wanted


@settings(deadline=None, max_examples=100)
@given(cron=crons(), place=NEAR)
@example(
    Cron("0 0 29 2 *", frozenset(), frozenset(), lambda day: True), ("UTC", datetime(2027, 3, 1, tzinfo=UTC))
)
def test_latest_and_next_agree_with_the_fires(cron: Cron, place: tuple[str, datetime]) -> None:
    zone, at = place
    latest, following = latest_fire(cron.text, zone, at), next_fire(cron.text, zone, at)
    assert latest <= at < following
    second = timedelta(seconds=1)
    assert next_fire(cron.text, zone, latest - second) == latest
    assert next_fire(cron.text, zone, latest) == following
    assert latest_fire(cron.text, zone, following) == following
    assert latest_fire(cron.text, zone, following - second) == latest


@settings(deadline=None, max_examples=100)
@given(cron=crons(), place=NEAR)
def test_intervals_between_fires_tile(cron: Cron, place: tuple[str, datetime]) -> None:
    zone, after = place
    found = list(islice(fires(cron.text, zone, after), 12))
    windows = [window_of_fire(cron.text, zone, None, fire) for fire in found]
    assert [window.end for window in windows] == found
    assert all(before.end == later.start for before, later in pairwise(windows))


@settings(deadline=None, max_examples=150)
@given(cron=crons(), place=NEAR, size=st.sampled_from(["day", "hour", "15m"]))
def test_the_window_of_a_fire_is_the_last_complete_one(
    cron: Cron, place: tuple[str, datetime], size: str
) -> None:
    zone, after = place
    windows = [
        window_of_fire(cron.text, zone, size, fire) for fire in islice(fires(cron.text, zone, after), 6)
    ]
    for window, fire in zip(windows, fires(cron.text, zone, after), strict=False):
        assert window.end <= fire
        assert fire - window.end < timedelta(days=2 if size == "day" else 1)
    assert windows == sorted(windows)


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "wanted"),
    [
        ("30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", ["29T01:00", "30T00:30"]),
        ("0,30 2,3 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", ["29T01:00", "29T01:30", "30T00:00"]),
        ("30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", ["25T00:30", "26T01:30"]),
        ("30 2 * * *", "Europe/Paris", "2026-10-25T01:10:00Z", ["26T01:30"]),
        ("0 * * * *", "Europe/Paris", "2026-10-24T23:30:00Z", ["25T00:00", "25T01:00", "25T02:00"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", ["03T15:30", "04T15:15"]),
        ("*/30 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", ["04T14:00", "04T14:30", "04T15:00"]),
        ("*/15 2 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", ["04T15:30", "04T15:45", "04T16:00"]),
        ("0 0 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", ["29T10:00", "30T10:00", "31T10:00"]),
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", ["30T10:00"]),
        ("30 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", ["04T03:00", "05T02:30"]),
        ("*/15 0 * 11 *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", ["05T02:00", "05T02:15"]),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else None,
)
def test_clock_changes(schedule: str, zone: str, after: str, wanted: list[str]) -> None:
    assert [at[8:16] for at in shown(schedule, zone, after, len(wanted))] == wanted


@pytest.mark.parametrize(
    ("schedule", "wanted"),
    [
        ("@hourly", "2026-08-05T03:00:00Z"),
        (" @daily ", "2026-08-06T00:00:00Z"),
        ("@weekly", "2026-08-09T00:00:00Z"),
        ("@monthly", "2026-09-01T00:00:00Z"),
        ("0 0 L * *", "2026-08-31T00:00:00Z"),
        ("0 0 LW FEB *", "2027-02-26T00:00:00Z"),
        ("0 0 * * fri#2", "2026-08-14T00:00:00Z"),
        ("0 0 * * 5L", "2026-08-28T00:00:00Z"),
        ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
        ("0 0 * 2 1#5", "2044-02-29T00:00:00Z"),
        ("0 0 30 2 MON", "2027-02-01T00:00:00Z"),
    ],
    ids=lambda value: value.strip().replace(" ", "_"),
)
def test_kinds_of_schedules(schedule: str, wanted: str) -> None:
    at = datetime(2026, 8, 5, 2, 5, tzinfo=UTC)
    assert instant(next_fire(schedule, "UTC", at)) == wanted
    assert latest_fire(schedule, "UTC", at) <= at


@pytest.mark.parametrize(
    "schedule",
    ["0 0 * *", "0 0 0 * * *", "*/0 * * * *", "0 0 30 2 *", "@yearly", "", "0 0 30-31 2 *", "a b c d e"],
)
def test_what_is_no_schedule(schedule: str) -> None:
    with pytest.raises(ConfigError) as caught:
        fires(schedule, "UTC", datetime(2026, 1, 1, tzinfo=UTC))
    assert caught.value.key == "metadata.schedule"
    assert problem_of(schedule) == caught.value.message


def test_a_schedule_that_never_comes_and_an_unknown_zone() -> None:
    assert problem_of("0 0 */28 2 1#3") == "schedule '0 0 */28 2 1#3' never comes"
    assert problem_of("5 2 * * *") is None
    with pytest.raises(ConfigError, match="unknown time zone 'Mars/Base'"):
        fires("@daily", "Mars/Base", datetime(2026, 1, 1, tzinfo=UTC))


def test_a_second_pass_that_began_does_not_fire_again() -> None:
    assert shown("0 1-4 * * *", "Europe/Paris", "2026-10-25T00:00:00Z", 2) == [
        "2026-10-25T02:00:00Z",
        "2026-10-25T03:00:00Z",
    ]
    window = window_of_fire("0 1-4 * * *", "Europe/Paris", None, datetime(2026, 10, 25, 2, tzinfo=UTC))
    assert window == Window(datetime(2026, 10, 25, tzinfo=UTC), datetime(2026, 10, 25, 2, tzinfo=UTC))


def test_the_latest_fire_of_a_rare_schedule_is_near_at_hand() -> None:
    at, begin = datetime(2026, 8, 1, tzinfo=UTC), process_time()
    for _ in range(20):
        for schedule in ("* * * * *", "*/5 * * * *", "* 0 * * *", "5 2 * * *", "0 0 1 1 *", "0 0 29 2 *"):
            latest_fire(schedule, "Europe/Paris", at)
    assert process_time() - begin < 2
