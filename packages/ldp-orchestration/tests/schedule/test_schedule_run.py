"""The loop for a container: ticks at fires, tells what is new, and ends when it is asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ldp_core.errors import ConfigError, UsageError
from ldp_orchestration.schedule.loop import run_until_stopped
from ldp_orchestration.schedule.ticked import TickResult

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
try:
    from nightly_lake import config, drop, loaded, night
finally:
    sys.path.remove(HERE)


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.slept: list[float] = []

    def clock(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


def loop(folder: Path, time: Time, ticks: int, every: str = "60s") -> list[TickResult]:
    told: list[TickResult] = []
    code = run_until_stopped(folder, every, tell=told.append, clock=time.clock, sleep=time.sleep, ticks=ticks)
    assert code == 0
    return told


def test_it_ticks_at_the_fire(tmp_path: Path) -> None:
    config(tmp_path)
    drop(tmp_path, 0, 1)
    time = Time(night(0, minutes=-1))
    moments = [result.now for result in loop(tmp_path, time, 3, "10m")]
    assert night(0) in moments
    assert loaded(tmp_path) == [0]
    assert max(time.slept) <= 0.5


def test_what_it_said_already_it_does_not_say_again(tmp_path: Path) -> None:
    config(tmp_path)
    told = loop(tmp_path, Time(night(0)), 4, "30s")
    assert [next(iter(one.counts()), None) for one in told] == ["published", "published"]
    assert [one.counts().get("waiting", 0) for one in told] == [0, 1]


def test_how_often(tmp_path: Path) -> None:
    for every in ("0s", "soon", "", "-5m"):
        with pytest.raises(UsageError, match="--every"):
            run_until_stopped(tmp_path, every, tell=print)
    with pytest.raises(ConfigError):
        run_until_stopped(tmp_path / "none", tell=print)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["term", "int"])
def test_a_signal_ends_it_at_once(tmp_path: Path, number: int, code: int) -> None:
    config(tmp_path, schedule="0 0 1 1 *")
    ldp = [sys.executable, "-c", "import sys; from ldp_cli.main import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*ldp, "schedule", "run", ".", "--every", "1h"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / ".ldp" / "events.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(2)
    begun = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, out + err
    assert time.monotonic() - begun < 30
