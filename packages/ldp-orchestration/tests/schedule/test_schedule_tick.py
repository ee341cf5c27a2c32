"""A tick runs what is due, carries on what failed, and leaves alone what keeps failing."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ldp_cli.main import main
from ldp_core.errors import ConfigError, UsageError
from ldp_core.events.jsonl import read
from ldp_core.locks import try_lock
from ldp_orchestration.schedule.listing import list_scheduled
from ldp_orchestration.schedule.tick import LOCK, tick

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from nightly_lake import at, catching_up, config, drop, loaded, night, only, tick_at
finally:
    sys.path.remove(HERE)

MINUTE = timedelta(minutes=1)


def test_the_latest_window_runs_once(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0, 1)
    assert only(tick_at(tmp_path, night(1))).outcome == "published"
    again = tick_at(tmp_path, night(1, minutes=5))
    assert only(again).outcome == "skipped"
    assert (again.exit_code, again.workflows[0].due) == (0, 0)
    assert loaded(tmp_path) == [1]


def test_a_failed_window_is_the_next_attempt_of_its_runs(tmp_path: Path) -> None:
    config(tmp_path)
    first = only(tick_at(tmp_path, night(0)))
    assert (first.outcome, first.result and first.result.attempt) == ("failed", 1)
    drop(tmp_path, 0)
    second = only(tick_at(tmp_path, night(0, minutes=1)))
    assert first.result
    assert second.result
    assert (second.state, second.outcome, second.result.attempt) == ("failed", "published", 2)
    assert second.result.run_id == first.result.run_id
    (one,), (two,) = first.result.tasks, second.result.tasks
    assert (one.run_id, one.attempt, two.run_id, two.attempt) == (one.run_id, 1, one.run_id, 2)


def test_a_window_that_keeps_failing_waits_longer_each_time(tmp_path: Path) -> None:
    config(tmp_path)
    moment = night(0)
    assert only(tick_at(tmp_path, moment)).outcome == "failed"
    for failures, wait in ((1, 5), (2, 10), (3, 20), (4, 40)):
        early = tick_at(tmp_path, moment + wait * MINUTE - MINUTE)
        one = only(early)
        assert (one.outcome, one.failures, one.result) == ("waiting", failures, None)
        assert one.next_try == moment + wait * MINUTE
        assert (early.exit_code, early.status, early.counts()["waiting"]) == (1, "failed", 1)
        moment += wait * MINUTE
        assert only(tick_at(tmp_path, moment)).outcome == "failed"


def test_list_shows_the_next_try(tmp_path: Path) -> None:
    config(tmp_path)
    tick_at(tmp_path, night(0))
    (one,) = list_scheduled(tmp_path, clock=at(night(0, minutes=1))).scheduled
    assert [wait.to_dict() for wait in one.waiting] == [
        {
            "window": "2100-08-01T00:00:00Z/2100-08-02T00:00:00Z",
            "failures": 1,
            "next_try": "2100-08-02T02:10:00Z",
        }
    ]
    assert (one.last_status, len(one.due)) == ("failed", 1)


def test_a_moment_that_is_asked_about_counts_as_the_time(tmp_path: Path) -> None:
    config(tmp_path)
    outcomes = []
    for minutes in (0, 1, 5, 6, 14, 15):
        outcomes.append(only(tick(tmp_path, now=night(0, minutes=minutes))).outcome)
    assert outcomes == ["failed", "waiting", "failed", "waiting", "waiting", "failed"]


def test_force_ends_the_wait(tmp_path: Path) -> None:
    config(tmp_path)
    tick_at(tmp_path, night(0))
    one = only(tick_at(tmp_path, night(0, minutes=1), force=True))
    assert (one.outcome, one.result and one.result.attempt) == ("failed", 2)


@pytest.mark.parametrize("what", ["source comes", "source changes", "config", "project file"])
def test_a_change_ends_the_wait(tmp_path: Path, what: str) -> None:
    file = config(tmp_path)
    if what == "source changes":
        drop(tmp_path, 0)
        (tmp_path / "d" / "2100-08-01.csv").write_text("")
    assert only(tick_at(tmp_path, night(0))).outcome == "failed"
    assert only(tick_at(tmp_path, night(0, minutes=1))).outcome == "waiting"
    if what.startswith("source"):
        drop(tmp_path, 0)
    elif what == "config":
        file.write_text(file.read_text() + " ")
    else:
        (tmp_path / "ldp.yaml").write_text("catalogs: {}\n")
    assert only(tick_at(tmp_path, night(0, minutes=2))).outcome != "waiting"


def test_a_file_with_an_older_time_than_the_failure_ends_the_wait(tmp_path: Path) -> None:
    config(tmp_path)
    tick_at(tmp_path, night(0))
    drop(tmp_path, 0)
    os.utime(tmp_path / "d" / "2100-08-01.csv", (1, 1))
    assert only(tick_at(tmp_path, night(0, minutes=1))).outcome == "published"


def test_a_clock_that_was_ahead_does_not_hold_a_window_back(tmp_path: Path) -> None:
    config(tmp_path)
    tick_at(tmp_path, night(0, hours=12))
    assert only(tick_at(tmp_path, night(0))).outcome == "failed"


def test_a_blocked_window_runs_at_every_tick(tmp_path: Path) -> None:
    config(tmp_path, quality={"on_failure": "fail", "checks": [{"check": "row_count", "min": 2}]})
    drop(tmp_path, 0)
    for attempt in (1, 2, 3):
        result = tick_at(tmp_path, night(0, minutes=attempt))
        one = only(result)
        assert (one.outcome, result.exit_code, one.result and one.result.attempt) == ("blocked", 3, attempt)
    drop(tmp_path, 0, rows=2)
    assert only(tick_at(tmp_path, night(0, minutes=9))).outcome == "published"


def test_a_catch_up_goes_on_where_it_stopped_and_says_how_long(tmp_path: Path) -> None:
    catching_up(tmp_path)
    drop(tmp_path, 0, 1, 2, 3)
    told: list[str] = []
    first = tick_at(tmp_path, night(3), max_windows=1, on_note=lambda file, text: told.append(text))
    assert [one.outcome for one in first.workflows[0].windows] == ["published", *["not_run"] * 3]
    assert told == ["catching up: 1 window; 3 more are left to the next ticks"]
    second = tick_at(tmp_path, night(3), on_note=lambda file, text: told.append(text))
    assert second.counts() == {"published": 3, "skipped": 1, "blocked": 0, "failed": 0}
    assert told[1].startswith("catching up: 3 windows, about ")
    assert loaded(tmp_path) == [0, 1, 2, 3]


def test_a_failed_night_does_not_stop_the_next(tmp_path: Path) -> None:
    catching_up(tmp_path)
    drop(tmp_path, 0, 2)
    assert tick_at(tmp_path, night(2)).counts() == {"published": 2, "skipped": 0, "blocked": 0, "failed": 1}
    drop(tmp_path, 1)
    assert tick_at(tmp_path, night(2, minutes=1)).counts()["published"] == 1
    assert loaded(tmp_path) == [0, 1, 2]


def test_windows_side_by_side_give_what_they_give_one_by_one(tmp_path: Path) -> None:
    catching_up(tmp_path)
    drop(tmp_path, *range(6))
    result = tick_at(tmp_path, night(5), jobs=3)
    ends = [one.result.tasks[0] for one in result.workflows[0].windows if one.result is not None]
    assert [(one.status, one.error) for one in ends] == [("published", None)] * 6
    assert loaded(tmp_path) == list(range(6))


def test_a_second_tick_does_nothing(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0)
    with try_lock(tmp_path / LOCK) as held:
        assert held
        result = tick_at(tmp_path, night(0))
    assert (result.overlapped, result.exit_code, result.workflows) == (True, 0, ())
    assert result.lock == tmp_path / LOCK
    assert loaded(tmp_path) == []


def test_what_is_wrong_with_one_file_stops_no_other(tmp_path: Path) -> None:
    catching_up(tmp_path, start="1700-01-01")
    config(tmp_path, "good")
    (tmp_path / "bad.json").write_text(json.dumps({"kind": "Workflow", "metadata": {"schedule": "x"}}))
    drop(tmp_path, 0)
    result = tick_at(tmp_path, night(0))
    by_file = {one.file: one for one in result.workflows}
    assert [window.outcome for window in by_file["good.json"].windows] == ["published"]
    assert "set a later start" in str(by_file["nightly.json"].error)
    assert [one.file for one in result.problems] == ["bad.json"]
    assert result.exit_code == 1
    listed = list_scheduled(tmp_path, clock=at(night(0)))
    assert listed.problems == result.problems
    assert {one.file: bool(one.error) for one in listed.scheduled} == {
        "good.json": False,
        "nightly.json": True,
    }
    assert listed.exit_code == 1


def test_an_unexpected_error_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ldp_orchestration.kinds.pipeline import OpenPipeline

    config(tmp_path, "bad")
    config(tmp_path, "good")
    drop(tmp_path, 0)
    done = OpenPipeline.done

    def broken(self: OpenPipeline, windows: object, **options: bool) -> list[bool]:
        if self.task.id == "bad":
            raise RuntimeError("boom")
        return done(self, windows, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(OpenPipeline, "done", broken)
    bad, good = tick_at(tmp_path, night(0)).workflows
    assert (bad.error, bad.exit_code) == ("RuntimeError: boom", 1)
    assert [window.outcome for window in good.windows] == ["published"]


def test_a_window_that_was_rolled_back_starts_a_run_of_its_own(tmp_path: Path) -> None:
    from ldp_cli.main import main

    file = str(config(tmp_path))
    drop(tmp_path, 0, 1)
    kept = only(tick_at(tmp_path, night(0))).result
    first = only(tick_at(tmp_path, night(1))).result
    assert kept
    assert first
    assert kept.tasks[0].result
    snapshot = str(kept.tasks[0].result.snapshot_id)
    assert main(["rollback", file, "--snapshot", snapshot, "--yes"]) == 0
    again = only(tick_at(tmp_path, night(1, minutes=5)))
    assert again.result
    assert (again.outcome, again.result.attempt) == ("published", 1)
    assert again.result.run_id != first.run_id
    assert loaded(tmp_path) == [0, 1]


def test_list_writes_nothing(tmp_path: Path) -> None:
    config(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with try_lock(tmp_path / LOCK):
        assert len(list_scheduled(tmp_path, clock=at(night(0))).scheduled[0].due) == 1
    assert [path for path in sorted(tmp_path.rglob("*")) if ".ldp" not in path.parts] == before


def test_the_events_tell_of_the_tick(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    started = next(event for event in read(tmp_path / ".ldp" / "events.jsonl"))
    assert started["payload"]["tick"]["now"] == "2100-08-02T02:05:00Z"


def test_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not there"):
        tick(tmp_path / "none")
    with pytest.raises(UsageError, match="jobs"):
        tick(tmp_path, jobs=0)
    with pytest.raises(ConfigError, match="now"):
        tick(tmp_path, now="soon")


def test_an_error_says_when_it_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config(tmp_path, retries={"max_attempts": 2, "delay_s": 0.01})
    command = ["schedule", "tick", str(tmp_path), "--now"]
    assert main([*command, "2100-08-02T02:05:00Z"]) == 1
    told = capsys.readouterr().err
    assert "attempt 1 failed, the next one begins in" in told
    assert "next try 5 min after this one began, or when its config or source changes" in told
    assert main([*command, "2100-08-02T02:10:00Z"]) == 1
    assert "next try 10 min after this one began" in capsys.readouterr().err


def test_two_files_of_one_identifier_are_not_taken_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,at\n1,2026-03-05 10:00:00\n")
    for name in ("a", "b"):
        body = {
            "source": {"name": "r", "format": "CSV", "path": "r.csv" if name == "a" else "missing.csv"},
            "target": {"name": name, "format": "PARQUET", "path": f"out/{name}.parquet"},
            "window": {"size": "day", "column": "at"},
            "schedule": "@daily",
        }
        (tmp_path / f"{name}.json").write_text(json.dumps({"identifier": "same", "metadata": body}))
    moment = datetime(2026, 3, 6, tzinfo=UTC)
    first = tick(tmp_path, now=moment)
    assert [one.windows[0].outcome for one in first.workflows] == ["published", "failed"]
    assert (tmp_path / "out" / "a.parquet").exists()
    again = tick(tmp_path, now=moment, force=True)
    assert [one.windows[0].outcome for one in again.workflows] == ["skipped", "failed"]
    assert again.workflows[1].windows[0].to_dict()["attempt"] == 2
    listed = list_scheduled(tmp_path, now=moment).to_dict()["scheduled"]
    assert [one["last_status"] for one in listed] == ["succeeded", "failed"]
