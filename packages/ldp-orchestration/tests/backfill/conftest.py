"""Folders with a config or a workflow, for the tests of backfills."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ldp_core import table
from ldp_core.window import Window, iter_windows

START = datetime(2026, 8, 1, tzinfo=UTC)
CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}


@dataclass(frozen=True)
class Lake:
    """A folder."""

    folder: Path

    def days(self, count: int) -> list[Window]:
        """The first days of August."""
        return list(iter_windows(START, START + timedelta(days=count), "day"))

    def pipeline(
        self, name: str = "rides", *, path: str | None = None, mode: str = "append", **metadata: Any
    ) -> Path:
        """A config of one file a day, or of one file for all days."""
        body = {
            "source": {
                "name": name,
                "format": "CSV",
                "path": path or f"{name}_{{window_start:%Y-%m-%d}}.csv",
            },
            "target": {"name": name, "format": "ICEBERG", "write_mode": mode, "catalog": CATALOG},
            "window": {"size": "day"},
            **metadata,
        }
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps({"identifier": name, "metadata": body}))
        return file

    def drops(self, count: int, name: str = "rides", *, missing: tuple[int, ...] = ()) -> None:
        """A file for each day but some."""
        for at, window in enumerate(self.days(count)):
            if at not in missing:
                stamp = f"{window.start:%Y-%m-%d}"
                (self.folder / f"{name}_{stamp}.csv").write_text(f"id,ts\n{at},{stamp} 10:00:00\n")

    def workflow(self, tasks: list[dict[str, Any]], **metadata: Any) -> Path:
        """A workflow of daily windows."""
        body = {
            "apiVersion": "ldp/v1",
            "kind": "Workflow",
            "identifier": "nightly",
            "metadata": {"window": {"size": "day"}, **metadata},
            "tasks": tasks,
        }
        file = self.folder / "nightly.json"
        file.write_text(json.dumps(body))
        return file

    def rows(self, name: str = "rides") -> list[dict[str, Any]]:
        """The rows of a table, by their first column."""
        found = table(f"nyc.{name}", self.folder).to_arrow().to_pylist()
        return sorted(found, key=lambda row: str(next(iter(row.values()))))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)
