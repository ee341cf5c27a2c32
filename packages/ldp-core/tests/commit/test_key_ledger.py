"""The ledger: small, round-trips, and folds windows into intervals."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ldp_core.commit.intervals import Interval, merged, one, windows
from ldp_core.commit.ledger import (
    MOST_KEYS,
    SINGLE,
    Ledger,
    LedgerBroken,
    OwnKey,
    Publish,
    Who,
    property_of,
    read,
    written,
)
from ldp_core.commit.lineage import Point
from ldp_core.errors import LDPError
from ldp_core.window import Window, iter_windows, midnight

START = datetime(2026, 1, 1, tzinfo=UTC)
EMPTY = Ledger("rides", "nyc.rides", "u")


def hours(count: int) -> list[Window]:
    return list(iter_windows(START, START + timedelta(hours=count), "hour"))


def published(ledger: Ledger, made: list[Window], first: int = 1) -> Ledger:
    known, number = ledger.number(Who("CSV", "rides", "", "rides.yaml"))
    for at, window in enumerate(made, first):
        point = Point(7_000_000_000_000_000_000 + at, at)
        publish = Publish(known.key_of(window), window, (point,), number, "0" * 32, 1)
        known = known.recorded(publish, "6b2c2f6e-1f0e-4b5f-9d7e-2d1f3a4b5c6d")
    return known


def test_a_year_of_hours_costs_less_than_four_kilobytes() -> None:
    year = hours(8760)
    ledger = published(EMPTY, year)
    body = written(ledger)[property_of("rides")]
    assert len(body.encode()) < 4096, len(body)
    known = read(written(ledger), "rides")
    assert known == ledger
    for window in (year[0], year[4000], year[-1]):
        key = ledger.key_of(window)
        assert known is not None
        assert known.single(key) or known.folded_owner(key, window) == 0
    assert not ledger.folded_owner("x", Window(START - timedelta(hours=1), START))


def test_days_of_a_clock_change_are_one_interval() -> None:
    zone = "Europe/Paris"
    days = list(iter_windows(midnight(date(2026, 1, 1), zone), midnight(date(2027, 1, 1), zone), "day", zone))
    ledger = published(replace(EMPTY, zone=zone), days)
    assert len(ledger.windows) == 1
    assert [str(w) for w in windows(ledger.windows[0])] == [str(w) for w in days[: len(days) - SINGLE]]


@settings(deadline=None, max_examples=100)
@given(st.permutations(range(12)), st.integers(0, 12))
def test_intervals_hold_exactly_what_was_put_in(order: list[int], count: int) -> None:
    all_hours = hours(12)
    chosen = [all_hours[at] for at in order[:count]]
    kept = merged(one(window, "UTC", 0) for window in chosen)
    assert sorted(w for item in kept for w in windows(item)) == sorted(chosen)
    for window in all_hours:
        assert any(item.holds(window) for item in kept) == (window in chosen)
    quarter = Window(START, START + timedelta(minutes=15))
    assert not any(item.holds(quarter) for item in kept)
    assert any(item.overlaps(quarter) for item in kept) == (all_hours[0] in chosen)


def test_owners_are_kept_apart_and_found_again() -> None:
    assert len(merged([Interval(0, 10, 10, "", 0), Interval(10, 20, 10, "", 1)])) == 2
    ledger, first = EMPTY.number(Who("CSV", "a", "", "a.yaml"))
    ledger, again = ledger.number(Who("CSV", "a", "", "moved/a.yaml"))
    ledger, other = ledger.number(Who("PARQUET", "a"))
    assert (first, again, other) == (0, 0, 1)
    assert ledger.who[0].path == "moved/a.yaml"


def test_a_window_that_overlaps_a_published_one_is_found() -> None:
    ledger = published(EMPTY, hours(40))
    wide = Window(START + timedelta(minutes=90), START + timedelta(hours=3))
    assert str(next(ledger.overlapping(wide))) == "2026-01-01T01:00:00Z/2026-01-01T02:00:00Z"
    assert list(ledger.overlapping(hours(1)[0])) == []
    assert list(ledger.overlapping(hours(39)[-1])) == []
    assert list(ledger.overlapping(Window(START - timedelta(hours=1), START))) == []


def test_too_many_keys_of_ones_own_are_refused_with_the_way_out() -> None:
    ledger = replace(EMPTY, keys=tuple(OwnKey(f"k{at}", 0, 0) for at in range(MOST_KEYS)))
    recent = tuple(Publish(f"r{at}", None, (Point(at, at),)) for at in range(SINGLE))
    with pytest.raises(LDPError, match="more than 2000 keys") as caught:
        replace(ledger, recent=recent).recorded(Publish("new", None, (Point(99, 99),)), "u")
    assert "ldp keys compact" in str(caught.value.hint)


def test_a_newer_version_and_a_broken_property_are_told_apart() -> None:
    properties = written(published(EMPTY, hours(1)))
    with pytest.raises(LDPError, match="kept in version 2, this LDP knows version 1"):
        read({**properties, "ldp.keys.version": "2"}, "rides")
    for text, why in (
        ("", "it is not JSON"),
        ("null", "it is no JSON object"),
        ("{}", "its part pipeline is missing"),
        (properties[property_of("rides")].replace('"recent":[[', '"recent":[null,['), "its part recent "),
    ):
        with pytest.raises(LDPError) as caught:
            read({**properties, property_of("rides"): text}, "rides")
        assert caught.value.message.startswith(
            f"the table property {property_of('rides')} is no ledger of keys: {why}"
        )
        assert "ldp keys rebuild CONFIG --yes" in str(caught.value.hint)


def test_a_ledger_that_was_tampered_with_is_read_or_refused_and_never_stumbled_over() -> None:
    made = published(EMPTY, hours(25))
    own = tuple(OwnKey(f"k{at}", 0, at, hours(3)[at] if at else None) for at in range(2))
    days = Interval(made.windows[0].start, made.windows[0].start + 86_400_000_000, 0, "Europe/Paris")
    whole = replace(
        made,
        windows=(*made.windows, days),
        keys=own,
        off=made.recent[:1],
        lost=(Point(1, 1),),
        folded=Point(2, 2),
    )
    properties = written(whole)
    body = json.loads(properties[property_of("rides")])
    for place in list(_places(body)):
        for value in (None, "x", -1, 0, 10**30, 1.5, [], [None], {}, [[]]):
            text = json.dumps(_changed(body, place, value))
            with contextlib.suppress(LedgerBroken):
                found = read({**properties, property_of("rides"): text}, "rides")
                assert found is not None
                assert len(list(found.overlapping(Window(START, START + timedelta(days=2))))) <= 30
                written(found.recorded(Publish("new", None, (Point(99, 99),)), "u"))
                for item in found.windows:
                    next(windows(item))


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        if isinstance(key, str) or key < 2 or len(value) < 10:  # of a long list the first two stand for all
            yield from _places(item, (*at, key))


def _changed(body: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = body.copy()
    copy[place[0]] = _changed(body[place[0]], place[1:], value)
    return copy
