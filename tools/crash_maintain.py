"""``make crash-test N=1000``: kill ``ldp maintain run --yes`` at random moments beside loads, and count.

Each round loads a window by its key, lets another program append and delete by positions, and then starts
upkeep that rewrites data files, regroups manifests, expires snapshots and drops deletes; it is killed
(SIGKILL) at a random moment. Now and then a load or a second upkeep runs at the same time. The next round's
upkeep goes on from what is there. In the end the table and every tag are read by pyiceberg: no row may be
lost or doubled, every window is still known, and after orphan removal nothing is left behind. Commands are
forks of a process that has imported everything already, so that a kill meets them at work.
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
from typing import TYPE_CHECKING, Any

from crashing import NAME, Commands, Counts, commands, left_over, main, running, temporary

if TYPE_CHECKING:
    from pyiceberg.table import Table

START = datetime(2020, 1, 1, tzinfo=UTC)
ROWS = 50
UPKEEP = (
    "maintain", "run", "rides.json", "--max-snapshot-age-days", "0", "--retain-last", "3",
    "--min-input-manifests", "3", "--delete-ratio", "0.01", "--jobs", "2",
)  # fmt: skip
TAG_EVERY = 7
LOOK_EVERY = 20


def write_config(root: Path) -> None:
    """A config of hourly windows, each of a file of its own, in partitions of cities."""
    for folder in ("logs", "tmp", "in"):
        (root / folder).mkdir()
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    source = {"name": "rides", "format": "CSV", "path": "in/{window_start:%Y%m%dT%H}.csv"}
    cities = [{"column": "city", "transform": "identity"}]
    target = {"name": "rides", "format": "ICEBERG", "catalog": catalog, "partition_by": cities}
    body = {"source": source, "target": target, "window": {"size": "hour"}}
    (root / "rides.json").write_text(json.dumps({"identifier": "rides", "metadata": body}))


class Round:
    """One table under loads, foreign writers, upkeep and kills."""

    def __init__(self, root: Path, ldp: Commands, seed: int, counts: Counts) -> None:
        self.root, self.ldp, self.counts = root, ldp, counts
        self.chance = random.Random(seed)
        self.wanted: Counter[int] = Counter()
        self.tags: dict[str, Counter[int]] = {}
        self.longest = 1.0
        self.number = 0

    def play(self, catalog: Any) -> None:
        """One round."""
        self.finish(*self.load(self.number))
        self.wanted.update(self.ids(self.number))
        if self.counts.failed:
            return
        if self.chance.random() < 0.5:
            self.foreign(catalog)
        if self.chance.random() < 0.5:
            self.delete(catalog)
        if self.number % TAG_EVERY == 0:
            self.tag(catalog)
        if self.number == 1:
            self.measure()
        self.upkeep()
        self.number += 1
        self.counts.rounds += 1
        if self.number % LOOK_EVERY == 0:
            self.look(catalog)

    def measure(self) -> None:
        """How long upkeep takes where nobody kills it."""
        begin = time.monotonic()
        pid, log = self.ldp.start(*UPKEEP, "--yes")
        self.judge(self.ldp.wait(pid), log, False)
        self.longest = time.monotonic() - begin

    def upkeep(self) -> None:
        """Upkeep that is killed, with something beside it now and then."""
        begin = time.monotonic()
        pid, log = self.ldp.start(*UPKEEP, "--yes")
        beside = []
        if self.chance.random() < 0.3:
            self.counts.at_once += 1
            if self.chance.random() < 0.5:
                beside.append((*self.ldp.start(*UPKEEP, "--yes"), True))
            else:
                self.number += 1
                beside.append((*self.load(self.number), False))
                self.wanted.update(self.ids(self.number))
        deadline = time.monotonic() + self.chance.uniform(0, self.longest * 1.3)
        while time.monotonic() < deadline and running(pid):
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        self.counts.kills += 1
        code = self.ldp.wait(pid)
        self.counts.hits += code == -signal.SIGKILL
        if code != -signal.SIGKILL:
            self.counts.late += 1
            self.longest = 0.8 * self.longest + 0.2 * (time.monotonic() - begin)
            self.judge(code, log, bool(beside))
        for other, written, is_upkeep in beside:
            if is_upkeep:
                self.judge(self.ldp.wait(other), written, True)
            else:
                self.finish(other, written)

    def judge(self, code: int, log: Path, beside: bool) -> None:
        """Upkeep ends well, or says that others were faster."""
        told = log.read_text()
        if code != 0 and not (beside and "meanwhile" in told):
            self.counts.failed.append(f"round {self.number}: upkeep: exit {code}: {told[-800:]}")

    def load(self, number: int) -> tuple[int, Path]:
        """Start the load of a window."""
        start = START + timedelta(hours=number)
        lines = [f"{id_},{city(number)}" for id_ in self.ids(number)]
        (self.root / "in" / f"{start:%Y%m%dT%H}.csv").write_text("\n".join(["id,city", *lines]) + "\n")
        return self.ldp.start("run", "rides.json", "--window", window(number), "--run-id", f"run-{number}")

    def finish(self, pid: int, log: Path) -> None:
        """A load must end well, whatever else is at work."""
        code = self.ldp.wait(pid)
        if code != 0:
            self.counts.failed.append(f"round {self.number}: load: exit {code}: {log.read_text()[-800:]}")

    def ids(self, number: int) -> list[int]:
        """The rows of a window."""
        return [number * ROWS + i for i in range(ROWS)]

    def foreign(self, catalog: Any) -> None:
        """Another program appends rows of its own, with negative ids."""
        import pyarrow as pa

        table = catalog.load_table(NAME)
        ids = [-(self.number * 10 + i + 1) for i in range(5)]
        schema = table.schema().as_arrow()
        table.append(pa.table({"id": ids, "city": [city(self.number)] * len(ids)}).cast(schema))
        self.wanted.update(ids)
        self.counts.foreign += 1

    def delete(self, catalog: Any) -> None:
        """Another program deletes the first rows of a file by their positions."""
        from ldp_core.testing import deletes

        table = catalog.load_table(NAME)
        tasks = [task for task in table.scan().plan_files() if not task.delete_files]
        task = self.chance.choice(tasks)
        ids = column(table, task.file.file_path)
        body = deletes.positions(*((task.file.file_path, n) for n in range(min(3, len(ids)))))
        file = deletes.delete_file(table, body, partition=task.file.partition, bounds=task.file.file_path)
        file.spec_id = task.file.spec_id
        deletes.commit(table, file)
        self.wanted.subtract(ids[:3])
        self.wanted += Counter()

    def tag(self, catalog: Any) -> None:
        """A tag that must read the same for ever."""
        table = catalog.load_table(NAME)
        name = f"t{self.number}"
        table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, name).commit()
        self.tags[name] = Counter(self.wanted)

    def look(self, catalog: Any) -> None:
        """Read the table and its tags; what differs is counted."""
        table = catalog.load_table(NAME)
        refs = {name: (table.metadata.refs[name].snapshot_id, rows) for name, rows in self.tags.items()}
        for name, (snapshot, wanted) in {"main": (None, self.wanted), **refs}.items():
            try:
                found = Counter(table.scan(snapshot_id=snapshot).to_arrow()["id"].to_pylist())
            except OSError as error:
                self.counts.failed.append(f"{name} cannot be read: {error}")
                continue
            self.counts.lost += sum((wanted - found).values())
            self.counts.doubled += sum((found - wanted).values())

    def known(self) -> None:
        """Every window is still known after expiry: a second load of it writes nothing."""
        for number in self.chance.sample(range(self.number), min(20, self.number)):
            pid, log = self.ldp.start("run", "rides.json", "--window", window(number))
            code, told = self.ldp.wait(pid), log.read_text()
            if code != 0 or "already published" not in told:
                self.counts.failed.append(f"{window(number)} is not known any more: {code}: {told[-800:]}")

    def end(self) -> None:
        """Upkeep that nobody kills, until there is nothing to do, and then everything that is left behind."""
        for step in (UPKEEP, UPKEEP, ("maintain", "remove-orphans", "rides.json", "--older-than-days", "0")):
            pid, log = self.ldp.start(*step, "--yes")
            self.judge(self.ldp.wait(pid), log, False)


def window(number: int) -> str:
    """The window of a round."""
    start = START + timedelta(hours=number)
    return f"{start.isoformat()}/{(start + timedelta(hours=1)).isoformat()}"


def city(number: int) -> str:
    """The partition of a round: each is written to for a while."""
    return f"city {number // 20}"


def column(table: Table, path: str) -> list[int]:
    """The ids in a data file, in their order."""
    import pyarrow.parquet as pq

    with table.io.new_input(path).open() as stream:
        found: list[int] = pq.read_table(stream, columns=["id"])["id"].to_pylist()
    return found


def crash(root: Path, rounds: int, seed: int = 1) -> Counts:
    """Run the rounds.

    Args:
        root: An empty folder.
        rounds: How many times upkeep is killed.
        seed: Chooses the moments.
    """
    from ldp_core.catalogs import LocalIcebergCatalog

    counts = Counts()
    write_config(root)
    with commands(root) as ldp:
        game = Round(root, ldp, seed, counts)
        game.finish(*game.load(0))
        game.wanted.update(game.ids(0))
        game.number = 1
        if counts.failed:
            return counts
        catalog = LocalIcebergCatalog("nyc", root / "wh")
        for done in range(1, rounds + 1):
            game.play(catalog)
            if done % 100 == 0:
                print(f"{done} rounds, {counts.hits} kills that hit", file=sys.stderr, flush=True)
            if not counts.good:
                return counts
        game.end()
        game.known()
        game.look(catalog)
        counts.orphans = left_over(catalog)
        counts.orphans += temporary(root)
    return counts


if __name__ == "__main__":
    sys.exit(main(crash, str(__doc__), "crash-maintain"))
