"""Whole commands as processes, and tables as a foreign reader sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.testing.builders import orphans


@dataclass(frozen=True)
class Command:
    """One ``ldp`` command at work.

    Attributes:
        pid: Its process; not reaped before ``wait``, so the number stays its own.
    """

    pid: int
    log: Path
    starter: Starter

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def running(self) -> bool:
        stat = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return stat[0] not in ("Z", "X")

    def wait(self) -> int:
        """The exit code, or the negative number of the signal that ended it."""
        return int(self.starter.ask({"wait": self.pid}))

    def output(self) -> str:
        return self.log.read_text()


@dataclass
class Starter:
    """See ``starter.py``."""

    process: subprocess.Popen[str]
    commands: int = 0

    def ask(self, order: dict[str, Any]) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def start(self, *args: str, cwd: Path) -> Command:
        """Begin a command; what it prints goes into a log, temporary files into ``tmp`` of its folder."""
        self.commands += 1
        log = cwd / f"log{self.commands}.txt"
        (cwd / "tmp").mkdir(exist_ok=True)
        env = {"TMPDIR": str(cwd / "tmp")}
        pid = int(self.ask({"args": args, "cwd": str(cwd), "env": env, "log": str(log)}))
        return Command(pid, log, self)

    def run(self, *args: str, cwd: Path) -> str:
        """Run a command to its good end; returns what it printed."""
        command = self.start(*args, cwd=cwd)
        code = command.wait()
        assert code == 0, command.output()
        return command.output()


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("starter.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield Starter(process)
    assert process.stdin is not None
    process.stdin.close()
    process.stdout.close()
    assert process.wait(60) == 0


Row = tuple[int, int, str]
HEADER = "id,batch,day"


@dataclass
class Lake:
    """A folder with configs that load ``<table>.csv`` into ``nyc.<table>`` of a local catalog."""

    root: Path
    rows: dict[str, Counter[Row]] = field(default_factory=dict)

    def config(self, table: str, **target: Any) -> str:
        """Write the config of a table; returns its name."""
        catalog = {"identifier": "nyc", "warehouse_path": "wh"}
        body = {
            "source": {"name": table, "format": "CSV", "path": f"{table}.csv"},
            "target": {"name": table, "format": "ICEBERG", "catalog": catalog, **target},
        }
        path = self.root / f"{table}.json"
        path.write_text(json.dumps({"identifier": table, "metadata": body}))
        return path.name

    def batch(self, table: str, rows: Sequence[Row]) -> None:
        """Write the CSV file that the next run loads."""
        lines = [HEADER, *(f"{number},{batch},{day}" for number, batch, day in rows)]
        (self.root / f"{table}.csv").write_text("\n".join(lines) + "\n")

    def catalog(self) -> Any:
        return LocalIcebergCatalog("nyc", self.root / "wh")

    def read(self, table: str) -> Counter[Row]:
        """The rows of a table by pyiceberg; none where there is no table."""
        if not (self.root / "wh").exists() or not self.catalog().table_exists(("nyc", table)):
            return Counter()
        found = self.catalog().load_table(("nyc", table)).scan().to_arrow()
        columns = [found["id"].to_pylist(), found["batch"].to_pylist(), found["day"].to_pylist()]
        return Counter((number, batch, str(day)) for number, batch, day in zip(*columns, strict=True))

    def snapshots(self, table: str) -> int:
        return len(load_base(self.catalog(), ("nyc", table)).metadata.snapshots)

    def orphans(self, table: str) -> list[str]:
        """Files of the table's folder that nothing refers to, the lock that stays aside."""
        found = orphans(load_base(self.catalog(), ("nyc", table)))
        return [path for path in found if not path.endswith("_ldp/write.lock")]

    def scratch(self) -> list[Path]:
        """What commands left of their temporary files."""
        return list((self.root / "tmp").iterdir())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)
