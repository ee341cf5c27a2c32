"""A table with keyed publishes, and the commands that look after its keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commit.base import load_base
from ldp_core.commit.change import Base, Change, Published
from ldp_core.commit.claim import Claim
from ldp_core.commit.ledger import Who, property_of
from ldp_core.commit.publish import publish
from ldp_core.commit.stage import Stage
from ldp_core.config.canonical import idempotency_key
from ldp_core.errors import LDPError
from ldp_core.testing.builders import data_files, new_table, write_parquet
from ldp_core.window import Window

NAME = ("nyc", "rides")
FIRST = datetime(2026, 8, 1, tzinfo=UTC)


@dataclass
class Lake:
    """A folder with ``rides.json``, which loads ``nyc.rides``."""

    root: Path

    def day(self, number: int) -> Window:
        """The days from 2026-08-01 on, counted from 0."""
        return Window(FIRST + timedelta(days=number), FIRST + timedelta(days=number + 1))

    def catalog(self) -> LocalIcebergCatalog:
        return LocalIcebergCatalog("nyc", self.root / "wh")

    def table(self) -> Any:
        return self.catalog().load_table(NAME)

    def base(self) -> Base:
        return load_base(self.catalog(), NAME, new_table())

    def config(self, identifier: str = "rides") -> str:
        target = {
            "name": "rides",
            "format": "ICEBERG",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        }
        metadata = {
            "source": {"name": identifier, "format": "CSV", "path": f"{identifier}.csv"},
            "target": target,
            "window": {"size": "day", "column": "at"},
        }
        path = self.root / f"{identifier}.json"
        path.write_text(json.dumps({"identifier": identifier, "metadata": metadata}))
        return path.name

    def load(
        self, window: Window | None, *, key: str | None = None, run: str = "", pipeline: str = "rides"
    ) -> Published:
        """One row, published as a keyed run does it."""
        made = key or idempotency_key(pipeline, "nyc.rides", *((window.start, window.end) if window else ()))
        run_id = run or f"run {window or key}"
        who = Who("CSV", pipeline, "", f"{pipeline}.json")
        claim = Claim(run_id, 1, pipeline, "nyc.rides", who, made, window)
        summary = {"ldp.idempotency-key": made, "ldp.run-id": run_id, "ldp.attempt": "1"}
        if window:
            summary["ldp.logical-window"] = window.logical
        base = self.base()
        with Stage(base, run_id) as stage:
            path = write_parquet(base, stage.new_file(), {"id": [1], "city": [str(window or key)]})
            return publish(
                base,
                lambda fresh: Change("append", added=data_files(fresh, [path])),
                stage=stage,
                guard=claim.check,
                summary=summary,
            )

    def days(self, count: int) -> list[int]:
        """Days from the first on; the snapshots."""
        return [self.load(self.day(number)).snapshot_id for number in range(count)]

    def foreign(self) -> None:
        """Another engine replaces all rows: nothing of the old manifests is left."""
        table = self.table()
        rows = table.scan().to_arrow()
        table.delete()
        table = self.table()
        table.append(rows)

    def forget_history(self) -> None:
        """Another engine replaces the rows, expires all but the head, and the older metadata files go."""
        self.foreign()
        table = self.table()
        head = table.current_snapshot().snapshot_id
        old = [snap.snapshot_id for snap in table.metadata.snapshots if snap.snapshot_id != head]
        table.maintenance.expire_snapshots().by_ids(old).commit()
        table = self.table()
        for entry in table.metadata.metadata_log:
            Path(entry.metadata_file.removeprefix("file://")).unlink(missing_ok=True)

    def spoil(self, text: str = "{}", pipeline: str = "rides") -> None:
        """The ledger, overwritten."""
        with self.table().transaction() as transaction:
            transaction.set_properties({property_of(pipeline): text})

    def rows(self) -> list[str]:
        return sorted(self.table().scan().to_arrow()["city"].to_pylist())

    def head(self) -> int:
        return int(self.table().current_snapshot().snapshot_id)

    def run(self, command: Any, *args: str) -> str:
        """What a command prints; its errors are raised."""
        result = CliRunner().invoke(command, list(args), standalone_mode=False)
        if result.exception is not None:
            raise result.exception
        return result.stdout

    def json(self, command: Any, *args: str) -> Any:
        return json.loads(self.run(command, *args, "--json"))

    def fails(self, command: Any, *args: str) -> LDPError:
        with pytest.raises(LDPError) as caught:
            self.run(command, *args)
        return caught.value


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.chdir(tmp_path)
    made = Lake(tmp_path)
    made.config()
    return made
