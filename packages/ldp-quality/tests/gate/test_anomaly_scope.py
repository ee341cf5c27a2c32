"""New rows are compared with the table that they come into."""

from __future__ import annotations

from pathlib import Path

import pytest
from ldp_core.config import Config
from ldp_core.errors import DataQualityError
from ldp_core.run.runner import run


def load(folder: Path, fares: list[float], **check: object) -> object:
    (folder / "r.csv").write_text("\n".join(["fare", *map(str, fares)]) + "\n", "utf8")
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    metadata = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {"name": "rides", "format": "ICEBERG", "write_mode": "append", "catalog": catalog},
        "quality": [{"check": "anomaly", "column": "fare", **check}],
    }
    result = run(Config.from_dict({"identifier": "rides", "metadata": metadata}, base_dir=folder))
    assert result.quality is not None
    return result.quality.to_dict()["results"][0]


def test_the_scope_says_what_is_usual_and_only_new_rows_are_judged(tmp_path: Path) -> None:
    usual = [4.0, 5.0, 6.0] * 20
    load(tmp_path, [*usual, 900.0], sigma=100)
    assert "too few to know" in load(tmp_path, [5.0])["details"]  # type: ignore[index]
    with pytest.raises(DataQualityError) as caught:
        load(tmp_path, [5.0, 600.0], scope="table")
    assert "1 of 2 rows have a fare beyond 3 standard deviations" in str(caught.value)
    # What stands in the table is no fault of the new rows.
    assert load(tmp_path, [5.0], scope="table")["failing_rows"] == 0  # type: ignore[index]
