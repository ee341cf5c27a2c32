"""``ldp rollback``: main goes back, the keys above are free, and all that is said before it is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.commands._keys import place_of
from ldp_core.commands.keys import keys
from ldp_core.commands.rollback import rollback
from ldp_core.commands.run import run
from ldp_core.commands.runs import runs
from ldp_core.commit.base import load_base
from ldp_core.commit.ledger import property_of
from ldp_core.commit.rollback import RollbackRefused, commit_back, look_back
from ldp_core.errors import CommitConflict, UsageError
from ldp_core.testing.faults import FaultyCatalog, Plan, When, faults

DAYS = ("2026-08-01/2026-08-02", "2026-08-02/2026-08-03", "2026-08-03/2026-08-04")


def back(lake: Any, *args: str) -> dict[str, Any]:
    return dict(lake.json(rollback, "rides.json", *args))


def state(lake: Any, window: str) -> str:
    return str(lake.json(keys, "show", "rides.json", "--window", window)["state"])


def test_a_preview_tells_rows_files_and_keys_and_changes_nothing(lake: Any) -> None:
    ids = lake.days(3)
    body = back(lake, "--snapshot", str(ids[0]))
    assert body["from_snapshot_id"] == str(ids[2])
    assert (body["before"], body["after"]) == ({"rows": 3, "files": 3}, {"rows": 1, "files": 1})
    assert [item["snapshot_id"] for item in body["undone"]] == [str(ids[2]), str(ids[1])]
    assert body["undone"][0]["window"] == str(lake.day(2))
    freed = {"pipeline": "rides", "windows": ["2026-08-02T00:00:00Z/2026-08-04T00:00:00Z:day"]}
    assert body["freed"] == [{**freed, "window_count": 2, "keys": []}]
    assert (body["committed"], lake.head()) == (False, ids[2])
    text = lake.run(rollback, "rides.json", "--snapshot", str(ids[0]))
    assert "rows: 3 -> 1" in text
    assert "free again, of rides: 2026-08-02T00:00:00Z/2026-08-04T00:00:00Z:day" in text


def test_main_goes_back_and_the_windows_above_are_free(lake: Any) -> None:
    ids = lake.days(3)
    rows = lake.rows()
    body = back(lake, "--snapshot", str(ids[0]), "--yes")
    table = lake.table()
    head = table.current_snapshot()
    assert body["snapshot_id"] == str(head.snapshot_id)
    assert head.parent_snapshot_id == ids[0]
    assert head.sequence_number == 4
    assert head.summary["total-records"] == "1"
    assert head.summary["ldp.rolled-back-from"] == str(ids[2])
    assert lake.rows() == rows[:1]
    assert [state(lake, window) for window in DAYS] == ["published", "free", "free"]
    shown = lake.json(keys, "show", "rides.json")["pipelines"][0]
    assert shown["state"] == "verified"
    assert shown["anchor"]["snapshot_id"] == str(head.snapshot_id)
    assert [item["snapshot_ids"] for item in shown["off"]] == [[str(ids[1])], [str(ids[2])]]
    for number in (1, 2):
        lake.load(lake.day(number), run=f"again {number}")
    assert lake.rows() == rows


def test_a_rollback_survives_the_loss_of_what_it_undid(lake: Any) -> None:
    """Undone snapshots and older metadata files are gone: freed keys stay free, the others taken."""
    ids = lake.days(3)
    back(lake, "--snapshot", str(ids[0]), "--yes")
    head = lake.head()
    old = [snap.snapshot_id for snap in lake.table().metadata.snapshots if snap.snapshot_id != head]
    lake.table().maintenance.expire_snapshots().by_ids(old).commit()
    for entry in lake.table().metadata.metadata_log:
        Path(entry.metadata_file.removeprefix("file://")).unlink()
    assert [state(lake, window) for window in DAYS] == ["published", "free", "free"]


def test_a_rollback_is_not_fooled_when_main_is_moved_forward_again(lake: Any) -> None:
    ids = lake.days(3)
    back(lake, "--snapshot", str(ids[0]), "--yes")
    table = lake.table()
    table.manage_snapshots().set_current_snapshot(ids[2]).commit()
    lake.foreign()
    head = lake.head()
    old = [s.snapshot_id for s in lake.table().metadata.snapshots if s.snapshot_id not in (head, ids[0])]
    lake.table().maintenance.expire_snapshots().by_ids(old).commit()
    assert [state(lake, window) for window in DAYS] == ["published"] * 3


def test_back_to_before_a_run(lake: Any) -> None:
    ids = lake.days(3)
    body = back(lake, "--run", "run 2026-08-02T00:00:00Z/2026-08-03T00:00:00Z", "--yes")
    assert body["to_snapshot_id"] == str(ids[0])
    again = lake.fails(rollback, "rides.json", "--run", "run 2026-08-02T00:00:00Z/2026-08-03T00:00:00Z")
    assert isinstance(again, RollbackRefused)
    assert "it was rolled back already" in str(again)
    assert "main shows no snapshot of it" in str(lake.fails(rollback, "rides.json", "--run", "nobody"))
    first = lake.fails(rollback, "rides.json", "--run", "run 2026-08-01T00:00:00Z/2026-08-02T00:00:00Z")
    assert "published the first snapshot of the table" in str(first)


def test_what_stood_before_a_run_may_have_expired(lake: Any) -> None:
    first, second = lake.days(2)
    run = lake.table().snapshot_by_id(second).summary["ldp.run-id"]
    lake.table().maintenance.expire_snapshots().by_id(first).commit()
    error = lake.fails(rollback, "rides.json", "--run", run)
    assert str(error).startswith(f"the snapshot before run {run} has expired; main cannot go back to it")
    assert "ldp snapshots CONFIG" in str(error)


def test_main_only_goes_back(lake: Any) -> None:
    ids = lake.days(3)
    back(lake, "--snapshot", str(ids[0]), "--yes")
    error = lake.fails(rollback, "rides.json", "--snapshot", str(ids[2]), "--yes")
    assert isinstance(error, RollbackRefused)
    assert "is no ancestor of main" in str(error)
    assert "run the windows again" in str(error)
    assert "there is no snapshot 7 in the table" in str(lake.fails(rollback, "rides.json", "--snapshot", "7"))
    body = back(lake, "--snapshot", str(lake.head()), "--yes")
    assert (body["undone"], body["committed"]) == ([], False)
    assert isinstance(lake.fails(rollback, "rides.json"), UsageError)
    assert isinstance(lake.fails(rollback, "rides.json", "--snapshot", "1", "--run", "x"), UsageError)


def test_main_that_moved_since_the_preview_stays(lake: Any) -> None:
    ids = lake.days(2)
    place = place_of("rides.json", None)
    planned = look_back(place.view(), ids[0])
    stale = place.base()
    late = lake.load(None, key="meanwhile").snapshot_id
    for base in (stale, place.base()):
        with pytest.raises(CommitConflict, match="nothing was rolled back"):
            commit_back(base, planned, place.owner)
    assert lake.head() == late
    assert len(lake.rows()) == 3


def test_everybody_s_keys_above_are_freed(lake: Any) -> None:
    ids = lake.days(1)
    lake.config("others")
    lake.load(None, key="theirs", pipeline="others")
    lake.load(None, key="mine")
    body = back(lake, "--snapshot", str(ids[0]), "--yes")
    assert {(item["pipeline"], *item["keys"]) for item in body["freed"]} == {
        ("rides", "mine"),
        ("others", "theirs"),
    }
    assert lake.json(keys, "show", "others.json", "--key", "theirs")["state"] == "free"


def test_folded_keys_are_freed_by_what_older_metadata_tells(lake: Any) -> None:
    ids = lake.days(25)
    body = back(lake, "--snapshot", str(ids[1]), "--yes")
    assert body["freed"][0]["window_count"] == 23
    assert state(lake, DAYS[1]) == "published"
    assert state(lake, DAYS[2]) == "free"


def test_a_ledger_that_nobody_can_read_stays_and_is_told(lake: Any) -> None:
    ids = lake.days(2)
    lake.load(None, key="theirs", pipeline="others")
    lake.spoil(pipeline="others")
    body = back(lake, "--snapshot", str(ids[0]), "--yes")
    assert body["committed"]
    assert "is no ledger of keys" in next(iter(body["unknown"].values()))


def test_keys_that_only_summaries_tell_of_are_freed_too(lake: Any) -> None:
    ids = lake.days(3)
    with lake.table().transaction() as transaction:
        transaction.remove_properties(property_of("rides"), "ldp.keys.version")
    body = back(lake, "--snapshot", str(ids[0]), "--yes")
    assert body["freed"][0]["windows"] == ["2026-08-02T00:00:00Z/2026-08-04T00:00:00Z:day"]
    assert [state(lake, window) for window in DAYS] == ["published", "free", "free"]


def test_the_whole_way_with_the_real_command(lake: Any) -> None:
    lines = ["id,at", *(f"{n},2026-08-0{n}T05:00:00" for n in (1, 2, 3))]
    (lake.root / "rides.csv").write_text("\n".join(lines) + "\n")
    made = [lake.json(run, "rides.json", "--window", window) for window in DAYS]
    second = made[1]["run_id"]
    back(lake, "--run", second, "--yes")
    assert [state(lake, window) for window in DAYS] == ["published", "free", "free"]
    listed = {item["run_id"]: item["status"] for item in lake.json(runs)["runs"]}
    assert [listed[item["run_id"]] for item in made] == ["published", "rolled_back", "rolled_back"]
    events = [json.loads(line) for line in (lake.root / ".ldp/events.jsonl").read_text().splitlines()]
    assert events[-1]["type"] == "table.maintained"
    assert events[-1]["payload"]["runs"] == [made[2]["run_id"], second]
    again = [lake.json(run, "rides.json", "--window", window)["status"] for window in DAYS]
    assert again == ["skipped_duplicate", "published", "published"]
    ids = sorted(lake.table().scan().to_arrow()["id"].to_pylist())
    assert ids == [1, 2, 3]


class AtCommit(Plan):
    """The first commit fails."""

    def call(self, name: str, function: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "commit_table" and self.index is None:
            self.index = len(self.calls)
        return super().call(name, function, *args, **kwargs)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_rollback_whose_answer_is_lost_is_done_once(lake: Any, when: When) -> None:
    ids = lake.days(2)
    place = place_of("rides.json", None)
    planned = look_back(place.view(), ids[0])
    base = load_base(FaultyCatalog("nyc", lake.root / "wh"), ("nyc", "rides"))
    with faults(AtCommit(when=when)) as plan:
        done = commit_back(base, planned, place.owner)
    assert plan.calls[plan.index or 0] == "commit_table"
    assert (lake.head(), len(lake.table().metadata.snapshots)) == (done.snapshot_id, 3)
    assert [state(lake, window) for window in DAYS] == ["published", "free", "free"]
