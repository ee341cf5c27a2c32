"""``make crash-test N=1000``: kill ticks and backfills at random moments, run them again, and count.

Each round brings a few new windows. In turn, a tick that catches up and a backfill with four jobs is started
and killed (SIGKILL) at a random moment, up to three times; now and then the other one of the two, or a second
one, is at work on the same table at the same time. Then each is run to its end. In the end the table is read
by pyiceberg: no row may be lost or doubled, and no file may be left that nothing refers to.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crashing import NAME, Commands, Counts, commands, left_over, main, running

START = datetime(2020, 1, 1, tzinfo=UTC)
WINDOWS = 6
"""New windows a round."""
ROWS = 20


def write_files(root: Path) -> None:
    """A workflow of hourly windows that catches up, and the config that it names."""
    for folder in ("logs", "tmp", "in"):
        (root / folder).mkdir()
    source = {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y%m%dT%H}.csv"}
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    target = {"name": "rides", "format": "ICEBERG", "catalog": catalog}
    body = {"source": source, "target": target, "window": {"size": "hour"}}
    (root / "rides.json").write_text(json.dumps({"identifier": "rides", "metadata": body}))
    said = {"schedule": "@hourly", "catchup": True, "start": f"{START:%Y-%m-%d}", "window": {"size": "hour"}}
    tasks = [{"id": "load", "pipeline": "rides.json"}]
    workflow = {"kind": "Workflow", "identifier": "hourly", "metadata": said, "tasks": tasks}
    (root / "hourly.json").write_text(json.dumps(workflow))


def crash(root: Path, rounds: int, seed: int = 1) -> Counts:
    """Run the rounds.

    Args:
        root: An empty folder.
        rounds: How often new windows come.
        seed: Chooses the moments.
    """
    from ldp_core.catalogs import LocalIcebergCatalog

    chance = random.Random(seed)
    counts = Counts()
    write_files(root)
    wanted: Counter[int] = Counter()
    longest = {"schedule": 1.0, "backfill": 1.0}
    with commands(root) as ldp:
        for number in range(rounds):
            begin = START + timedelta(hours=number * WINDOWS)
            for window in range(WINDOWS):
                first = (number * WINDOWS + window) * ROWS
                ids = range(first, first + ROWS)
                file = root / "in" / f"{begin + timedelta(hours=window):%Y%m%dT%H}.csv"
                file.write_text("\n".join(["id,city", *(f"{id_},NYC" for id_ in ids)]) + "\n")
                wanted.update(ids)
            _round(ldp, begin, number, longest, chance, counts)
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
    counts.orphans = left_over(catalog)
    return counts


def _round(
    ldp: Commands,
    begin: datetime,
    number: int,
    longest: dict[str, float],
    chance: random.Random,
    counts: Counts,
) -> None:
    """Some windows: loaded by a command that is killed once or more, then by one that ends."""
    end = begin + timedelta(hours=WINDOWS)
    tick = ("schedule", "tick", ".", "--now", end.isoformat())
    fill = ("backfill", "hourly.json", "--from", begin.isoformat(), "--to", end.isoformat(), "--jobs", "4")
    args, other = (tick, fill) if number % 2 else (fill, tick)
    kills = 0
    while kills < 1 or (kills < 3 and chance.random() < 0.4):
        kills += 1
        pids = [ldp.start(*args)]
        if chance.random() < 0.15:
            counts.at_once += 1
            pids.append(ldp.start(*other))
        deadline = time.monotonic() + chance.uniform(0, longest[args[0]])
        while time.monotonic() < deadline and running(pids[0][0]):
            time.sleep(0.001)
        for pid, _ in pids:
            if running(pid):
                os.kill(pid, signal.SIGKILL)
        counts.kills += 1
        codes = [(ldp.wait(pid), log) for pid, log in pids]
        counts.hits += codes[0][0] == -signal.SIGKILL
        if len(pids) == 1 and codes[0][0] not in (0, -signal.SIGKILL):
            counts.failed.append(f"{args}: exit {codes[0][0]}: {codes[0][1].read_text()[-600:]}")
    started = time.monotonic()
    # A window that two ran at once may have failed for one of them; it is not left alone for that.
    pid, log = ldp.start(*args, *(("--force",) if args is tick else ()))
    code = ldp.wait(pid)
    took = time.monotonic() - started
    if code != 0:
        counts.failed.append(f"{args}: exit {code}: {log.read_text()[-600:]}")
    elif f"{WINDOWS} published" in log.read_text():
        longest[args[0]] = 0.8 * longest[args[0]] + 0.2 * took
    elif "published" not in log.read_text():
        counts.late += 1


if __name__ == "__main__":
    sys.exit(main(crash, str(__doc__), "crash-schedule"))
