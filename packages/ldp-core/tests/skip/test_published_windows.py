"""Many windows, one look: which keys main holds is told by one read of the table's metadata."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ldp_core import run_config
from ldp_core.catalogs import LocalIcebergCatalog, _peek
from ldp_core.config import Config
from ldp_core.errors import LDPError, UsageError
from ldp_core.plan.build import build
from ldp_core.run.published import published
from ldp_core.window import Window, iter_windows

START = datetime(2026, 8, 1, tzinfo=UTC)


def days(count: int) -> list[Window]:
    return list(iter_windows(START, START + timedelta(days=count), "day"))


def write(folder: Path, name: str = "rides", **metadata: Any) -> Config:
    rows = "".join(f"{at},{window.start:%Y-%m-%d} 10:00:00\n" for at, window in enumerate(days(30)))
    (folder / "rides.csv").write_text(f"id,ts\n{rows}")
    target = {
        "name": "rides",
        "format": "ICEBERG",
        "write_mode": "append",
        "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
    }
    body = {
        "source": {"name": "rides", "format": "CSV", "path": "rides.csv"},
        "target": target,
        "window": {"size": "day", "column": "ts"},
        **metadata,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"identifier": "rides", "metadata": body}))
    return Config.from_file(path)


def test_where_nothing_is_nothing_is_published_and_nothing_is_made(tmp_path: Path) -> None:
    plan = build(write(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    assert published(plan, days(3)) == [False] * 3
    assert sorted(tmp_path.rglob("*")) == before
    assert published(plan, []) == []


def test_a_table_that_is_not_there_yet_holds_no_key(tmp_path: Path) -> None:
    config = write(tmp_path)
    LocalIcebergCatalog("nyc", tmp_path / "wh").create_namespace("nyc")
    assert published(build(config), days(2)) == [False, False]


def test_a_year_is_told_by_one_read_of_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write(tmp_path)
    done = [days(30)[at] for at in (0, 1, 2, *range(5, 27))]  # more than stand singly in the ledger
    for window in done:
        run_config(tmp_path / "rides.json", window=window)
    reads = []
    read = _peek.read_metadata
    monkeypatch.setattr(_peek, "read_metadata", lambda path: reads.append(path) or read(path))
    _peek._parsed.cache_clear()
    year = days(365)
    assert published(build(config), year) == [window in done for window in year]
    assert len(reads) == 1
    assert published(build(config), year, replace=True) == [False] * 365


def test_a_replaced_window_is_known_by_its_replace_key_until_the_config_changes(tmp_path: Path) -> None:
    from ldp_core.plan.keyed import key_of

    config = write(tmp_path)
    window, plan = days(1)[0], build(config)
    run_config(tmp_path / "rides.json", window=window)
    key = key_of(plan, window, replace=True)
    run_config(tmp_path / "rides.json", window=window, mode="overwrite", idempotency_key=key)
    assert published(plan, [window], replace=True) == [True]
    assert published(plan, [window]) == [True]
    other = write(tmp_path, transforms=[{"sql": "SELECT * FROM source"}])
    assert published(build(other), [window], replace=True) == [False]


def test_what_another_config_published_is_refused_as_a_run_refuses_it(tmp_path: Path) -> None:
    write(tmp_path, "first")
    run_config(tmp_path / "first.json", window=days(1)[0])
    other = write(tmp_path, "other", source={"name": "other", "format": "CSV", "path": "rides.csv"})
    with pytest.raises(LDPError, match="was published by another config"):
        published(build(other), days(2))


def test_a_broken_ledger_is_refused_as_a_run_refuses_it(tmp_path: Path) -> None:
    config = write(tmp_path)
    run_config(tmp_path / "rides.json", window=days(1)[0])
    table = LocalIcebergCatalog("nyc", tmp_path / "wh").load_table("nyc.rides")
    (name,) = (name for name in table.properties if name.startswith("ldp.keys.") and "version" not in name)
    with table.transaction() as change:
        change.set_properties({name: "{}"})
    with pytest.raises(LDPError, match="is no ledger of keys"):
        published(build(config), days(2))


def test_a_catalog_that_cannot_be_peeked_is_asked_through_its_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write(tmp_path)
    run_config(tmp_path / "rides.json", window=days(2)[1])
    monkeypatch.setattr("ldp_core.run.published.peek", lambda spec: None)
    assert published(build(config), days(3)) == [False, True, False]
    (tmp_path / "wh" / "nyc_catalog.db").unlink()
    assert published(build(config), days(3)) == [False] * 3
    assert not (tmp_path / "wh" / "nyc_catalog.db").exists()


def test_a_file_holds_no_keys(tmp_path: Path) -> None:
    target = {"name": "rides", "format": "PARQUET", "path": "out.parquet"}
    with pytest.raises(UsageError, match="carries no keys"):
        published(build(write(tmp_path, target=target)), days(1))
