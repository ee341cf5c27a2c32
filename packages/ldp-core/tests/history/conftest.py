"""A folder with one config and its CSV file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RIDES = """ride_id,pickup_ts,fare
1,2026-08-01 10:00:00,5.5
2,2026-08-02 00:00:00,7.5
3,2026-08-02 23:59:59,9.0
"""
Project = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Writes a config (``name``, parts of ``metadata``) and ``r.csv``; returns the config's path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text(RIDES)

    def write(name: str = "c", /, csv: str | None = None, target: Any = None, **metadata: Any) -> Path:
        if csv is not None:
            (tmp_path / "r.csv").write_text(csv)
        body = {
            "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
            "target": {
                "name": "rides",
                "format": "ICEBERG",
                "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
                **(target or {}),
            },
            **metadata,
        }
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"identifier": name, "metadata": body}))
        return path

    return write
