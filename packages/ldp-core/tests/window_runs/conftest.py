"""A lake whose windows are loaded from Parquet files, and what must be in it afterwards."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ldp_core._duck import connect
from ldp_core.fs import local_path
from ldp_core.run.registered import run_config
from ldp_core.run.result import PipelineResult
from ldp_core.tables.scan import plan_scan, scan_sql
from ldp_core.targets.formats import Iceberg

CATALOG = {"identifier": "nyc", "warehouse_path": "wh"}
Row = tuple[int, Any]
KINDS = {
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "date": pa.date32(),
}


class Lake:
    """Loads ``(id, ts)`` rows from ``r.parquet`` into ``nyc.rides``.

    Attributes:
        folder: Where the config and the warehouse are.
        kind: The type of ``ts``.
    """

    def __init__(self, folder: Path, kind: str = "timestamp", zone: str = "UTC", **more: Any) -> None:
        self.folder = folder
        self.kind = kind
        self.zone = zone
        self.more = more
        self.keys = (f"key {number}" for number in itertools.count())
        folder.mkdir(parents=True, exist_ok=True)

    def config(self, mode: str = "overwrite", **metadata: Any) -> Path:
        """Write the config; ``target`` and ``said`` (the window) are merged in, the rest stands as it is."""
        metadata = {**self.more, **metadata}
        said = metadata.pop("said", {})
        target = {"name": "rides", "format": "ICEBERG", "catalog": CATALOG, "write_mode": mode}
        window = {"size": "hour", "column": "ts", "timezone": self.zone, "empty": "publish"}
        body = {
            "source": {"name": "rides", "format": "PARQUET", "path": "r.parquet"},
            **metadata,
            "target": {**target, **metadata.get("target", {})},
            "window": {key: value for key, value in {**window, **said}.items() if value is not None},
        }
        path = self.folder / "c.json"
        path.write_text(json.dumps({"identifier": "rides", "metadata": body}))
        return path

    def source(self, rows: Sequence[Row], name: str = "r.parquet") -> None:
        """Write the source."""
        ids, values = [row[0] for row in rows], [row[1] for row in rows]
        columns = {"id": pa.array(ids, pa.int64()), "ts": pa.array(values, KINDS[self.kind])}
        pq.write_table(pa.table(columns), self.folder / name)

    def load(
        self, rows: Sequence[Row], window: Any, mode: str = "overwrite", **metadata: Any
    ) -> PipelineResult:
        """Load a window under a key of its own."""
        self.source(rows)
        key = None if window is None else next(self.keys)
        return run_config(self.config(mode, **metadata), window=window, idempotency_key=key)

    def table(self) -> Iceberg:
        return Iceberg("rides", CATALOG, base_dir=self.folder)

    def rows(self) -> list[Row]:
        found = self.table().get()
        return sorted(
            ((row["id"], row["ts"]) for row in found.to_pylist()), key=lambda row: (row[0], str(row[1]))
        )

    def live(self) -> list[Row]:
        """The rows, read by the project itself: pyiceberg reads no equality deletes."""
        table = self.table().table()
        con = connect()
        sql = scan_sql(con, plan_scan(table.metadata, table.io), columns=["id", "ts"])
        return sorted(con.execute(sql).fetchall())

    def files(self) -> list[Path]:
        """The data files of the current snapshot."""
        return sorted(
            local_path(path) for path in self.table().table().inspect.files()["file_path"].to_pylist()
        )

    def summary(self) -> dict[str, str]:
        """Of the newest snapshot: what LDP wrote."""
        body = self.table().snapshots()[-1]["summary"]
        return {key.removeprefix("ldp."): value for key, value in body.items() if key.startswith("ldp.")}

    def inside(self, value: Any, window: Any) -> bool:
        """Whether a value is a window's, in plain Python: a repeated local time is the later of its two."""
        if value is None:
            return False
        if not isinstance(value, datetime):
            assert isinstance(value, date)
            value = datetime(value.year, value.month, value.day)
        if value.tzinfo is None:
            value = value.replace(tzinfo=ZoneInfo(self.zone), fold=1).astimezone(UTC)
        return bool(window.start <= value < window.end)


@pytest.fixture
def lake(tmp_path: Path) -> Callable[..., Lake]:
    """Makes a lake in a folder of its own."""
    numbers = itertools.count()
    return lambda *args, **kwargs: Lake(tmp_path / f"lake{next(numbers)}", *args, **kwargs)
