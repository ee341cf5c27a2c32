"""What doctor finds, and what it tells to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ldp_core.doctor import examine, examine_config, examine_installation

CONFIG = """\
identifier: rides
metadata:
  source: {name: rides, format: CSV, path: rides.csv}
  target:
    name: rides
    format: ICEBERG
    catalog: {CATALOG}
"""
LOCAL = "{identifier: nyc, warehouse_path: warehouse}"


def config(folder: Path, catalog: str = LOCAL, *, data: bool = True) -> str:
    """A config and, when asked for, its source."""
    if data:
        (folder / "rides.csv").write_text("id\n1\n")
    path = folder / "rides.yaml"
    path.write_text(CONFIG.replace("{CATALOG}", catalog))
    return str(path)


def test_the_installation_is_whole() -> None:
    lines = examine_installation()
    assert [line for line in lines if not line.ok] == []
    found = {line.what: line.found for line in lines}
    assert found["ldp.sources"].split(", ")[:2] == ["BIGQUERY", "CSV"]
    assert {"Python", "ldp-core", "duckdb", "pyiceberg", "extra s3", "temporary folder"} <= set(found)


def test_a_config_that_needs_nothing_more(tmp_path: Path) -> None:
    lines = examine_config(config(tmp_path))
    assert [line for line in lines if not line.ok] == []
    assert lines[0].found == "rides: CSV -> ICEBERG"
    assert not (tmp_path / "warehouse").exists()


def test_an_absent_source(tmp_path: Path) -> None:
    (bad,) = [line for line in examine_config(config(tmp_path, data=False)) if not line.ok]
    assert bad.what == "source"
    assert "rides.csv" in bad.found
    assert bad.fix


def test_environment_variables_that_are_not_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKE_TOKEN", raising=False)
    path = config(tmp_path, "{type: rest, uri: 'http://127.0.0.1:1', namespace: nyc, token_env: LAKE_TOKEN}")
    (bad,) = [line for line in examine_config(path) if not line.ok]
    assert (bad.what, bad.found) == ("metadata.target.catalog.token_env", "LAKE_TOKEN is not set")
    assert bad.fix == "export LAKE_TOKEN=..."
    monkeypatch.setenv("LAKE_TOKEN", "s3cret")
    lines = examine_config(path)
    assert all(line.ok for line in lines)
    assert "s3cret" not in repr(lines)


def test_the_environment_variables_of_a_named_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKE_TOKEN", raising=False)
    lake = "{type: rest, uri: 'http://127.0.0.1:1', namespace: nyc, token_env: LAKE_TOKEN}"
    (tmp_path / "ldp.yaml").write_text(f"catalogs:\n  lake: {lake}\n")
    (bad,) = [line for line in examine_config(config(tmp_path, "lake")) if not line.ok]
    assert (bad.found, bad.fix) == ("LAKE_TOKEN is not set", "export LAKE_TOKEN=...")


def test_every_mistake_of_a_config(tmp_path: Path) -> None:
    path = tmp_path / "rides.yaml"
    path.write_text("identifier: rides\nmetadata:\n  sourc: {}\n")
    lines = examine_config(str(path))
    assert lines
    assert not any(line.ok for line in lines)
    assert "rides.yaml:3" in lines[0].found


def test_a_config_that_is_not_there(tmp_path: Path) -> None:
    (line,) = examine_config(str(tmp_path / "none.yaml"))
    assert not line.ok
    assert "none.yaml" in line.found


def test_a_warehouse_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "warehouse").write_text("")
    bad = [line for line in examine_config(config(tmp_path)) if not line.ok]
    assert [line.what for line in bad] == ["warehouse"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_warehouse_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir(mode=0o500)
    (bad,) = [line for line in examine_config(config(tmp_path)) if not line.ok]
    assert bad.fix == f"chmod u+wx '{tmp_path / 'warehouse'}'"


def test_an_extra_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    path = config(
        tmp_path, "{type: sql, uri: 'postgresql+psycopg://me@db/lake', warehouse: warehouse, namespace: nyc}"
    )
    bad = [line for line in examine_config(path) if not line.ok]
    assert [(line.what, line.fix) for line in bad] == [
        ("target catalog PostgreSQL", "pip install 'ldp-cli[postgres]'")
    ]


def test_the_command_tells_and_exits(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    paths = [config(good), config(bad, data=False)]
    for args, code in ((paths[:1], 0), (paths, 1)):
        command = [
            sys.executable,
            "-c",
            "from ldp_core.commands.doctor import doctor; doctor()",
            *args,
            "--json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        body = json.loads(done.stdout)
        assert body["ok"] is (code == 0)
        assert [part["name"] for part in body["parts"]] == ["installation", *args]


def test_parts_are_named_as_they_were_given(tmp_path: Path) -> None:
    path = config(tmp_path)
    assert [name for name, _ in examine([path])] == ["installation", path]
