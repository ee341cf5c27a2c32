"""``keep_staged``: rows that a gate blocked can be looked at on a private branch, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ldp_core import run_config, table
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.errors import DataQualityError
from pyiceberg.catalog.sql import SqlCatalog

pytest.importorskip("ldp_quality", reason="its gate blocks the rows")


def config(folder: Path, fares: list[float], **target: object) -> Path:
    rows = "".join(f"{at},{fare}\n" for at, fare in enumerate(fares))
    (folder / "rides.csv").write_text(f"id,fare\n{rows}")
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    body = {
        "identifier": "rides",
        "metadata": {
            "source": {"name": "rides", "format": "CSV", "path": "rides.csv"},
            "target": {"name": "rides", "format": "ICEBERG", "catalog": catalog, **target},
            "quality": [{"check": "range", "column": "fare", "min": 0}],
        },
    }
    path = folder / "rides.json"
    path.write_text(json.dumps(body))
    return path


def refs(folder: Path) -> set[str]:
    return set(LocalIcebergCatalog("nyc", folder / "wh").load_table("nyc.rides").metadata.refs)


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_blocked_rows_are_kept_until_the_next_attempt(tmp_path: Path, mode: str) -> None:
    options = {"write_mode": mode, "keep_staged": True, "join_cols": ["id"]}
    run_config(config(tmp_path, [1.5], **options))
    with pytest.raises(DataQualityError) as caught:
        run_config(config(tmp_path, [-2.5], **options), run_id="night", window="2026-08-01/2026-08-02")
    (branch,) = refs(tmp_path) - {"main"}
    assert branch.endswith("_a1_1")
    assert f"--branch {branch}" in str(caught.value.hint)
    kept = table("nyc.rides", tmp_path, branch=branch).to_arrow()["fare"].to_pylist()
    assert sorted(kept) == ([-2.5, 1.5] if mode == "append" else [-2.5])
    assert table("nyc.rides", tmp_path).to_arrow()["fare"].to_pylist() == [1.5]
    again = run_config(
        config(tmp_path, [3.5], **options), run_id="night", attempt=2, window="2026-08-01/2026-08-02"
    )
    assert again.status == "published"
    assert branch not in refs(tmp_path)


def test_rows_that_cannot_be_kept_are_blocked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_config(config(tmp_path, [1.5], keep_staged=True))
    monkeypatch.setattr(SqlCatalog, "commit_table", refused)
    with pytest.raises(DataQualityError) as caught:
        run_config(config(tmp_path, [-2.5], keep_staged=True))
    assert "could not be kept on a branch" in str(caught.value.hint)
    assert refs(tmp_path) == {"main"}


def refused(*args: object) -> None:
    raise PermissionDenied


class PermissionDenied(Exception):
    """What a catalog says that lets nobody write."""


def test_without_it_nothing_is_kept(tmp_path: Path) -> None:
    run_config(config(tmp_path, [1.5]))
    with pytest.raises(DataQualityError) as caught:
        run_config(config(tmp_path, [-1.0]))
    assert caught.value.hint is None
    assert refs(tmp_path) == {"main"}


def test_a_table_that_is_not_there_yet_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError):
        run_config(config(tmp_path, [-1.0], keep_staged=True))
    assert not (tmp_path / "wh").exists()
