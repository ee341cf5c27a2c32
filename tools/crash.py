"""``make crash-test N=1000``: kill ``ldp run --window`` at random moments, run it again, and count.

Each round has a window of its own. The command is started and killed (SIGKILL) at a random moment, then run
again as the next attempt until it ends by itself; now and then two of them run at once, and another program
appends to the table by pyiceberg in between. In the end the table is read by pyiceberg: no row may be lost or
doubled, and no file may be left that nothing refers to. Commands are forks of a process that has imported
everything already, so that a kill meets them at work.
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
from typing import Any

from crashing import NAME, Commands, Counts, commands, left_over, main, running, temporary

START = datetime(2020, 1, 1, tzinfo=UTC)
ROWS = 200


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
    counts.orphans = left_over(catalog)
    counts.orphans += temporary(root)
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


if __name__ == "__main__":
    sys.exit(main(crash, str(__doc__), "crash"))
