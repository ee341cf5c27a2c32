"""A folder with pipelines to put together to workflows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WINDOW = "2026-08-01/2026-08-02"
CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}


class Folder:
    """Writes configs, sources and workflow files, and looks at what runs leave behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, content: Any) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return file

    def pipeline(self, name: str, *, source: dict[str, Any] | None = None, **metadata: Any) -> Path:
        """A config from ``<name>_<day>.csv`` to ``nyc.<name>``."""
        path = f"{name}_{{window_start:%Y-%m-%d}}.csv"
        target = {"name": name, "format": "ICEBERG", "write_mode": "append", "catalog": CATALOG}
        body = {
            "source": source or {"name": name, "format": "CSV", "path": path},
            "target": {**target, **metadata.pop("target", {})},
            **metadata,
        }
        return self.write(f"{name}.json", {"identifier": name, "metadata": body})

    def source(self, name: str, day: str = "2026-08-01", text: str = "id,v\n1,a\n2,b\n") -> Path:
        return self.write(f"{name}_{day}.csv", text)

    def workflow(self, tasks: list[dict[str, Any]], **metadata: Any) -> Path:
        body = {"window": {"size": "day"}, **metadata}
        content = {"kind": "Workflow", "identifier": "night", "metadata": body, "tasks": tasks}
        return self.write("night.json", content)

    def rows(self, name: str) -> int:
        from ldp_core import table

        return int(table(f"nyc.{name}", self.path / f"{name}.json").to_arrow().num_rows)

    def snapshots(self, name: str) -> list[dict[str, Any]]:
        """The summaries of a table's snapshots, oldest first."""
        from ldp_core.catalogs.access import look
        from ldp_core.config import Config

        spec = Config.from_file(self.path / f"{name}.json").spec("target").sub("catalog")
        found = look(spec, "nyc", name)
        return [snap["summary"] for snap in found.data["snapshots"]] if found else []

    def events(self) -> list[dict[str, Any]]:
        from ldp_core.events.jsonl import read

        return list(read(self.path / ".ldp" / "events.jsonl"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def chain(folder: Folder) -> Callable[..., Path]:
    """A workflow of pipelines in a row, each with its source unless told otherwise."""

    def make(*names: str, without: tuple[str, ...] = (), **metadata: Any) -> Path:
        tasks: list[dict[str, Any]] = []
        for name in names:
            folder.pipeline(name)
            if name not in without:
                folder.source(name)
            task: dict[str, Any] = {"id": name, "pipeline": f"{name}.json"}
            if tasks:
                task["depends_on"] = [tasks[-1]["id"]]
            tasks.append(task)
        return folder.workflow(tasks, **metadata)

    return make
