"""A small round of ``make crash-test``; ``LDP_CRASHES`` sets how many windows are loaded (8)."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest


def test_windows_killed_at_any_moment_are_loaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(__file__).parents[4] / "tools" / "crash.py"
    monkeypatch.syspath_prepend(str(place.parent))
    spec = importlib.util.spec_from_file_location("crash_tool", place)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = tool
    spec.loader.exec_module(tool)
    counts = tool.crash(tmp_path, int(os.environ.get("LDP_CRASHES", "8")), seed=3)
    assert counts.good, counts.text()
    assert counts.hits > 0
