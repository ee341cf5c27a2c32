"""Recorded cases of upkeep hold; the wording of messages does not count."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

CORE = Path(__file__).parents[3] / "ldp-core" / "tests" / "cases"
sys.path.insert(0, str(CORE))
try:
    from case_files import write_files
    from case_steps import STEPS
finally:
    sys.path.remove(str(CORE))

RIGHT: dict[str, dict[int, dict[str, Any]]] = {
    # a load is one snapshot, so that there is none besides that could expire
    "stg-013": {1: {"expire.expired_snapshot_ids": []}},
}
"""Where the right behaviour differs from the one recorded: case, number of the step, the keys that differ."""
CASES = [
    json.loads(line) for line in Path(__file__).with_name("platform.jsonl").read_text("utf8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_case(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    write_files(tmp_path, case.get("files", {}))
    for number, step in enumerate(case["steps"]):
        expect = step.get("expect", {})
        if number in RIGHT.get(case["id"], {}):
            expect = {**expect, "json": {**expect["json"], **RIGHT[case["id"]][number]}}
        kind = next(kind for kind in STEPS if kind in step)
        STEPS[kind](tmp_path, step, expect, capsys)
