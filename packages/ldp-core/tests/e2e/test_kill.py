"""``ldp run`` killed or interrupted at any moment: the table is as it was or as it should be, never between.

``LDP_KILLS`` sets how many runs are killed (20), ``LDP_SEED`` chooses other moments.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

KILLS = int(os.environ.get("LDP_KILLS", "20"))
SEED = int(os.environ.get("LDP_SEED", "1"))
ROWS = 6_000

CASES: dict[str, dict[str, Any]] = {
    "append": {},
    "overwrite": {"write_mode": "overwrite"},
    "partitioned": {"partition_by": [{"column": "day", "transform": "identity"}]},
    "upsert": {"write_mode": "upsert", "join_cols": ["id"]},
}


def rows_of(batch: int) -> list[tuple[int, int, str]]:
    """Half of the ids of each batch are those of the batch before."""
    first = batch * ROWS // 2
    return [(first + i, batch, f"2026-08-{i % 7 + 1:02}") for i in range(ROWS)]


def after(case: str, table: Counter[Any], batch: list[tuple[int, int, str]]) -> Counter[Any]:
    """The table after a load, by the plainest means."""
    if case == "overwrite":
        return Counter(batch)
    if case == "upsert":
        return Counter({**{row[0]: row for row in table}, **{row[0]: row for row in batch}}.values())
    return table + Counter(batch)


def killed(lake: Any, starter: Any, config: str, number: int, longest: float, chance: random.Random) -> int:
    """Run a config and send it a signal at a random moment; tells how it ended.

    A run that ended by itself is none that was killed: the moment is drawn anew from a shorter time.
    """
    command = starter.start("run", config, cwd=lake.root)
    deadline = time.monotonic() + chance.uniform(0, longest)
    while time.monotonic() < deadline and command.running():
        time.sleep(0.002)
    command.send(number)
    code: int = command.wait()
    assert code in (0, -signal.SIGKILL, 130), command.output()
    return code


@pytest.mark.parametrize("case", CASES)
def test_kill_9_at_any_moment(lake: Any, starter: Any, case: str) -> None:
    chance = random.Random(f"{SEED} {case}")
    config = lake.config(case, **CASES[case])
    table: Counter[Any] = Counter()
    lake.batch(case, rows_of(0))
    begin = time.monotonic()
    starter.run("plan", config, cwd=lake.root)
    longest = 2 * (time.monotonic() - begin)
    batch = 0
    for _ in range(max(1, KILLS // len(CASES))):
        while True:
            lake.batch(case, rows_of(batch))
            wanted = after(case, table, rows_of(batch))
            code = killed(lake, starter, config, signal.SIGKILL, longest, chance)
            found = lake.read(case)
            assert found in ([wanted] if code == 0 else [table, wanted]), "the table is between"
            table = found
            if code:
                break
            longest *= 0.7
            batch += 1
        begin = time.monotonic()
        starter.run("run", config, cwd=lake.root)
        longest = time.monotonic() - begin
        table = after(case, table, rows_of(batch))
        assert lake.read(case) == table
        assert lake.orphans(case) == []
        assert lake.scratch() == []
        batch += 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("case", CASES)
def test_an_interrupt_leaves_nothing(lake: Any, starter: Any, case: str, number: signal.Signals) -> None:
    chance = random.Random(f"{SEED} {case} {number}")
    config = lake.config(case, **CASES[case])
    lake.batch(case, rows_of(0))
    begin = time.monotonic()
    starter.run("run", config, cwd=lake.root)
    longest = time.monotonic() - begin
    table = Counter(rows_of(0))
    for batch in range(1, max(2, KILLS // 10)):
        lake.batch(case, rows_of(batch))
        wanted = after(case, table, rows_of(batch))
        code = killed(lake, starter, config, number, longest, chance)
        found = lake.read(case)
        assert found in ([wanted] if code == 0 else [table, wanted]), "the table is between"
        assert lake.orphans(case) == []
        assert lake.scratch() == []
        table = found


def test_the_command_itself_killed_before_there_is_a_table(lake: Any) -> None:
    """The process as a shell starts it, killed as soon as it has staged something."""
    config = lake.config("rides")
    lake.batch("rides", rows_of(0))
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-m", "ldp_cli", "run", config], cwd=lake.root)
        while not list(lake.root.rglob("_ldp/staged/*.json")) and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.wait()
        assert lake.read("rides") in (Counter(), Counter(rows_of(0)))
    table = lake.read("rides")
    subprocess.run([sys.executable, "-m", "ldp_cli", "run", config], cwd=lake.root, check=True)
    assert lake.read("rides") == table + Counter(rows_of(0))
    assert lake.orphans("rides") == []
