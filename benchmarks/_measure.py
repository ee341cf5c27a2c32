"""Whole processes, measured by the operating system: wall, CPU and peak memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGES = ("ldp-core", "ldp-quality", "ldp-orchestration", "ldp-maintenance", "ldp-cli")


@dataclass(frozen=True)
class Run:
    """One finished process: seconds, seconds, megabytes."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], cwd: Path, env: dict[str, str] | None = None) -> Run:
    """Run a command to its end; an exit code other than 0 is an error with its output."""
    log = cwd / "bench.log"
    with log.open("wb") as out:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} exited {process.returncode}:\n{log.read_text()[-3000:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def ldp(*args: str) -> list[str]:
    """The command as a user has it: built wheels and what they need, nothing else, with bytecode."""
    return [str(installed() / "bin" / "ldp"), *args]


@cache
def installed() -> Path:
    """An environment of its own with the present code."""
    root = Path(__file__).resolve().parent.parent
    place = root / ".cache" / "bench" / "venv"
    fresh = [part for name in PACKAGES for part in ("--reinstall-package", name)]
    only = [
        "--frozen",
        "--quiet",
        "--no-default-groups",
        "--no-editable",
        "--package",
        "ldp-cli",
        "--extra",
        "s3",
    ]
    subprocess.run(
        ["sh", "tools/uv", "sync", *only, *fresh, "--compile-bytecode", "--python", sys.executable],
        cwd=root,
        env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(place)},
        check=True,
    )
    return place


def in_turn(ways: dict[str, Callable[[], Run]], runs: int) -> dict[str, list[Run]]:
    """Run each way in turn, ``runs`` times over."""
    results: dict[str, list[Run]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            results[name].append(way())
    return results


def report(title: str, results: dict[str, list[Run]], bound: str) -> None:
    """Print medians, and the median of the pairwise ratios to the way named ``bound``."""
    print(f"\n{title}")
    print(f"{'way':34} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'wall x':>7} {'cpu x':>7} {'peak x':>7}")
    for name, runs in results.items():
        pairs = list(zip(runs, results[bound], strict=True))
        ratios = [
            statistics.median(getattr(a, field) / getattr(b, field) for a, b in pairs)
            for field in ("wall", "cpu", "peak")
        ]
        middle = [statistics.median(getattr(r, field) for r in runs) for field in ("wall", "cpu", "peak")]
        print(
            f"{name:34} {middle[0]:8.2f} {middle[1]:8.2f} {middle[2]:8.0f} "
            f"{ratios[0]:7.2f} {ratios[1]:7.2f} {ratios[2]:7.2f}"
        )
    sys.stdout.flush()
