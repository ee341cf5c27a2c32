"""The nightly workflow of the example: what the README tells happens."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ldp_cli.main import main

HERE = Path(__file__).parent
DAYS = "SELECT CAST(day AS VARCHAR) AS day, sum(flights) AS flights FROM nightly_delays GROUP BY ALL"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "example"
    ignored = shutil.ignore_patterns("data", "warehouse", ".ldp", "__pycache__", "*.pyc")
    shutil.copytree(HERE, place, ignore=ignored)
    monkeypatch.chdir(place)
    python("fetch.py")
    return place


def python(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, capture_output=True)


def test_a_bad_night_is_held_back_mended_and_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def backfill(*more: str) -> tuple[int, list[str]]:
        code = main(
            [
                "backfill",
                "nightly/nightly.yaml",
                "--from",
                "2013-01-01",
                "--to",
                "2013-01-04",
                *more,
                "--json",
            ]
        )
        return code, [window["outcome"] for window in json.loads(capsys.readouterr().out)["windows"]]

    def flights() -> dict[str, int]:
        assert main(["query", "nightly/delays.yaml", DAYS, "--format", "json"]) == 0
        return {row["day"]: row["flights"] for row in json.loads(capsys.readouterr().out)}

    assert main(["workflow", "plan", "nightly/nightly.yaml", "--window", "2013-01-01/2013-01-02"]) == 0
    python("drops.py", "2013-01-01", "2013-01-02")
    python("drops.py", "--broken", "2013-01-03")
    capsys.readouterr()

    assert backfill("--stop-on-failure") == (3, ["published", "published", "blocked"])
    assert flights() == {"2013-01-01": 842, "2013-01-02": 943}

    python("drops.py", "2013-01-03")
    assert backfill() == (0, ["skipped", "skipped", "published"])
    assert flights() == {"2013-01-01": 842, "2013-01-02": 943, "2013-01-03": 914}

    python("drops.py", "2013-01-04")
    tick = ["schedule", "tick", "nightly", "--now", "2013-01-05T08:00:00Z", "--json"]
    for expected in (1, 0):
        assert main(tick) == 0
        assert json.loads(capsys.readouterr().out)["counts"]["published"] == expected
    assert flights()["2013-01-04"] == 915
    assert len(flights()) == 4
