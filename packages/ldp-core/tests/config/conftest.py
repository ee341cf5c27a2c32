"""Plugins of the tests' own, found by entry point as real ones are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ldp_core import _entry_points, registry

MODULE = """
from ldp_core.shape import Bool, Int, Key, ListOf, MapOf, Number, Scalar, Shape, Text

class Plugin:
    def __init__(self, shape):
        self.shape = shape

CIRCLE = Plugin(Shape(keys=(Key("radius", Number(above=0), "How far.", required=True),)))
RECTANGLE = Plugin(Shape(
    keys=(Key("kind", Text(choices=("box",)), "Ignored."), Key("width", Int(min=1), "Across."),
          Key("height", Int(min=1), "Up."), Key("side", Int(), "Both.")),
    exactly_one=(("side", "width"),),
))
QUERY = Plugin(Shape(keys=(Key("engine", Text(), "The engine."), Key("path", Text(), "The file."))))
LINES = Plugin(Shape(keys=(Key("path", Text(pattern="[.]jsonl$"), "The file.", required=True),)))
"""
ENTRIES = """[ldp.test_forms]
circle = ldp_config_test_plugins:CIRCLE
rectangle = ldp_config_test_plugins:RECTANGLE
query = ldp_config_test_plugins:QUERY
LINES = ldp_config_test_plugins:LINES
broken = ldp_config_test_plugins:ABSENT
"""


def _forget() -> None:
    _entry_points.forget()
    clear = getattr(getattr(registry, "_group", None), "cache_clear", None)
    if clear:
        clear()


@pytest.fixture(scope="session", autouse=True)
def plugins(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("plugins")
    (folder / "ldp_config_test_plugins.py").write_text(MODULE)
    info = folder / "ldp_config_test_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ldp-config-test-plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    sys.path.insert(0, str(folder))
    _forget()
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("ldp_config_test_plugins", None)
    _forget()
