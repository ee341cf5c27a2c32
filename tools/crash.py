"""``make crash-test N=1000``: kill ``ldp run --window`` at random moments, run it again, and count.

Each round has a window of its own. The command is started and killed (SIGKILL) at a random moment, then run
again as the next attempt until it ends by itself; now and then two of them run at once, and another program
appends to the table by pyiceberg in between. In the end the table is read by pyiceberg: no row may be lost or
doubled, and no file may be left that nothing refers to. Commands are forks of a process that has imported
everything already, so that a kill meets them at work.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

STARTER = Path(__file__).parents[1] / "packages/ldp-core/tests/e2e/starter.py"
NAME = ("nyc", "rides")
START = datetime(2020, 1, 1, tzinfo=UTC)
ROWS = 200


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


def write_config(root: Path) -> None:
    """A config of hourly windows, each of a file of its own."""
    for folder in ("logs", "tmp", "in"):
        (root / folder).mkdir()
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    source = {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y%m%dT%H}.csv"}
    target = {"name": "rides", "format": "ICEBERG", "catalog": catalog}
    body = {"source": source, "target": target, "window": {"size": "hour"}}
    (root / "rides.json").write_text(json.dumps({"identifier": "rides", "metadata": body}))


def crash(root: Path, rounds: int, seed: int = 1) -> Counts:
    """Run the rounds.

    Args:
        root: An empty folder.
        rounds: How many windows are loaded.
        seed: Chooses the moments.
    """
    from ldp_core.catalogs import LocalIcebergCatalog

    chance = random.Random(seed)
    counts = Counts()
    write_config(root)
    wanted: Counter[int] = Counter()
    longest = 0.6
    catalog = None
    with commands(root) as ldp:
        for number in range(rounds):
            start = START + timedelta(hours=number)
            ids = [number * ROWS + i for i in range(ROWS)]
            lines = [f"{id_},NYC" for id_ in ids]
            (root / "in" / f"{start:%Y%m%dT%H}.csv").write_text("\n".join(["id,city", *lines]) + "\n")
            longest = _round(ldp, start, f"run-{number}", longest, chance, counts)
            wanted.update(ids)
            if chance.random() < 0.15 and not counts.failed:
                catalog = catalog or LocalIcebergCatalog("nyc", root / "wh")
                foreign = -1 - number
                _append(catalog, foreign)
                wanted[foreign] += 1
                counts.foreign += 1
            counts.rounds += 1
            if number % 100 == 99:
                print(f"{number + 1} rounds, {counts.hits} kills that hit", file=sys.stderr, flush=True)
            if counts.failed:
                break
    catalog = LocalIcebergCatalog("nyc", root / "wh")
    try:
        found = Counter(catalog.load_table(NAME).scan().to_arrow()["id"].to_pylist())
    except OSError as error:
        counts.failed.append(f"the table cannot be read: {error}")
        return counts
    counts.lost = sum((wanted - found).values())
    counts.doubled = sum((found - wanted).values())
    counts.orphans = _orphans(catalog)
    counts.orphans += [str(path) for path in (root / "tmp").rglob("*") if path.is_file()]
    return counts


def _round(
    ldp: Commands, start: datetime, run: str, longest: float, chance: random.Random, counts: Counts
) -> float:
    """One window: killed once or more, then run to its end. Returns how long a run takes now."""
    window = f"{start.isoformat()}/{(start + timedelta(hours=1)).isoformat()}"
    attempt = 0
    while attempt < 1 or (attempt < 3 and chance.random() < 0.3):
        attempt += 1
        args = ("run", "rides.json", "--window", window)
        pids = [ldp.start(*args, "--run-id", run, "--attempt", str(attempt))]
        if chance.random() < 0.15:
            counts.at_once += 1
            pids.append(ldp.start(*args, "--run-id", f"{run}-too{attempt}"))
        deadline = time.monotonic() + chance.uniform(0, longest)
        while time.monotonic() < deadline and running(pids[0][0]):
            time.sleep(0.001)
        os.kill(pids[0][0], signal.SIGKILL)
        counts.kills += 1
        for pid, log in pids:
            code = ldp.wait(pid)
            counts.hits += code == -signal.SIGKILL
            if code not in (0, -signal.SIGKILL):
                counts.failed.append(f"{window}: exit {code}: {log.read_text()[-600:]}")
    begin = time.monotonic()
    args = ("--window", window, "--run-id", run, "--attempt", str(attempt + 1))
    pid, log = ldp.start("run", "rides.json", *args)
    code = ldp.wait(pid)
    if code != 0:
        counts.failed.append(f"{window}: exit {code}: {log.read_text()[-600:]}")
    elif "skipped" in log.read_text() or "already published" in log.read_text():
        counts.late += 1
    else:
        longest = 0.8 * longest + 0.2 * (time.monotonic() - begin)
    return longest


def _append(catalog: Any, id_: int) -> None:
    """Another program appends; a race that it loses it tries again."""
    import pyarrow as pa
    from pyiceberg.exceptions import CommitFailedException

    table = catalog.load_table(NAME)
    schema = table.schema().as_arrow()
    rows = pa.table({"id": [id_], "city": ["foreign"]}).cast(schema)
    for _ in range(10):
        try:
            catalog.load_table(NAME).append(rows)
        except CommitFailedException:
            continue
        return


def _orphans(catalog: Any) -> list[str]:
    """Files that nothing refers to, once the last run has swept; the lock of the table stays."""
    from ldp_core.commit.base import load_base
    from ldp_core.commit.recover import sweep
    from ldp_core.testing.builders import orphans

    base = load_base(catalog, NAME)
    sweep(base)
    return [path for path in orphans(base) if not path.endswith("_ldp/write.lock")]


def main() -> int:
    """The command; exit code 1 where something was lost, doubled, left, or failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    begin = time.monotonic()
    folder = tempfile.mkdtemp(prefix="ldp-crash-")
    counts = crash(Path(folder), args.rounds, args.seed)
    if counts.good:
        shutil.rmtree(folder)
    else:
        print(f"kept to be looked at    {folder}")
    print(f"seed                    {args.seed}")
    print(counts.text())
    print(f"seconds a round         {(time.monotonic() - begin) / max(1, counts.rounds):.2f}")
    return 0 if counts.good else 1


if __name__ == "__main__":
    sys.exit(main())
