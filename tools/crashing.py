"""What the crash tests share: commands that are killed, the count, the report."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STARTER = Path(__file__).parents[1] / "packages/ldp-core/tests/e2e/starter.py"
NAME = ("nyc", "rides")


@dataclass
class Counts:
    """What happened."""

    rounds: int = 0
    kills: int = 0
    hits: int = 0
    late: int = 0
    at_once: int = 0
    foreign: int = 0
    lost: int = 0
    doubled: int = 0
    orphans: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether nothing is lost, doubled, left or failed."""
        return not (self.lost or self.doubled or self.orphans or self.failed)

    def text(self) -> str:
        """The lines of the report."""
        return "\n".join(
            [
                f"rounds                  {self.rounds}",
                f"kills that hit          {self.hits} of {self.kills}",
                f"published all the same  {self.late}",
                f"two at once             {self.at_once}",
                f"foreign appends         {self.foreign}",
                f"rows lost               {self.lost}",
                f"rows doubled            {self.doubled}",
                f"orphan files left       {len(self.orphans)}",
                f"runs that failed        {len(self.failed)}",
                *self.orphans[:10],
                *self.failed[:3],
            ]
        )


@dataclass
class Commands:
    """``ldp`` commands as processes of their own."""

    process: subprocess.Popen[str]
    root: Path
    number: int = 0

    def ask(self, order: dict[str, Any]) -> int:
        """One order to the starter, and its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(self, *args: str) -> tuple[int, Path]:
        """Start a command: its process, and where its output goes."""
        self.number += 1
        log = self.root / "logs" / f"{self.number % 8}.txt"
        env = {"TMPDIR": str(self.root / "tmp")}
        return self.ask({"args": args, "cwd": str(self.root), "env": env, "log": str(log)}), log

    def wait(self, pid: int) -> int:
        """How a command ended."""
        return self.ask({"wait": pid})


def running(pid: int) -> bool:
    """Whether a child that nobody has waited for is still at work."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")


@contextmanager
def commands(root: Path) -> Iterator[Commands]:
    """The process that starts the commands."""
    process = subprocess.Popen(
        [sys.executable, str(STARTER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Commands(process, root)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait(60)


def left_over(catalog: Any) -> list[str]:
    """Files that nothing refers to, once the last run has swept; the lock of the table stays."""
    from ldp_core.commit.base import load_base
    from ldp_core.commit.recover import sweep
    from ldp_core.testing.builders import orphans

    base = load_base(catalog, NAME)
    sweep(base)
    return [path for path in orphans(base) if not path.endswith("_ldp/write.lock")]


def temporary(root: Path) -> list[str]:
    """Temporary files that killed commands left, but for those by which Python tries whether it can write."""
    found = [path for path in (root / "tmp").rglob("*") if path.is_file()]
    return [str(path) for path in found if path.read_bytes() not in (b"", b"blat")]


def main(crash: Callable[[Path, int, int], Counts], about: str, name: str) -> int:
    """The command; exit code 1 where something was lost, doubled, left, or failed.

    Args:
        crash: Runs some rounds in a folder, by a seed.
        about: What it does.
        name: Names the folder.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix=f"ldp-{name}-")
    counts = crash(Path(folder), args.rounds, args.seed)
    if counts.good:
        shutil.rmtree(folder)
    else:
        print(f"kept to be looked at    {folder}")
    print(f"seed                    {args.seed}")
    print(counts.text())
    print(f"seconds a round         {(time.monotonic() - begin) / max(1, counts.rounds):.2f}")
    return 0 if counts.good else 1
