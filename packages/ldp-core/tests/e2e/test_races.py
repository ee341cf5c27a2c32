"""Several ``ldp run`` on one table at once."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

WRITERS = 6
HOLD = """
import time
from pathlib import Path

def until_told(rows):
    Path("held").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    return rows
"""
TURNS = 3


def appender(lake: Any, name: str, table: str, rows: list[tuple[int, int, str]], **target: Any) -> str:
    """A config of its own that loads ``<name>.csv`` into a table that others load, too."""
    lake.config(name, **target)
    path = Path(lake.root, f"{name}.json")
    body = json.loads(path.read_text())
    body["metadata"]["target"]["name"] = table
    path.write_text(json.dumps(body))
    lake.batch(name, rows)
    return path.name


def test_appends_at_once_lose_nothing(lake: Any, starter: Any) -> None:
    """The first of them makes the catalog and the table; the others find it made meanwhile."""
    configs = [
        appender(lake, f"writer{number}", "rides", [(i, number, "2026-08-01") for i in range(1_000)])
        for number in range(WRITERS)
    ]
    for turn in range(1, TURNS + 1):
        commands = [starter.start("run", config, cwd=lake.root) for config in configs]
        ended = [(command.wait(), command.output()) for command in commands]
        assert [code for code, _ in ended] == [0] * WRITERS, ended
        rows = Counter({(i, number, "2026-08-01"): turn for i in range(1_000) for number in range(WRITERS)})
        assert lake.read("rides") == rows
        assert lake.snapshots("rides") == turn * WRITERS
        assert lake.orphans("rides") == []
        assert lake.scratch() == []


def test_upserts_and_appends_at_once(lake: Any, starter: Any) -> None:
    """Appends bring new ids, upserts change old ones: whatever the order, the table is the same."""
    first = [(i, 0, "2026-08-01") for i in range(2_000)]
    starter.run("run", appender(lake, "first", "rides", first), cwd=lake.root)
    upserts = {
        number: [(i, number, "2026-08-02") for i in range((number - 1) * 500, number * 500)]
        for number in (1, 2, 3)
    }
    appends = {number: [(number * 10_000 + i, number, "2026-08-03") for i in range(500)] for number in (4, 5)}
    configs = [
        appender(lake, f"upsert{number}", "rides", rows, write_mode="upsert", join_cols=["id"])
        for number, rows in upserts.items()
    ]
    configs += [appender(lake, f"append{number}", "rides", rows) for number, rows in appends.items()]
    commands = [starter.start("run", config, cwd=lake.root) for config in configs]
    ended = [(command.wait(), command.output()) for command in commands]
    assert [code for code, _ in ended] == [0] * len(configs), ended
    table = {row[0]: row for row in first}
    for rows in (*upserts.values(), *appends.values()):
        table |= {row[0]: row for row in rows}
    assert lake.read("rides") == Counter(table.values())
    assert lake.snapshots("rides") == 1 + len(configs)
    assert lake.orphans("rides") == []


def test_an_upsert_replaces_what_an_append_brought_meanwhile(lake: Any, starter: Any) -> None:
    """Both bring the ids: the rows of the upsert stand, and those of an append that came after it, too."""
    rows = [(i, 0, "2026-08-01") for i in range(1_000)]
    starter.run("run", appender(lake, "first", "rides", rows), cwd=lake.root)
    new = [(i, 1, "2026-08-02") for i in range(500, 1_500)]
    more = [(i, 2, "2026-08-03") for i in range(1_000, 2_000)]
    configs = [
        appender(lake, "upsert", "rides", new, write_mode="upsert", join_cols=["id"]),
        appender(lake, "append", "rides", more),
    ]
    for _ in range(3):
        starter.run("run", "first.json", "--mode", "overwrite", cwd=lake.root)
        commands = [starter.start("run", config, cwd=lake.root) for config in configs]
        ended = [(command.wait(), command.output()) for command in commands]
        assert [code for code, _ in ended] == [0, 0], ended
        upsert_last = Counter({row[0]: row for row in (*rows, *more, *new)}.values())
        append_last = Counter({row[0]: row for row in (*rows, *new)}.values()) + Counter(more)
        assert lake.read("rides") in (upsert_last, append_last)
        assert lake.orphans("rides") == []


def test_an_overwrite_beside_appends(lake: Any, starter: Any) -> None:
    """Every append stands whole or not at all: it came after the overwrite, or was replaced by it."""
    starter.run("run", appender(lake, "first", "rides", [(0, 0, "2026-08-01")]), cwd=lake.root)
    over = [(i, 1, "2026-08-02") for i in range(500)]
    appends = {number: [(i, number, "2026-08-03") for i in range(500)] for number in (2, 3, 4)}
    configs = [appender(lake, "over", "rides", over, write_mode="overwrite")]
    configs += [appender(lake, f"append{number}", "rides", rows) for number, rows in appends.items()]
    commands = [starter.start("run", config, cwd=lake.root) for config in configs]
    ended = [(command.wait(), command.output()) for command in commands]
    assert [code for code, _ in ended] == [0] * len(configs), ended
    found = lake.read("rides")
    counts = Counter(batch for _, batch, _ in found.elements())
    assert counts.pop(1) == 500
    assert set(counts.values()) <= {500}
    assert lake.orphans("rides") == []


def held(lake: Any, starter: Any, config: str) -> Any:
    """Start a run that stands still after it has looked at the table and before it writes, until told."""
    (lake.root / "hold.py").write_text(HOLD)
    path = lake.root / config
    body = json.loads(path.read_text())
    body["metadata"]["transforms"] = [{"python": "hold:until_told", "input": "table"}]
    path.write_text(json.dumps(body))
    command = starter.start("run", config, cwd=lake.root)
    deadline = time.monotonic() + 60
    while not (lake.root / "held").exists():
        assert command.running(), command.output()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return command


def go(lake: Any, command: Any) -> None:
    (lake.root / "go").touch()
    assert command.wait() == 0, command.output()


@pytest.mark.parametrize(
    ("mode", "rows"), [("append", 300), ("overwrite", 100), ("upsert", 250)], ids=lambda value: str(value)
)
def test_a_table_that_another_run_made_meanwhile(lake: Any, starter: Any, mode: str, rows: int) -> None:
    """The load begins again: its columns are fitted to the table that there is now."""
    target = {"write_mode": mode, **({"join_cols": ["id"]} if mode == "upsert" else {})}
    slow = appender(lake, "slow", "rides", [(i, 1, "2026-08-01") for i in range(100)], **target)
    fast = appender(lake, "fast", "rides", [(i, 2, "2026-08-02") for i in range(50, 250)])
    lines = (lake.root / "fast.csv").read_text().splitlines()
    turned = [",".join(reversed(line.split(","))) for line in lines]
    (lake.root / "fast.csv").write_text("\n".join(turned) + "\n")
    command = held(lake, starter, slow)
    starter.run("run", fast, cwd=lake.root)
    go(lake, command)
    assert sum(lake.read("rides").values()) == rows
    assert lake.snapshots("rides") == 2
    assert lake.orphans("rides") == []
    assert lake.scratch() == []


@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_a_column_that_another_run_added_meanwhile(lake: Any, starter: Any, mode: str) -> None:
    """Both runs bring a new column each, and both columns are the next one that the table has not."""
    starter.run("run", appender(lake, "first", "rides", [(0, 0, "2026-08-01")]), cwd=lake.root)
    target = {"write_mode": mode, **({"join_cols": ["id"]} if mode == "upsert" else {})}
    slow = appender(lake, "slow", "rides", [], **target)
    fast = appender(lake, "fast", "rides", [])
    (lake.root / "slow.csv").write_text("id,batch,day,fare\n1,1,2026-08-01,1.25\n")
    (lake.root / "fast.csv").write_text("id,batch,day,tip\n2,2,2026-08-01,good\n")
    command = held(lake, starter, slow)
    starter.run("run", fast, cwd=lake.root)
    if mode == "upsert":
        (lake.root / "go").touch()
        assert command.wait() == 1
        assert "lack the columns tip" in command.output()
        return
    go(lake, command)
    found = lake.catalog().load_table(("nyc", "rides")).scan().to_arrow().sort_by("id").to_pylist()
    assert [(row["id"], str(row["fare"]), row["tip"]) for row in found] == [
        (0, "None", None),
        (1, "1.25", None),
        (2, "None", "good"),
    ]
    assert lake.orphans("rides") == []
