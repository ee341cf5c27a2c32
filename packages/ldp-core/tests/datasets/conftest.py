"""A small lakehouse: configs and tables in a local catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ldp_core.catalogs import open_catalog
from ldp_core.spi import Spec


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LDP_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def load(home: Path) -> Callable[..., Any]:
    """Append rows to a table of a config; makes the config and the table."""

    def load(name: str, rows: pa.Table, *, catalog: str = "nyc", file: str | None = None) -> Any:
        spec = {"identifier": catalog, "warehouse_path": "wh"}
        body = {
            "identifier": name,
            "metadata": {
                "source": {"name": name, "format": "CSV", "path": "r.csv"},
                "target": {"name": name, "format": "ICEBERG", "write_mode": "append", "catalog": spec},
            },
        }
        (home / (file or f"{name}.json")).write_text(json.dumps(body))
        opened = open_catalog(Spec(spec, home), create=True)
        opened.create_namespace_if_not_exists(catalog)
        table = opened.create_table_if_not_exists((catalog, name), rows.schema)
        table.append(rows)
        return table

    return load


@pytest.fixture
def rides(load: Callable[..., Any]) -> Any:
    return load(
        "rides",
        pa.table(
            {
                "ride_id": pa.array([1, 2, 3], pa.int64()),
                "pickup_ts": pa.array(
                    ["2026-08-01 10:00:00", "2026-08-02 00:00:00", "2026-08-02 23:59:59"]
                ).cast(pa.timestamp("us")),
                "fare": pa.array([5.5, 7.5, 9.0]),
            }
        ),
        file="c.json",
    )
