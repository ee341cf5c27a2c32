"""What a list tells: what comes, what is due, what was missed, and what to type."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ldp_cli.main import main
from ldp_core.window import parse_window
from ldp_orchestration.load import load_workflow
from ldp_orchestration.schedule.fill import commands
from ldp_orchestration.schedule.listing import Scheduled, list_scheduled

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from nightly_lake import at, config, drop, loaded, night, tick_at
finally:
    sys.path.remove(HERE)


def one(folder: Path, moment: datetime, **options: int) -> Scheduled:
    (found,) = list_scheduled(folder, clock=at(moment), **options).scheduled
    return found


def test_missed_windows_come_with_the_command_that_fills_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "the lake"
    place.mkdir()
    config(place)
    drop(place, 0, 1, 2, 3, 4)
    for day in (0, 2):
        tick_at(place, night(day))
    found = one(Path("the lake"), night(4))
    assert [str(window)[:10] for window in found.missed] == ["2100-08-02", "2100-08-04"]
    assert [str(window)[:10] for window in found.due] == ["2100-08-05"]
    assert (str(found.last_window)[:10], found.last_status) == ("2100-08-03", "succeeded")
    (command,) = found.commands
    assert command == "ldp backfill 'the lake/rides.json' --from 2100-08-02 --to 2100-08-05"
    assert main(shlex.split(command)[1:]) == 0
    assert loaded(place) == [0, 1, 2, 3]
    assert one(Path("the lake"), night(4)).missed == ()


def test_no_more_missed_windows_than_asked_for_are_named(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0)
    tick_at(tmp_path, night(0))
    found = one(tmp_path, night(9), max_windows=2)
    assert ([str(window)[:10] for window in found.missed], found.missed_in_all) == (
        ["2100-08-02", "2100-08-03"],
        8,
    )


def test_commands_for_hours_and_for_windows_without_a_size(tmp_path: Path) -> None:
    windows = [parse_window(("2026-10-25T00:00Z", "2026-10-25T01:00Z"))]
    zone = {"timezone": "Europe/Paris"}
    hourly = load_workflow(config(tmp_path, schedule="@hourly", window={"size": "hour", **zone}))
    assert commands(hourly, "r.json", windows, "prod") == [
        "ldp backfill r.json --from 2026-10-25T00:00:00Z --to 2026-10-25T01:00:00Z --env prod"
    ]
    long = [parse_window(("2026-01-01", "2026-01-02")), parse_window(("2029-01-01", "2029-01-02"))]
    daily = load_workflow(config(tmp_path))
    assert commands(daily, "r.json", long) == [
        "ldp backfill r.json --from 2026-01-01 --to 2029-01-02 --max-windows 1097"
    ]
    sizeless = load_workflow(config(tmp_path, schedule="0 9 * * 1", window=None))
    assert commands(sizeless, "r.json", windows) == [
        "ldp workflow run r.json --window 2026-10-25T00:00:00Z/2026-10-25T01:00:00Z"
    ]
    assert commands(daily, "r.json", []) == []


def test_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config(tmp_path)
    drop(tmp_path, 1)
    now = ["--now", "2100-08-02T02:05:00Z"]
    assert main(["schedule", "tick", ".", *now]) == 1
    out, err = capsys.readouterr()
    assert "rides.json: 2100-08-01T00:00:00Z/2100-08-02T00:00:00Z  failed" in out
    assert "SourceNotFound" in err
    assert main(["schedule", "tick", ".", *now]) == 1
    out, err = capsys.readouterr()
    assert "next try at 2100-08-02T02:10:00Z" in err
    assert "1 waiting" in out
    assert main(["schedule", "list", ".", *now]) == 0
    out, _ = capsys.readouterr()
    assert "waiting     2100-08-01T00:00:00Z/2100-08-02T00:00:00Z failed once" in out
    assert main(["schedule", "list", ".", "--now", "2100-08-09T00:00:00Z", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["scheduled"][0]
    assert (listed["next_fire"], listed["missed_in_all"]) == ("2100-08-09T02:05:00Z", 6)
    assert main(["schedule", "tick", ".", "--now", "2100-08-03T02:05:00Z", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["published"] == 1
    assert main(["schedule", "tick", ".", "--now", "2100-08-03T02:05:00Z"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["cron", "launchd", "systemd", "windows"])
def test_recipes_name_the_folder_and_the_program(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "install", "--print", kind, str(tmp_path), "--ldp", sys.executable]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path) in out
    assert Path(sys.executable).name in out
    assert list(tmp_path.iterdir()) == []


def test_a_recipe_for_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", "install", "--print", "cron", str(tmp_path / "none")]) == 1
    assert main(["schedule", "install", "--print", "cron", str(tmp_path), "--ldp", "/no/ldp"]) == 1
    assert "/no/ldp" in capsys.readouterr().err


def test_fires_are_told_in_utc(tmp_path: Path) -> None:
    config(tmp_path, window={"size": "day", "timezone": "Europe/Paris"})
    found = one(tmp_path, datetime(2026, 3, 28, 12, tzinfo=UTC))
    assert found.next_fire == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
