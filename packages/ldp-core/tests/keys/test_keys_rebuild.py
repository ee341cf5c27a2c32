"""``ldp keys rebuild``: what is certain stays, what is not is asked for, and nothing is guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ldp_core.commands.keys import keys
from ldp_core.commit.ledger import property_of, read, written
from ldp_core.commit.verify import KeysUnknown
from ldp_core.errors import UsageError


def rebuild(lake: Any, *args: str) -> dict[str, Any]:
    return dict(lake.json(keys, "rebuild", "rides.json", *args))


def state(lake: Any, window: str) -> str:
    return str(lake.json(keys, "show", "rides.json", "--window", window)["state"])


def test_a_ledger_that_is_right_is_left_alone(lake: Any) -> None:
    lake.days(3)
    head = lake.head()
    body = rebuild(lake, "--yes")
    assert (body["problem"], body["committed"], lake.head()) == (None, False, head)
    assert body["certain"] == ["main shows all that the ledger holds: 3 windows and 0 other keys"]
    assert "nothing has to be written" in lake.run(keys, "rebuild", "rides.json", "--yes")


def test_a_broken_ledger_is_written_anew_from_the_history(lake: Any) -> None:
    lake.days(25)
    lake.load(None, key="mine")
    rows = lake.rows()
    lake.spoil()
    head = lake.head()
    body = rebuild(lake)
    assert "is no ledger of keys" in body["problem"]
    assert not body["committed"]
    assert lake.head() == head
    assert body["assumed"] == []
    assert body["unsettled"] == {"windows": [], "keys": []}
    body = rebuild(lake, "--yes")
    assert body["committed"]
    assert body["snapshot_id"] == str(lake.head())
    assert lake.rows() == rows
    assert state(lake, "2026-08-03/2026-08-04") == "published"
    assert state(lake, "2026-08-29/2026-08-30") == "free"
    shown = lake.json(keys, "show", "rides.json")["pipelines"][0]
    assert shown["state"] == "verified"
    assert [item["count"] for item in shown["windows"]] == [25]
    assert [item["key"] for item in shown["keys"]] == ["mine"]
    assert lake.table().current_snapshot().summary["ldp.keys-rewritten"] == "rebuild rides"


def test_an_older_metadata_file_tells_what_summaries_no_longer_do(lake: Any) -> None:
    lake.days(4)
    table = lake.table()
    head = table.current_snapshot().snapshot_id
    old = [snap.snapshot_id for snap in table.metadata.snapshots if snap.snapshot_id != head]
    lake.spoil()
    lake.table().maintenance.expire_snapshots().by_ids(old).commit()
    body = rebuild(lake, "--yes")
    assert any("an older metadata file tells the keys" in line for line in body["certain"])
    assert body["assumed"] == []
    assert state(lake, "2026-08-01/2026-08-02") == "published"


def test_what_nobody_can_tell_has_to_be_said(lake: Any) -> None:
    lake.days(4)
    lake.load(None, key="mine")
    lake.forget_history()
    body = rebuild(lake)
    assert "its history was cut" in body["problem"]
    span = "2026-08-01T00:00:00Z/2026-08-05T00:00:00Z:day"
    assert body["unsettled"] == {"windows": [span], "keys": ["mine"]}
    error = lake.fails(keys, "rebuild", "rides.json", "--yes")
    assert "nobody can tell whether" in str(error)
    assert "--rest published|free" in str(error)
    said = ("--published", "2026-08-01/2026-08-04:day", "--free", "2026-08-04/2026-08-05")
    body = rebuild(lake, *said)
    assert body["unsettled"] == {"windows": [], "keys": ["mine"]}
    body = rebuild(lake, *said, "--free-key", "mine", "--yes")
    assert body["committed"]
    assert body["assumed"][:2] == [
        "published, as you say: 2026-08-01T00:00:00Z/2026-08-04T00:00:00Z:day",
        "free, as you say: 2026-08-04T00:00:00Z/2026-08-05T00:00:00Z, key mine",
    ]
    assert "before the oldest snapshot that is known" in body["assumed"][2]
    assert state(lake, "2026-08-03/2026-08-04") == "published"
    assert state(lake, "2026-08-04/2026-08-05") == "free"
    assert lake.json(keys, "show", "rides.json", "--key", "mine")["state"] == "free"


@pytest.mark.parametrize(("rest", "expected"), [("published", "published"), ("free", "free")])
def test_the_rest_is_settled_in_one_word(lake: Any, rest: str, expected: str) -> None:
    lake.days(2)
    lake.forget_history()
    assert rebuild(lake, "--rest", rest, "--yes")["committed"]
    assert state(lake, "2026-08-01/2026-08-02") == expected
    lake.days(2) if rest == "free" else None
    assert state(lake, "2026-08-01/2026-08-02") == "published"


def test_a_ledger_of_another_table_is_cured(lake: Any) -> None:
    lake.days(2)
    ledger = read(lake.table().properties, "rides")
    assert ledger is not None
    lake.spoil(written(replace(ledger, uuid="another"))[property_of("rides")])
    error = lake.fails(keys, "show", "rides.json", "--window", "2026-08-05/2026-08-06")
    assert isinstance(error, KeysUnknown)
    body = rebuild(lake, "--yes")
    assert "for another table" in body["problem"]
    assert body["committed"]
    shown = lake.json(keys, "show", "rides.json")["pipelines"][0]
    assert shown["state"] == "verified"
    assert shown["table_uuid"] == str(lake.table().metadata.table_uuid)
    assert state(lake, "2026-08-02/2026-08-03") == "published"


def test_keys_of_another_table_are_not_taken_over(lake: Any) -> None:
    """A table made anew with the properties of the old one: nothing of it is published there."""
    lake.days(2)
    properties = dict(lake.table().properties)
    lake.catalog().drop_table(("nyc", "rides"))
    lake.load(None, key="new")
    with lake.table().transaction() as transaction:
        transaction.set_properties(properties)
    error = lake.fails(keys, "show", "rides.json", "--window", "2026-08-01/2026-08-02")
    assert isinstance(error, KeysUnknown)
    body = rebuild(lake)
    assert body["unsettled"]["windows"] == ["2026-08-01T00:00:00Z/2026-08-03T00:00:00Z:day"]
    assert rebuild(lake, "--rest", "free", "--yes")["committed"]
    assert state(lake, "2026-08-01/2026-08-02") == "free"
    assert lake.json(keys, "show", "rides.json", "--key", "new")["state"] == "published"
    lake.days(2)


def test_what_main_shows_cannot_be_called_free(lake: Any) -> None:
    lake.days(2)
    error = lake.fails(keys, "rebuild", "rides.json", "--free", "2026-08-01/2026-08-02", "--yes")
    assert isinstance(error, UsageError)
    assert "is not free: main shows snapshot" in str(error)
    assert "ldp rollback" in str(error)


@pytest.mark.parametrize("key", ["", "a\nb", "k" * 513])
def test_no_key_is_vouched_for_that_no_run_could_have(lake: Any, key: str) -> None:
    lake.days(1)
    error = lake.fails(keys, "rebuild", "rides.json", "--published-key", key, "--yes")
    assert isinstance(error, UsageError)
    assert str(error).startswith("--published-key ")


def test_a_word_given_wrongly_can_be_taken_back(lake: Any) -> None:
    lake.days(1)
    rebuild(lake, "--published", "2026-08-10/2026-08-13:day", "--yes")
    assert state(lake, "2026-08-11/2026-08-12") == "published"
    body = rebuild(lake, "--free", "2026-08-11/2026-08-12", "--yes")
    assert body["assumed"] == ["1 key of the ledger: free, as you say"]
    assert [state(lake, f"2026-08-1{n}/2026-08-1{n + 1}") for n in range(3)] == [
        "published",
        "free",
        "published",
    ]
    assert "cannot be published and free" in str(
        lake.fails(keys, "rebuild", "rides.json", "--published-key", "x", "--free-key", "x")
    )
    assert "no whole number of windows" in str(
        lake.fails(keys, "rebuild", "rides.json", "--published", "2026-08-01/2026-08-02T05:00:00Z:day")
    )


def test_two_broken_ledgers_are_cured_one_after_the_other(lake: Any) -> None:
    lake.days(2)
    lake.config("others")
    lake.load(None, key="theirs", pipeline="others")
    lake.spoil()
    lake.spoil(pipeline="others")
    assert rebuild(lake, "--yes")["committed"]
    assert lake.json(keys, "rebuild", "others.json", "--yes")["committed"]
    assert state(lake, "2026-08-01/2026-08-02") == "published"
    assert lake.json(keys, "show", "others.json", "--key", "theirs")["state"] == "published"


def test_a_rollback_past_a_word_that_was_given_takes_it_back(lake: Any) -> None:
    ids = lake.days(2)
    rebuild(lake, "--published", "2026-08-10/2026-08-11", "--yes")
    lake.table().manage_snapshots().rollback_to_snapshot(ids[1]).commit()
    assert state(lake, "2026-08-10/2026-08-11") == "free"
    assert state(lake, "2026-08-02/2026-08-03") == "published"


def test_main_moved_forward_again_behind_folded_keys_is_cured(lake: Any) -> None:
    """The kinds that a rollback beyond the newest keys leaves: forward again, and files that are gone."""
    ids = lake.days(25)
    lake.table().manage_snapshots().rollback_to_snapshot(ids[1]).commit()
    lake.load(None, key="mine")
    lake.table().manage_snapshots().set_current_snapshot(ids[24]).commit()
    error = lake.fails(keys, "show", "rides.json", "--window", "2026-09-20/2026-09-21")
    assert isinstance(error, KeysUnknown)
    body = rebuild(lake, "--rest", "published", "--yes")
    assert body["committed"]
    assert all(state(lake, f"2026-08-{n:02}/2026-08-{n + 1:02}") == "published" for n in range(1, 25))
