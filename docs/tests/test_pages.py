"""Every code block of the documentation runs, in order, in a folder with the page's own files.

A block of ``bash`` or ``python`` is run; one with ``title="name"`` is a file, and ``text`` with
``title="output"`` is how the last run's output ended. What nobody is meant to run here is ``console`` or
plain ``text``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)
TITLE = re.compile(r'title="([^"]+)"')
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "packages/*/*.md", "examples/**/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, title, text, and the line it begins on."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        title = TITLE.search(match[2])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], title and title[1], match[3], line))
    return found


def runnable(page: Path) -> bool:
    """Whether something on the page can run."""
    return any(block.language in ("bash", "python") for block in blocks(page))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    printed = ""
    python: list[str] = []
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.title == "output":
            wanted = [line.rstrip() for line in block.text.splitlines()]
            assert [line.rstrip() for line in printed.splitlines()][-len(wanted) :] == wanted, where
        elif block.title:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "bash":
            printed = run(["bash", "-euo", "pipefail", "-c", block.text], tmp_path, where)
        elif block.language == "python":
            # Names of a page's earlier blocks stay known: each run repeats them.
            python.append(block.text)
            printed = run([sys.executable, "-W", "error", "-c", "\n".join(python)], tmp_path, where)


def run(command: list[str], folder: Path, where: str) -> str:
    """Standard output of a command that must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LDP_", "AWS_"))}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder.parent),
        "XDG_CACHE_HOME": str(folder.parent / "cache"),
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{where}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_blocks_say_what_they_are() -> None:
    """A block without a language is one that nobody decided about."""
    nameless = [
        f"{page.relative_to(ROOT)}:{block.line}"
        for page in PAGES
        for block in blocks(page)
        if not block.language
    ]
    assert nameless == []


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
