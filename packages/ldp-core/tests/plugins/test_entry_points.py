"""The light reader of entry points agrees with the standard library's."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from ldp_core import _entry_points


def test_it_finds_what_the_standard_library_finds() -> None:
    for group in ("console_scripts", "pytest11", "ldp.sources", "ldp.commands", "fsspec.specs"):
        wanted = {(point.name, point.value) for point in entry_points(group=group)}
        found = {(p.name, p.value) for points in _entry_points.in_group(group).values() for p in points}
        assert found == wanted, group


def test_the_first_folder_of_a_distribution_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, value in (("a", "json:loads"), ("b", "json:dumps")):
        info = tmp_path / place / "My_Dist-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(
            f"# words\n[ldp.things]\nread = {value} [extra]\n\n[other]\nx=y:z\n"
        )
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / place)])
    points = _entry_points.in_group("ldp.things")
    assert list(points) == ["read"]
    (point,) = points["read"]
    assert point.owner == "my-dist"
    assert point.load()("[1]") == [1]


def test_two_distributions_with_one_name_are_both_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner in ("one", "two"):
        info = tmp_path / f"{owner}-1.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text("[ldp.things]\nread = json:loads\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert [point.owner for point in _entry_points.in_group("ldp.things")["read"]] == ["one", "two"]


def test_an_unknown_group_is_empty() -> None:
    assert _entry_points.in_group("ldp.nothing") == {}
