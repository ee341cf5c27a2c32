"""A table with windows of days whose rows of a negative amount are put aside."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ldp_core._duck import connect
from ldp_core.config import Config
from ldp_core.plan.build import build
from ldp_core.plan.keyed import Ask
from ldp_core.quarantine.batches import Batch, Fate, fates, read_batches
from ldp_core.quarantine.remove import quarantine_of, sweep, view_of
from ldp_core.run.context import RunOptions
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import execute
from ldp_core.targets.formats import Iceberg
from ldp_core.testing.gates import judged_by

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
Rows = list[tuple[int, int, int]]
"""Rows as (id, day of January, amount)."""


@dataclass
class Lake:
    """A config, its file and its tables."""

    folder: Path
    mode: str = "append"
    extra: Any = None

    def config(self, rows: Rows) -> Config:
        lines = "".join(f"{n},2026-01-{day:02},{amount}\n" for n, day, amount in rows)
        (self.folder / "r.csv").write_text(f"id,day,amount\n{lines}")
        target = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG, "write_mode": self.mode}
        metadata = {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {**target, **(self.extra or {})},
            "window": {"size": "day", "column": "day"},
        }
        (self.folder / "c.json").write_text(json.dumps({"identifier": "c", "metadata": metadata}))
        return Config.from_file(self.folder / "c.json")

    def run(
        self,
        rows: Rows,
        day: int | None = None,
        *,
        key: str | None = None,
        mode: str | None = None,
        days: int = 1,
        **options: Any,
    ) -> PipelineResult:
        window = None if day is None else f"2026-01-{day:02}/2026-01-{day + days:02}"
        plan = build(self.config(rows), mode, Ask(window=window, idempotency_key=key))
        return execute(judged_by(plan, "amount < 0"), RunOptions(**options))

    @property
    def target(self) -> Any:
        return self.config([]).spec("target")

    def batches(self) -> list[Batch]:
        base = quarantine_of(self.target)
        with connect() as con:
            return [] if base is None else read_batches(con, base)

    def fates(self) -> dict[str, Fate]:
        return fates(self.batches(), view_of(self.target), "nyc.rides")

    def states(self) -> list[str]:
        """The states of the batches, oldest first."""
        found = self.fates()
        return [found[batch.id].state for batch in reversed(self.batches())]

    def open(self) -> list[int]:
        """The ids of the rows that count as put aside."""
        return self.ids(
            "rides__quarantine", {name for name, fate in self.fates().items() if fate.state == "open"}
        )

    def ids(self, name: str = "rides", batches: set[str] | None = None) -> list[int]:
        rows = Iceberg(name, CATALOG).get().to_pylist()
        return sorted(row["id"] for row in rows if batches is None or row["_ldp_batch"] in batches)

    def sweep(self) -> list[str]:
        """Sweep; the warnings."""
        told: list[str] = []
        with connect() as con:
            sweep(con, self.target, told.append)
        return told

    def table(self, name: str = "rides") -> Any:
        from ldp_core.catalogs import LocalIcebergCatalog

        return LocalIcebergCatalog("nyc", self.folder / "wh").load_table(("nyc", name))


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.chdir(tmp_path)
    return Lake(tmp_path)
