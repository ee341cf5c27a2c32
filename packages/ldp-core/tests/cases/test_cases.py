"""Recorded cases hold: exit codes, statuses, counts, rows and schemas; wording does not count."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
try:
    from case_files import write_files
    from case_steps import STEPS
    from deviations import RIGHT
finally:
    sys.path.remove(str(HERE))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    file = Path(metafunc.config.getoption("--cases", default=None) or HERE / "platform.jsonl")
    cases = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_case(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    write_files(tmp_path, case.get("files", {}))
    for number, step in enumerate(case["steps"]):
        expect = step.get("expect", {})
        if number in RIGHT.get(case["id"], {}):
            expect = RIGHT[case["id"]][number]
        kind = next(kind for kind in STEPS if kind in step)
        STEPS[kind](tmp_path, step, expect, capsys)
