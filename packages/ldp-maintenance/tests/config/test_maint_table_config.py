"""Table-config files of version 2: what loads, and what is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError
from ldp_maintenance import TableConfig
from ldp_maintenance.testing import builders

WHOLE = """\
version: 2
warehouse: acme
defaults:
  description: everything
  partition_evolution: {enabled: false}
namespaces:
  sales.eu:
    tables:
      orders:
        partition:
          - {column: at, transform: day}
          - {column: id, transform: bucket, num_buckets: 16, name: by_id}
        partition_evolution:
          enabled: true
          rules:
            - {from: hour, to: day, older_than_days: 7}
            - {from: day, to: month}
        ordering: {mode: zorder, zorder: {columns: [a, b, c], precision_bits: 20}}
        retention:
          expire_snapshots: {enabled: true, max_snapshot_age_days: null, max_ref_age_days: null}
          remove_orphan_files: {enabled: true, older_than_days: 2.5}
          remove_dangling_deletes: {enabled: false}
          rewrite_manifests: {enabled: true, min_input_manifests: 3}
          metadata: {previous_versions_max: 10, delete_after_commit: true}
        target_file_size_bytes: 1048576
        min_input_files: 4
        skip_partitions_newer_than_windows: null
        x-owner: somebody
"""


def _file(folder: Path, data: Any) -> Path:
    path = folder / "tables.json"
    path.write_text(json.dumps(data, indent=1))
    return path


def _refusal(folder: Path, **settings: Any) -> str:
    data = {"version": 2, "warehouse": "acme", "namespaces": {"db": {"tables": {"t": settings}}}}
    with pytest.raises(ConfigError) as caught:
        TableConfig.from_file(_file(folder, data))
    return str(caught.value)


def test_a_file_with_every_key_loads(tmp_path: Path) -> None:
    path = tmp_path / "tables.yaml"
    path.write_text(WHOLE)
    found = TableConfig.from_file(path)
    assert found.warehouse == "acme"
    assert found.defaults == {"description": "everything", "partition_evolution": {"enabled": False}}
    assert list(found.tables) == [("sales.eu", "orders")]
    assert found.section(("sales.eu", "orders"))["min_input_files"] == 4  # type: ignore[index]
    assert found.section(("sales.eu", "other")) is None


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ({"warehouse": "acme"}, "version: is required"),
        ({"version": 1, "warehouse": "acme"}, "version: must be 2"),
        ({"version": 2}, "warehouse: is required"),
        ({"version": 2, "warehouse": "acme", "default": {}}, "did you mean defaults?"),
        ({"version": 2, "warehouse": "acme", "namespaces": {"db": {"table": {}}}}, "did you mean tables?"),
        ({"version": 2, "warehouse": "acme", "namespaces": {"db": {"tables": {"a.b": {}}}}}, "it has a dot"),
        ({"version": 2, "warehouse": "acme", "namespaces": {"db.": {"tables": {}}}}, "a part of it is empty"),
    ],
)
def test_what_the_root_may_not_say(tmp_path: Path, data: Any, part: str) -> None:
    path = _file(tmp_path, data)
    with pytest.raises(ConfigError) as caught:
        TableConfig.from_file(path)
    assert part in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"retention": {"expire_snapshot": {}}}, "did you mean expire_snapshots?"),
        (
            {"partition_evolution": {"rules": [{"from": "month", "to": "day"}]}},
            "day is not coarser than month",
        ),
        ({"partition_evolution": {"rules": [{"from": "day", "to": "day"}]}}, "day is not coarser than day"),
        (
            {
                "partition_evolution": {
                    "rules": [{"from": "day", "to": "month"}, {"from": "day", "to": "year"}]
                }
            },
            "there is a rule for day already",
        ),
        ({"partition_evolution": {"rules": [{"from": "year", "to": "year"}]}}, "must be one of"),
        ({"ordering": {"mode": "zorder", "zorder": {"columns": ["a"]}}}, "needs at least 2 items"),
        (
            {"ordering": {"mode": "zorder", "zorder": {"columns": ["a", "b", "c", "d"]}}},
            "16 bits of 4 columns are 64, and 62 are the most",
        ),
        ({"ordering": {"mode": "zorder"}}, "the mode zorder needs its columns"),
        ({"ordering": {"mode": "sort"}}, "the mode sort needs its columns"),
        ({"ordering": {"sort": [{"column": "a"}]}}, "mode: is required"),
        ({"ordering": {"mode": "sort", "sort": [{"column": "a"}, {"column": "a"}]}}, "a stands there twice"),
        (
            {"retention": {"expire_snapshots": {"enabled": False}, "remove_orphan_files": {"enabled": True}}},
            "orphan files are only removed where snapshots expire",
        ),
        ({"retention": {"expire_snapshots": {"max_snapshot_age_days": 0}}}, "must be more than 0"),
        ({"retention": {"expire_snapshots": {"max_snapshot_age_days": -3}}}, "must be more than 0"),
        ({"retention": {"expire_snapshots": {"min_snapshots_to_keep": 0}}}, "must be at least 1"),
        ({"retention": {"remove_orphan_files": {"older_than_days": 0}}}, "must be more than 0"),
        ({"partition": [{"column": "id", "transform": "bucket"}]}, "a bucket needs num_buckets"),
        ({"partition": [{"column": "id", "width": 3}]}, "identity takes no width"),
        ({"min_input_files": 0}, "must be at least 1"),
        ({"target_file_size_bytes": "128MB"}, "must be"),
    ],
)
def test_what_a_table_may_not_say(tmp_path: Path, settings: dict[str, Any], part: str) -> None:
    text = _refusal(tmp_path, **settings)
    assert part in text
    assert "namespaces.db.tables.t." in text
    assert "tables.json:" in text


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    assert len(_refusal(tmp_path, min_input_files=0, nonsense=1).splitlines()) == 2


def test_a_file_is_for_one_warehouse(tmp_path: Path) -> None:
    catalog = builders.catalog(tmp_path)
    own = f"{tmp_path}/warehouse"
    for named in (f"file://{own}", f"file://{own}/", own, "warehouse", "./warehouse/"):
        data = {"version": 2, "warehouse": named}
        TableConfig.from_file(_file(tmp_path, data)).assert_warehouse(catalog)
    other = TableConfig.from_file(_file(tmp_path, {"version": 2, "warehouse": "acme"}))
    with pytest.raises(ConfigError) as caught:
        other.assert_warehouse(catalog)
    assert "acme" in str(caught.value)
    assert own in str(caught.value)
