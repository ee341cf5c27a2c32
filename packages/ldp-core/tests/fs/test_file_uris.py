"""A ``file:`` URI is its path wherever a config names a place; no folder called ``file:`` comes to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ldp_core.catalogs.sqlite import LocalIcebergCatalog
from ldp_core.run.registered import run_config

pytest.importorskip("ldp_cli")
pytest.importorskip("openlineage.client")

from ldp_cli.main import main


@pytest.mark.parametrize("form", ["file:{}", "file://{}"])
def test_a_file_uri_is_its_path_wherever_a_config_names_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)

    def at(name: str) -> str:
        return form.format(there / name)

    (there / "r.csv").write_text("id\n1\n")
    (there / "t.sql").write_text("SELECT * FROM source")
    (here / "ldp.yaml").write_text(
        json.dumps({"catalogs": {"named": {"identifier": "own", "warehouse_path": at("wh2")}}})
    )
    catalog = {"identifier": "nyc", "warehouse_path": at("wh")}
    sinks = [{"type": "jsonl", "path": at("e.jsonl")}, {"type": "openlineage", "path": at("o.jsonl")}]
    metadata = {
        "source": {"name": "r", "format": "CSV", "path": at("r.csv")},
        "transforms": [{"sql_file": at("t.sql")}],
        "observability": {"sinks": sinks},
    }
    targets = (
        {"name": "r", "format": "CSV", "path": at("out.csv")},
        {"name": "r", "format": "ICEBERG", "catalog": "named"},
        {"name": "r", "format": "ICEBERG", "catalog": catalog},
        {"name": "r", "format": "ICEBERG", "catalog": catalog},
    )
    for number, target in enumerate(targets):
        body = {"identifier": "c", "metadata": {**metadata, "target": target}}
        (here / "c.json").write_text(json.dumps(body))
        result = run_config("c.json", run_id=f"r-{number}")
        assert result.warnings == ()
    (there / "o.jsonl").unlink()
    assert main(["rollback", "c.json", "--run", "r-3", "--yes"]) == 0
    assert main(["runs", "c.json"]) == 0
    LocalIcebergCatalog("one", at("wh3"))
    made = {path.name for path in there.iterdir() if not path.name.startswith(".")}
    assert made == {"e.jsonl", "out.csv", "r.csv", "t.sql", "wh", "wh2", "wh3"}
    assert {path.name for path in here.iterdir()} == {"c.json", "ldp.yaml", ".ldp"}


def test_events_into_a_store_are_refused_and_no_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("id\n1\n")
    sinks = [{"type": word, "path": "s3://b/e.jsonl"} for word in ("jsonl", "openlineage")]
    metadata = {
        "source": {"name": "r", "format": "CSV", "path": "r.csv"},
        "target": {"name": "r", "format": "CSV", "path": "out.csv"},
        "observability": {"sinks": sinks},
    }
    (tmp_path / "c.json").write_text(json.dumps({"identifier": "c", "metadata": metadata}))
    warnings = run_config("c.json").warnings
    assert len(warnings) == 2
    assert all("does not open: s3://b/e.jsonl is not a local path" in line for line in warnings)
    assert not (tmp_path / "s3:").exists()
    assert main(["runs", "c.json"]) == 0
