"""``ldp keys show``: what is published, what is free, and what nobody can tell."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from ldp_core.commands._keys import place_of
from ldp_core.commands.keys import keys
from ldp_core.commit.claim import Claim
from ldp_core.commit.ledger import Who, property_of, read, written
from ldp_core.commit.lineage import Point
from ldp_core.commit.verify import KeysUnknown, verified
from ldp_core.errors import TableNotFound, UsageError
from ldp_core.ids import run_hex
from ldp_core.tables.view import of_metadata

DAY = "2026-08-{:02}T00:00:00Z/2026-08-{:02}T00:00:00Z"


def one(lake: Any, *args: str) -> dict[str, Any]:
    body = lake.json(keys, "show", "rides.json", *args)
    return dict(body["pipelines"][0]) if "pipelines" in body else dict(body)


def test_the_keys_of_a_table_are_told_by_pipeline(lake: Any) -> None:
    ids = lake.days(23)
    last = lake.load(None, key="my own").snapshot_id
    body = lake.json(keys, "show", "rides.json")
    assert body["table"] == "nyc.rides"
    assert body["main"] == str(last)
    assert body["only_in_summaries"] == []
    shown = body["pipelines"][0]
    assert (shown["pipeline"], shown["state"]) == ("rides", "verified")
    assert shown["anchor"] == {"snapshot_id": str(last), "sequence_number": 24}
    folded = {"window": "2026-08-01T00:00:00Z/2026-08-05T00:00:00Z", "size": "day", "count": 4}
    assert shown["windows"] == [{**folded, "config": "rides.json"}]
    assert len(shown["recent"]) == 20
    assert shown["recent"][0]["window"] == DAY.format(5, 6)
    assert shown["recent"][0]["snapshot_ids"] == [str(ids[4])]
    assert shown["recent"][-1]["key"] == "my own"
    assert shown["recent"][-1]["own_key"]
    assert shown["recent"][-1]["published"].startswith("20")
    text = lake.run(keys, "show", "rides.json")
    assert "pipeline rides: verified, main shows them all" in text
    assert "4 x day" in text
    assert f"key my own  snapshot {last}" in text


def test_one_window_or_key_is_one_answer(lake: Any) -> None:
    ids = lake.days(2)
    lake.load(None, key="mine")
    published = one(lake, "--window", "2026-08-02/2026-08-03")
    assert (published["state"], published["snapshot_id"]) == ("published", str(ids[1]))
    assert published["expired"] is False
    assert one(lake, "--window", "2026-08-09/2026-08-10")["state"] == "free"
    assert one(lake, "--key", "mine")["state"] == "published"
    assert one(lake, "--key", published["key"])["state"] == "published"
    assert one(lake, "--key", "other")["state"] == "free"
    for nothing in (["--window", ""], ["--key", ""], ["--key", " "]):
        assert "must be" in str(lake.fails(keys, "show", "rides.json", *nothing))
    text = lake.run(keys, "show", "rides.json", "--window", "2026-08-09/2026-08-10")
    assert text == f"free: window {DAY.format(9, 10)} of rides\n"
    error = lake.fails(keys, "show", "rides.json", "--window", "2026-08-01/2026-08-02", "--key", "x")
    assert isinstance(error, UsageError)


def test_the_run_that_published_is_told_by_its_id_where_its_snapshot_still_is(lake: Any) -> None:
    first = lake.load(lake.day(0), run="second-day").snapshot_id
    lake.load(lake.day(1), run="01a22a21-d4ba-7000-8000-000000000000")
    recent = one(lake)["recent"]
    assert [item["expired"] for item in recent] == [False, False]
    assert "expired" not in lake.run(keys, "show", "rides.json")
    assert [item["run_id"] for item in recent] == ["second-day", "01a22a21-d4ba-7000-8000-000000000000"]
    assert recent[0]["run"] == run_hex("second-day")
    assert f"snapshot {first}, run second-day, attempt 1\n" in lake.run(keys, "show", "rides.json")
    words = ("--window", "2026-08-01/2026-08-02")
    assert one(lake, *words)["run_id"] == "second-day"
    text = lake.run(keys, "show", "rides.json", *words)
    assert text == f"published: window {DAY.format(1, 2)} of rides, in snapshot {first}, by run second-day\n"
    table = lake.table()
    table.maintenance.expire_snapshots().by_id(first).commit()
    assert [item["run_id"] is None for item in one(lake)["recent"]] == [True, False]
    assert [item["expired"] for item in one(lake)["recent"]] == [True, False]
    text = lake.run(keys, "show", "rides.json")
    assert f"snapshot {first} (expired), run {run_hex('second-day')}, attempt 1\n" in text
    assert text.endswith("of its run the id without dashes, or a hash of one that is no UUID\n")
    answer = one(lake, *words)
    assert (answer["state"], answer["expired"], answer["run_id"]) == ("published", True, None)
    text = lake.run(keys, "show", "rides.json", *words)
    assert text == f"published: window {DAY.format(1, 2)} of rides, in snapshot {first} (expired)\n"


def test_where_there_is_no_table_every_window_is_free(lake: Any) -> None:
    assert one(lake, "--window", "2026-08-02/2026-08-03")["state"] == "free"
    assert isinstance(lake.fails(keys, "show", "rides.json"), TableNotFound)
    assert not (lake.root / "wh").exists()


def test_a_rollback_by_another_engine_is_told(lake: Any) -> None:
    ids = lake.days(3)
    lake.table().manage_snapshots().rollback_to_snapshot(ids[0]).commit()
    shown = one(lake)
    assert shown["state"] == "rolled_back"
    assert shown["freed_windows"] == ["2026-08-02T00:00:00Z/2026-08-04T00:00:00Z:day"]
    assert "free again: 2026-08-02T00:00:00Z/2026-08-04T00:00:00Z:day" in lake.run(keys, "show", "rides.json")


def test_what_nobody_can_tell_comes_with_the_reason(lake: Any) -> None:
    lake.days(2)
    lake.forget_history()
    shown = one(lake)
    assert shown["state"] == "unknown"
    assert "its history was cut" in shown["reason"]
    error = lake.fails(keys, "show", "rides.json", "--window", "2026-08-01/2026-08-02")
    assert isinstance(error, KeysUnknown)
    assert error.exit_code == 1
    assert "ldp keys rebuild" in str(error)


def test_a_broken_ledger_hides_no_other(lake: Any) -> None:
    lake.days(1)
    lake.load(None, key="theirs", pipeline="others")
    lake.spoil()
    shown = {item["pipeline"]: item for item in lake.json(keys, "show", "rides.json")["pipelines"]}
    assert shown["rides"]["state"] == "broken"
    assert shown["others"]["state"] == "verified"
    assert "rides: broken: the table property" in lake.run(keys, "show", "rides.json")


def test_keys_that_only_summaries_tell_of_are_listed(lake: Any) -> None:
    ids = lake.days(1)
    table = lake.table()
    with table.transaction() as transaction:
        transaction.remove_properties(property_of("rides"), "ldp.keys.version")
    body = lake.json(keys, "show", "rides.json")
    assert body["pipelines"] == []
    assert body["only_in_summaries"][0]["window"] == DAY.format(1, 2)
    assert body["only_in_summaries"][0]["snapshot_id"] == str(ids[0])
    assert "only in snapshot summaries" in lake.run(keys, "show", "rides.json")


def test_a_ledger_of_another_table_is_told(lake: Any) -> None:
    lake.days(1)
    ledger = read(lake.table().properties, "rides")
    assert ledger is not None
    lake.spoil(written(replace(ledger, uuid="another"))[property_of("rides")])
    assert "written for another table (uuid another" in one(lake)["reason"]


FORGED: list[dict[str, Any]] = [
    {"uuid": "another"},
    {"anchor": Point(999, 0)},
    {"anchor": Point(999, 1)},
    {"anchor": Point(999, 99)},
]


@pytest.mark.parametrize("forged", FORGED)
def test_what_is_shown_of_a_forged_ledger_is_what_a_run_is_told(lake: Any, forged: dict[str, Any]) -> None:
    ids = lake.days(23)
    table = lake.table()
    table.maintenance.expire_snapshots().by_ids(ids[:2]).commit()
    ledger = read(lake.table().properties, "rides")
    assert ledger is not None
    lake.spoil(written(replace(ledger, **forged))[property_of("rides")])
    shown = one(lake)
    view = place_of("rides.json", None).view()
    told = []
    for number in range(24):
        window = lake.day(number)
        claim = Claim("r", 1, "rides", "nyc.rides", Who("CSV", "rides"), ledger.key_of(window), window)
        args = ("show", "rides.json", "--window", str(window))
        try:
            found = claim.look(view)
            if found is None:
                claim.check_overlap(verified(view, "rides"))  # so does a run that has something to load
            told.append("published" if found else "free")
            assert lake.json(keys, *args)["state"] == told[-1]
        except KeysUnknown:
            told.append("unknown")
            assert isinstance(lake.fails(keys, *args), KeysUnknown)
    if "unknown" in told:
        assert told == ["unknown"] * 2 + ["published"] * 21 + ["unknown"]
        assert shown["state"] == "unknown"
        assert shown["published_windows"] == ["2026-08-03T00:00:00Z/2026-08-24T00:00:00Z:day"]
        assert shown["published_keys"] == []
        assert "published all the same, as snapshots of main tell: 2026-08-03T" in lake.run(
            keys, "show", "rides.json"
        )
    else:
        assert told == ["published"] * 23 + ["free"]
        assert (shown["state"], shown["anchor_on_main"]) == ("verified", False)
        assert "snapshot 999, which main does not show: each key was looked for by itself" in lake.run(
            keys, "show", "rides.json"
        )


def test_looking_imports_no_pyiceberg(lake: Any) -> None:
    lake.days(2)
    code = (
        "import sys\n"
        "from ldp_core.commands.keys import keys\n"
        "keys(['show', 'rides.json', '--json'], standalone_mode=False)\n"
        "heavy = {'pyiceberg', 'sqlalchemy', 'pyarrow', 'duckdb'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pipelines"][0]["state"] == "verified"


def test_the_time_of_a_snapshot_is_known_to_both_views(lake: Any) -> None:
    ids = lake.days(1)
    table = lake.table()
    one_way = of_metadata(table.metadata, table.io).snapshots[ids[0]]
    assert one_way == place_of("rides.json", None).view().snapshots[ids[0]]
    assert one_way.at > 0
