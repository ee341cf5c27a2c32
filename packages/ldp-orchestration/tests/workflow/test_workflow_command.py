"""``ldp workflow``: what it prints where, and how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main

WINDOW = "2026-08-01/2026-08-02"


@pytest.fixture(autouse=True)
def _inside(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)


def _ldp(capsys: Any, *args: str) -> tuple[int, str, str]:
    code = main([*args])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_run_tells_of_each_task_and_of_the_whole(capsys: Any, chain: Callable[..., Path]) -> None:
    chain("a", "b", without=("b",))
    code, out, err = _ldp(capsys, "workflow", "run", "night.json", "--window", WINDOW)
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith("a: published, 2 rows written, ")
    assert lines[1].startswith("b: failed, ")
    assert (
        "workflow night for 2026-08-01T00:00:00Z/2026-08-02T00:00:00Z: failed (1 published, 1 failed)" in out
    )
    assert "ldp: error: task 'b': SourceNotFound: " in err
    assert "not retried: metadata.retries gives it one attempt" in err


def test_a_retry_says_when(capsys: Any, chain: Callable[..., Path]) -> None:
    chain("a", without=("a",), retries={"max_attempts": 2, "delay_s": 0.001})
    code, _, err = _ldp(capsys, "workflow", "run", "night.json", "--window", WINDOW)
    assert code == 1
    first, second = err.splitlines()
    assert first.startswith("ldp: warning: task 'a': SourceNotFound: ")
    assert first.endswith("attempt 1 failed, the next one begins in 0.0 s")
    assert second.endswith("not retried: that was attempt 2 of 2")


def test_json_is_the_whole_of_standard_output(capsys: Any, folder: Any, chain: Callable[..., Path]) -> None:
    chain("a", "b")
    folder.pipeline("b", quality=[{"check": "row_count", "min": 5}])
    code, out, _ = _ldp(capsys, "workflow", "run", "night.json", "--window", WINDOW, "--json", "--jobs", "2")
    found = json.loads(out)
    assert code == found["exit_code"] == 3
    assert (found["status"], found["counts"]) == ("blocked_quality", {"published": 1, "blocked_quality": 1})
    assert [task["rows_written"] for task in found["tasks"]] == [2, None]
    assert found["tasks"][1]["error"].startswith("DataQualityError: ")
    assert isinstance(found["tasks"][0]["snapshot_id"], str)


def test_a_wrong_file_is_refused_by_plan_and_run_alike(capsys: Any, folder: Any) -> None:
    folder.workflow([{"id": "a", "pipeline": "a.json", "depends_on": ["b"]}], catchup=True)
    code, _, planned = _ldp(capsys, "workflow", "plan", "night.json")
    assert code == 1
    assert planned.startswith("night.json: 3 problems:\n  - night.json:1: ")
    code, _, ran = _ldp(capsys, "workflow", "run", "night.json")
    assert code == 1
    assert ran.count("ldp: error: night.json:1: ") == 3
    code, out, _ = _ldp(capsys, "workflow", "run", "night.json", "--json")
    assert json.loads(out)["error"]["code"] == "config"


def test_a_plan_is_told_to_people(capsys: Any, chain: Callable[..., Path]) -> None:
    chain("a", "b", schedule="5 2 * * *")
    code, out, _ = _ldp(capsys, "workflow", "plan", "night.json", "--window", WINDOW)
    assert code == 0
    assert out.splitlines()[:4] == [
        "workflow  night",
        "schedule  5 2 * * *, UTC",
        "window    2026-08-01T00:00:00Z/2026-08-02T00:00:00Z",
        "tasks     1. a: pipeline to nyc.a",
    ]
    assert "2. b: pipeline to nyc.b, after a" in out


def test_quiet_leaves_the_summary_and_the_troubles(capsys: Any, chain: Callable[..., Path]) -> None:
    chain("a")
    code, out, err = _ldp(capsys, "--quiet", "workflow", "run", "night.json", "--window", WINDOW)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1


def test_the_command_starts_light() -> None:
    code = (
        "import sys\n"
        "import ldp_orchestration.commands.workflow\n"
        "heavy = {'pyarrow', 'duckdb', 'pyiceberg', 'rich', 'cronsim'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_a_terminal_shows_the_tasks_live_and_keeps_the_end(folder: Any, chain: Callable[..., Path]) -> None:
    import pty

    chain("a", "b", without=("b",))
    control, terminal = pty.openpty()
    command = [sys.executable, "-c", "from ldp_cli.main import main; raise SystemExit(main())"]
    command += ["workflow", "run", "night.json", "--window", WINDOW]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.Popen(
        command, cwd=folder.path, stdout=subprocess.PIPE, stderr=terminal, env=environment, text=True
    )
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(control, 65536):
            shown += part
    except OSError:  # the other end was closed
        pass
    out = done.communicate(timeout=60)[0]
    assert done.returncode == 1
    for word in (
        b"task",
        b"state",
        b"attempt",
        b"rows",
        b"time",
        b"running",
        b"published",
        b"SourceNotFound",
    ):
        assert word in shown, shown
    assert out.splitlines()[0].startswith("a: published, 2 rows written")
