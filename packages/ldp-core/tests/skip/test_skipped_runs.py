"""A window that is published is skipped: nothing is read, docs that changed are written all the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from ldp_core import run_config
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.config import Config
from ldp_core.errors import ConfigError, LDPError
from ldp_core.plan.explain import explain
from ldp_core.plan.keyed import Ask
from ldp_core.run.many import run_all

WINDOW = "2026-08-01/2026-08-02"


def config(folder: Path, name: str = "rides", **metadata: Any) -> Path:
    (folder / "rides.csv").write_text("id,ts\n1,2026-08-01 10:00:00\n")
    target = {
        "name": "rides",
        "format": "ICEBERG",
        "write_mode": "append",
        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
    }
    source = {"name": "rides", "format": "CSV", "path": "rides.csv"}
    body = {"identifier": "rides", "metadata": {"source": source, "target": target, **metadata}}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(body))
    return path


def table(folder: Path) -> Any:
    return LocalIcebergCatalog("nyc", folder / "wh").load_table("nyc.rides")


def test_a_published_window_is_skipped_without_its_source(tmp_path: Path) -> None:
    path = config(tmp_path)
    first = run_config(path, window=WINDOW)
    (tmp_path / "rides.csv").unlink()
    shutil.rmtree(tmp_path / ".ldp")
    again = run_config(path, window=WINDOW)
    assert (first.status, again.status) == ("published", "skipped_duplicate")
    assert again.published_in == first.write_result.snapshot_id
    assert again.to_dict()["snapshot_id"] == str(first.write_result.snapshot_id)
    assert again.write_result.rows_after == 1
    assert len(table(tmp_path).metadata.snapshots) == 1
    assert "skipped: idempotency key already published" in again.lines()[0]


def test_docs_that_changed_are_written_by_a_skipped_run(tmp_path: Path) -> None:
    run_config(config(tmp_path), window=WINDOW)
    docs = {"description": "Rides of the city.", "columns": {"id": "The ride.", "gone": "No such column."}}
    path = config(tmp_path, docs=docs)
    skipped = run_config(path, window=WINDOW)
    assert skipped.status == "skipped_duplicate"
    assert skipped.notes == ("the docs of the table were brought up to date",)
    found = table(tmp_path)
    assert found.properties["comment"] == "Rides of the city."
    assert found.schema().find_field("id").doc == "The ride."
    location = found.metadata_location
    assert run_config(path, window=WINDOW).notes == ()
    assert table(tmp_path).metadata_location == location


def test_adopting_without_a_key_is_refused_by_plan_and_run(tmp_path: Path) -> None:
    path = config(tmp_path, "first")
    found = explain(Config.from_file(path), None, Ask(adopt=True))
    assert not found.valid
    text = "adopt needs a window or a key"
    assert any(text in line for line in found.lines())
    with pytest.raises(ConfigError, match=text):
        list(run_all([Config.from_file(path)], adopt=True))
    with pytest.raises(ConfigError, match=text):
        run_config(path, adopt=True)
    assert not (tmp_path / "wh").exists()


def test_another_config_under_the_same_key_is_refused_and_may_take_it_over(tmp_path: Path) -> None:
    run_config(config(tmp_path, "first"), window=WINDOW)
    other = config(tmp_path, "other", source={"name": "other", "format": "CSV", "path": "rides.csv"})
    with pytest.raises(LDPError, match="was published by another config") as caught:
        run_config(other, window=WINDOW)
    assert "first.json" in str(caught.value)
    assert "other.json" in str(caught.value)
    assert run_config(other, window=WINDOW, adopt=True).status == "skipped_duplicate"
    assert run_config(other, window=WINDOW).status == "skipped_duplicate"
    with pytest.raises(LDPError, match="was published by another config"):
        run_config(tmp_path / "first.json", window=WINDOW)
    assert run_config(tmp_path / "first.json", window=WINDOW, adopt=True).status == "skipped_duplicate"
    assert table(tmp_path).scan().to_arrow().num_rows == 1
    moved = config(tmp_path, "moved")
    assert run_config(moved, window=WINDOW).status == "skipped_duplicate"


def test_a_window_that_overlaps_is_refused_before_the_source_is_read(tmp_path: Path) -> None:
    path = config(tmp_path)
    run_config(path, window=WINDOW)
    (tmp_path / "rides.csv").unlink()
    with pytest.raises(LDPError, match="overlaps 2026-08-01T00:00:00Z/2026-08-02T00:00:00Z"):
        run_config(path, window="2026-08-01/2026-08-03")
    config(tmp_path)
    assert run_config(path, window="2026-08-01/2026-08-03", overlap="allow").status == "published"
