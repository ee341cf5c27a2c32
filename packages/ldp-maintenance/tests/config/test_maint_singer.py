"""Settings from the ``x-iceberg`` blocks of a Singer or Meltano catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_core.errors import ConfigError
from ldp_maintenance.config.singer import from_singer


def _catalog(folder: Path, *streams: Any, **more: Any) -> str:
    path = folder / "catalog.json"
    path.write_text(json.dumps({"streams": list(streams), **more}))
    return str(path)


def test_blocks_stand_in_stream_metadata_and_schema(tmp_path: Path) -> None:
    streams = (
        {
            "tap_stream_id": "db-orders",
            "stream": "orders",
            "x-iceberg": {"min_input_files": 3, "description": "of the stream"},
            "metadata": [
                {"breadcrumb": ["properties", "id"], "metadata": {"x-iceberg": {"nonsense": 1}}},
                {
                    "breadcrumb": [],
                    "metadata": {"selected": True, "x-iceberg": {"description": "of the project"}},
                },
            ],
            "schema": {"x-iceberg": {"target_file_size_bytes": 9, "min_input_files": 8}, "properties": {}},
        },
        {"tap_stream_id": "db-plain"},
        {"stream": "events", "schema": {"x-iceberg": {"ordering": {"mode": "none"}}}},
        {"stream": "off", "selected": False, "x-iceberg": {"nonsense": 1}},
    )
    found = from_singer(_catalog(tmp_path, *streams), "raw", "acme")
    assert found == {
        "version": 2,
        "warehouse": "acme",
        "namespaces": {
            "raw": {
                "tables": {
                    "orders": {
                        "target_file_size_bytes": 9,
                        "min_input_files": 3,
                        "description": "of the project",
                    },
                    "events": {"ordering": {"mode": "none"}},
                }
            }
        },
    }


def test_evolution_is_turned_off_for_who_says_nothing_of_it(tmp_path: Path) -> None:
    on = {"partition_evolution": {"enabled": True}}
    path = _catalog(tmp_path, {"stream": "a", "x-iceberg": {}}, {"stream": "b", "x-iceberg": on})
    found = from_singer(path, "raw", "acme", evolution=False)
    off = {"partition_evolution": {"enabled": False}}
    assert found["defaults"] == off
    assert found["namespaces"]["raw"]["tables"] == {"a": off, "b": on}


def test_a_wrong_block_is_refused_with_its_stream(tmp_path: Path) -> None:
    path = _catalog(
        tmp_path, {"stream": "a", "x-iceberg": {"min_input_file": 1}}, {"stream": "a.b", "x-iceberg": {}}
    )
    with pytest.raises(ConfigError) as caught:
        from_singer(path, "raw", "acme")
    text = str(caught.value)
    assert "streams[0].x-iceberg.min_input_file" in text
    assert "did you mean min_input_files?" in text
    assert "'a.b' is no table name" in text


def test_the_warehouse_may_stand_in_the_catalog(tmp_path: Path) -> None:
    path = _catalog(tmp_path, **{"x-iceberg": {"warehouse": "acme"}})
    assert from_singer(path, "raw")["warehouse"] == "acme"
    with pytest.raises(ConfigError, match="the warehouse is not named"):
        from_singer(_catalog(tmp_path), "raw")


def test_no_catalog_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    with pytest.raises(ConfigError, match="no list of streams"):
        from_singer(str(path), "raw", "acme")


def _of_project(block: Any, **stream: Any) -> dict[str, Any]:
    """A stream as Meltano hands it to a tap, with a block of the project."""
    metadata = {
        "inclusion": "available",
        "selected": True,
        "table-key-properties": ["id"],
        "x-iceberg": block,
    }
    columns = [{"breadcrumb": ["properties", "id"], "metadata": {"inclusion": "automatic"}}]
    return {
        "tap_stream_id": "a",
        "stream": "a",
        "metadata": [*columns, {"breadcrumb": [], "metadata": metadata}],
        **stream,
    }


def test_a_block_may_be_json_text_as_a_project_of_meltano_must_write_it(tmp_path: Path) -> None:
    block = {"min_input_files": 3, "retention": {"expire_snapshots": {"max_snapshot_age_days": 2}}}
    found = from_singer(_catalog(tmp_path, _of_project(json.dumps(block))), "raw", "acme")
    assert found["namespaces"]["raw"]["tables"] == {"a": block}


@pytest.mark.parametrize("block", [3, ["min_input_files"], "min_input_files: 3", '"x"', "{"])
def test_a_block_that_is_no_object_is_told_with_its_place(tmp_path: Path, block: Any) -> None:
    path = _catalog(tmp_path, _of_project({"min_input_files": 3}), _of_project(block, stream="b"))
    with pytest.raises(ConfigError) as caught:
        from_singer(path, "raw", "acme")
    assert str(caught.value).startswith(f"{path}:1: streams[1].x-iceberg: must be an object")


@pytest.mark.parametrize("namespace", ["", " ", "raw.", "raw..x"])
def test_a_namespace_that_is_none_is_refused(tmp_path: Path, namespace: str) -> None:
    path = _catalog(tmp_path, _of_project({"min_input_files": 3}))
    with pytest.raises(ConfigError, match="is no namespace"):
        from_singer(path, namespace, "acme")
