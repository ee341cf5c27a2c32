"""Fake distributions on the path, and the command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Site:
    """A folder on the path of ``ldp`` where a test puts distributions."""

    folder: Path

    def add(self, owner: str, code: str, *names: str, group: str = "ldp.commands") -> None:
        """A distribution with one module whose attributes are the named plugins."""
        module = owner.replace("-", "_") + "_module"
        (self.folder / f"{module}.py").write_text(code)
        info = self.folder / f"{owner.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {owner}\nVersion: 1.0\n")
        lines = [f"{name} = {module}:{name}" for name in names]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a process that sees the fake distributions."""
        return {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "100", **more}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    folder = tmp_path / "site"
    folder.mkdir()
    return Site(folder)


@pytest.fixture
def ldp(site: Site) -> Callable[..., Ended]:
    """Run ``ldp`` and wait for it."""

    def run(*args: str, code: str | None = None, **env: str) -> Ended:
        program = ["-c", code] if code else ["-m", "ldp_cli"]
        done = subprocess.run(
            [sys.executable, *program, *args],
            env=site.environment(**env),
            cwd=site.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
