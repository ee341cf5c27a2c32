"""A table with windows of days; rows of a negative amount, or without a city, are put aside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ldp_core.config import Config
from ldp_core.run.result import PipelineResult
from ldp_core.run.runner import run
from ldp_core.targets.formats import Iceberg
from ldp_quality.quarantine import Quarantine

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
CHECKS = [{"check": "range", "column": "amount", "min": 0}, {"check": "not_null", "columns": ["city"]}]


@dataclass
class Lake:
    """A config, its file and its tables."""

    folder: Path
    mode: str = "append"
    extra: Any = None
    source: Any = None
    quality: Any = None
    metadata: Any = None

    def write(self, rows: Sequence[str] = ()) -> Path:
        """The config; rows as lines of CSV ``id,day,amount,city``, the day of January."""
        (self.folder / "r.csv").write_text("".join(f"{line}\n" for line in ("id,day,amount,city", *rows)))
        target = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG, "write_mode": self.mode}
        types = {"id": "long", "day": "date", "amount": "long", "city": "text"}
        read = {"name": "rides", "format": "CSV", "path": "r.csv", "columns": types}
        gate = {"on_failure": "quarantine", "max_share": 1.0, "checks": CHECKS}
        body = {
            "source": {**read, **(self.source or {})},
            "target": {**target, **(self.extra or {})},
            "window": {"size": "day", "column": "day"},
            "quality": self.quality or gate,
            **(self.metadata or {}),
        }
        path = self.folder / "c.json"
        path.write_text(json.dumps({"identifier": "c", "metadata": body}))
        return path

    def run(self, rows: Sequence[str], day: int | None = None, **options: Any) -> PipelineResult:
        """Load; each row is ``id,day,amount,city`` with the day of January as a number."""
        window = None if day is None else f"2026-01-{day:02}/2026-01-{day + 1:02}"
        return run(Config.from_file(self.write([dated(row) for row in rows])), window=window, **options)

    @property
    def place(self) -> Quarantine:
        return Quarantine(self.folder / "c.json")

    @property
    def newest(self) -> str:
        return self.place.batches()[0].batch.id

    def states(self) -> list[str]:
        """The states of the batches, oldest first."""
        return [item.fate.state for item in reversed(self.place.batches(closed=True))]

    def aside(self) -> list[int]:
        """The ids of the rows that count as put aside; -1 for one that could not be read."""
        return sorted(-1 if n is None else n for n in self.place.rows().column("id").to_pylist())

    def rows(self) -> list[tuple[Any, ...]]:
        found = Iceberg("rides", CATALOG).get().select(["id", "amount", "city"]).to_pylist()
        return sorted(tuple(row.values()) for row in found)

    def ids(self) -> list[int]:
        return [row[0] for row in self.rows()]

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path


def dated(row: str) -> str:
    """``1,2,5,a`` with its second field as a day of January."""
    number, day, *rest = row.split(",")
    return ",".join([number, f"2026-01-{int(day):02}", *rest])


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.chdir(tmp_path)
    return Lake(tmp_path)
