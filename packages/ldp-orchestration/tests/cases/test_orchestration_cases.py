"""Recorded cases of workflows, backfills and schedules hold; the wording of messages does not count."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

CORE = Path(__file__).parents[3] / "ldp-core" / "tests" / "cases"
sys.path.insert(0, str(CORE))
try:
    import case_steps
    from case_files import write_files
finally:
    sys.path.remove(str(CORE))

AREAS = frozenset({"workflow", "cron", "backfill", "window-dst", "schedule"})
"""The areas whose commands are here."""
RIGHT: dict[str, dict[int, dict[str, Any]]] = {
    # a cron expression has five fields
    "cron-027": {0: {"raises": True}},
}
"""Where the right behaviour differs from the one recorded: case, number of the step, what holds instead."""
CASES = [
    json.loads(line) for line in Path(__file__).with_name("platform.jsonl").read_text("utf8").splitlines()
]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["area"] in AREAS], ids=lambda case: str(case["id"])
)
def test_case(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    write_files(tmp_path, case.get("files", {}))
    for number, step in enumerate(case["steps"]):
        expect = RIGHT.get(case["id"], {}).get(number, step.get("expect", {}))
        kind = next(kind for kind in STEPS if kind in step)
        STEPS[kind](tmp_path, step, expect, capsys)


def _operation(folder: Path, step: dict[str, Any], expect: dict[str, Any], capsys: Any) -> None:
    OPERATIONS[step["op"]](step, expect)


def _fires(step: dict[str, Any], expect: dict[str, Any]) -> None:
    from ldp_core.errors import ConfigError
    from ldp_core.window.model import instant
    from ldp_orchestration.fires import fires, window_of_fire

    cron, zone = step["cron"], step["timezone"]
    if "raises" in expect:
        with pytest.raises(ConfigError):
            next(fires(cron, zone, datetime.fromisoformat(step["after"])))
        return
    found = list(itertools.islice(fires(cron, zone, datetime.fromisoformat(step["after"])), step["n"]))
    assert [instant(fire) for fire in found] == expect["fires"]
    windows = [window_of_fire(cron, zone, step.get("size"), fire) for fire in found]
    assert [[instant(window.start), instant(window.end)] for window in windows] == expect["windows"]


OPERATIONS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {"fires": _fires}
STEPS = {**case_steps.STEPS, "op": _operation}
