"""``ldp keys compact``: smaller, and nothing is forgotten but what was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ldp_core.commands.keys import keys
from ldp_core.commit.ledger import MOST_KEYS, Ledger, OwnKey, property_of, read, written
from ldp_core.errors import LDPError
from ldp_core.window import Window

OLD = 1_577_836_800_000  # 2020-01-01


def ledger(lake: Any) -> Ledger:
    found = read(lake.table().properties, "rides")
    assert found is not None
    return found


def with_keys(lake: Any, *more: tuple[str, int, int]) -> None:
    """Folded keys of long ago, whose snapshots have expired."""
    known = ledger(lake)
    changed = replace(known, keys=(*known.keys, *(OwnKey(*item) for item in more)))
    lake.spoil(written(changed)[property_of("rides")])


def compact(lake: Any, *args: str) -> dict[str, Any]:
    return dict(lake.json(keys, "compact", "rides.json", *args))


def state(lake: Any, *args: str) -> str:
    return str(lake.json(keys, "show", "rides.json", *args)["state"])


def test_single_publishes_are_folded(lake: Any) -> None:
    lake.days(5)
    lake.load(None, key="mine")
    rows, head = lake.rows(), lake.head()
    body = compact(lake)
    assert body["singly"] == {"before": 6, "after": 0}
    assert (body["changes"], body["committed"], lake.head()) == (True, False, head)
    body = compact(lake, "--yes")
    assert body["snapshot_id"] == str(lake.head())
    assert lake.rows() == rows
    known = ledger(lake)
    assert (len(known.recent), len(known.windows), [key for key, *_ in known.keys]) == (0, 1, ["mine"])
    assert known.keys[0][2] > OLD
    assert state(lake, "--window", "2026-08-03/2026-08-04") == "published"
    assert state(lake, "--key", "mine") == "published"
    assert "nothing has to be written" in lake.run(keys, "compact", "rides.json", "--yes")


def test_a_window_that_was_loaded_under_a_key_of_ones_own_is_never_forgotten(lake: Any) -> None:
    lake.load(lake.day(0), key="mine")
    lake.load(lake.day(5))
    compact(lake, "--yes")
    text = lake.run(keys, "show", "rides.json")
    assert f"mine ({lake.day(0)})" in text
    longer = Window(lake.day(0).start, lake.day(1).end)
    assert list(ledger(lake).overlapping(longer)) == [lake.day(0)]
    lake.spoil("{")
    lake.json(keys, "rebuild", "rides.json", "--yes")
    compact(lake, "--yes")
    assert list(ledger(lake).overlapping(longer)) == [lake.day(0)]


def test_keys_of_ones_own_are_forgotten_by_their_date(lake: Any) -> None:
    lake.days(1)
    lake.load(None, key="new")
    with_keys(lake, ("old", 0, OLD), ("undated", 0, 0), ("later", 0, OLD + 86_400_000))
    body = compact(lake, "--before", "2020-01-02")
    assert body["forgotten"] == [{"key": "old", "published": "2020-01-01T00:00:00Z"}]
    assert body["undated"] == ["undated"]
    compact(lake, "--before", "2020-01-02", "--yes")
    assert {key for key, *_ in ledger(lake).keys} == {"new", "undated", "later"}
    assert state(lake, "--key", "old") == "free"
    assert state(lake, "--key", "later") == "published"
    text = lake.run(keys, "compact", "rides.json", "--before", "2020-01-03", "--yes")
    assert "forgotten: 1 key published before 2020-01-03T00:00:00Z" in text
    assert "committed in snapshot" in text


def test_a_key_that_a_snapshot_still_carries_stays(lake: Any) -> None:
    lake.load(None, key="mine")
    body = compact(lake, "--before", "2999-01-01", "--yes")
    assert (body["forgotten"], body["kept_by_snapshots"]) == ([], ["mine"])
    assert state(lake, "--key", "mine") == "published"


def test_windows_are_never_forgotten(lake: Any) -> None:
    lake.days(3)
    compact(lake, "--before", "2999-01-01", "--yes")
    assert state(lake, "--window", "2026-08-02/2026-08-03") == "published"


def test_it_cures_a_table_that_has_too_many_keys(lake: Any) -> None:
    for number in range(21):
        lake.load(None, key=f"k{number}")
    with_keys(lake, *((f"old{number}", 0, OLD) for number in range(MOST_KEYS - 1)))
    with pytest.raises(LDPError, match="ldp keys compact"):
        lake.load(None, key="one more")
    assert "more than 2000 keys" in str(lake.fails(keys, "compact", "rides.json", "--yes"))
    body = compact(lake, "--before", "2021-01-01", "--yes")
    assert len(body["forgotten"]) == MOST_KEYS - 1
    lake.load(None, key="one more")


def test_a_pipeline_without_keys_is_told(lake: Any) -> None:
    lake.load(None, key="theirs", pipeline="others")
    assert "rides has no keys in nyc.rides" in str(lake.fails(keys, "compact", "rides.json"))
