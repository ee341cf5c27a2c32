"""``ldp backfill``: what it prints, its exit codes, and an interrupt of the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main
from ldp_orchestration.backfilling import backfill


def test_lines_of_a_run_and_of_the_next(
    lake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lake.folder)
    lake.drops(3, missing=(1,))
    lake.pipeline()
    command = ["backfill", "rides.json", "--from", "2026-08-01", "--to", "2026-08-04"]
    assert main([*command, "--dry-run"]) == 0
    out, _ = capsys.readouterr()
    assert [line.split()[:2] for line in out.splitlines()[2:]] == [
        ["2026-08-01T00:00:00Z/2026-08-02T00:00:00Z", "missing"],
        ["2026-08-02T00:00:00Z/2026-08-03T00:00:00Z", "missing"],
        ["2026-08-03T00:00:00Z/2026-08-04T00:00:00Z", "missing"],
    ]
    assert all(len(line.split()[2]) == 64 for line in out.splitlines()[2:])
    assert main(command) == 1
    out, err = capsys.readouterr()
    assert "[2/3] 2026-08-02T00:00:00Z/2026-08-03T00:00:00Z  failed" in out
    assert "backfill rides: 2 published, 0 skipped, 0 blocked, 1 failed in" in out
    assert "rides: SourceNotFound" in err
    assert "run the same command again" in err
    lake.drops(3)
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["outcome"] for one in told["windows"]] == ["skipped", "published", "skipped"]
    assert (told["counts"]["skipped"], told["file"], told["not_run"]) == (2, "rides.json", 0)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["lines", "json"])
def test_what_a_task_waits_for_and_warns_of_is_told_with_its_window(
    lake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    pytest.importorskip("ldp_quality", reason="its gate warns")
    monkeypatch.chdir(lake.folder)
    lake.drops(2, missing=(1,))
    rule = {"check": "range", "column": "id", "min": 1}
    lake.pipeline(
        retries={"max_attempts": 2, "delay_s": 0.01}, quality={"on_failure": "warn", "checks": [rule]}
    )
    assert main(["backfill", "rides.json", "--from", "2026-08-01", "--to", "2026-08-03", *more]) == 1
    err = capsys.readouterr().err
    assert "ldp: warning: 2026-08-01T00:00:00Z/2026-08-02T00:00:00Z: task 'rides': quality: 1 of 1" in err
    second = "ldp: warning: 2026-08-02T00:00:00Z/2026-08-03T00:00:00Z: task 'rides': SourceNotFound"
    assert second in err
    assert "attempt 1 failed, the next one begins in 0.0 s" in err


def test_a_gate_alone_is_exit_3(
    lake: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ldp_quality", reason="its gate blocks the rows")
    monkeypatch.chdir(lake.folder)
    lake.drops(2)
    (lake.folder / "rides_2026-08-02.csv").write_text("id,ts\n,2026-08-02 10:00:00\n1,2026-08-02 10:00:00\n")
    lake.pipeline(quality=[{"check": "not_null", "columns": ["id"]}])
    command = ["backfill", "rides.json", "--from", "2026-08-01", "--to", "2026-08-03", "--stop-on-failure"]
    assert main(command) == 3
    out, err = capsys.readouterr()
    assert "[2/2] 2026-08-02T00:00:00Z/2026-08-03T00:00:00Z  blocked" in out
    assert "DataQualityError" in err


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_an_interrupt_of_the_process_ends_it_soon_and_the_same_command_goes_on(
    lake: Any, tmp_path: Path, jobs: str
) -> None:
    lake.drops(16)
    file = lake.pipeline()
    command = "import sys; from ldp_cli.main import main; sys.exit(main())"
    options = ["--from", "2026-08-01", "--to", "2026-08-17", "--jobs", jobs]
    process = subprocess.Popen(
        [sys.executable, "-c", command, "backfill", str(file), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    process.stdout.readline()  # a window has ended
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 30
    assert process.returncode == 130, err
    assert b"The same command again goes on" in err
    left = backfill(file, "2026-08-01", "2026-08-17", dry_run=True).states()
    assert left["published"] >= 1
    assert left["missing"] + left["failed"] >= 1
    again = backfill(file, "2026-08-01", "2026-08-17")
    assert again.counts() == {
        "published": 16 - left["published"],
        "skipped": left["published"],
        "blocked": 0,
        "failed": 0,
    }
    assert sorted(row["id"] for row in lake.rows()) == list(range(16))
