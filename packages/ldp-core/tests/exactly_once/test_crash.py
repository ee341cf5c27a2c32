"""Small rounds of ``make crash-test``; ``LDP_CRASHES`` sets how many windows are loaded (8, or 4)."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("name", "rounds"), [("crash", "8"), ("crash_maintain", "4")])
def test_windows_killed_at_any_moment_are_loaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rounds: str
) -> None:
    place = Path(__file__).parents[4] / "tools" / f"{name}.py"
    monkeypatch.syspath_prepend(str(place.parent))
    spec = importlib.util.spec_from_file_location(f"{name}_tool", place)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tool
    spec.loader.exec_module(tool)
    counts = tool.crash(tmp_path, int(os.environ.get("LDP_CRASHES", rounds)), seed=3)
    assert counts.good, counts.text()
    assert counts.hits > 0
