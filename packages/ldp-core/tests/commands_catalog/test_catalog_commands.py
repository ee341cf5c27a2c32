"""`ldp catalog test`, `tables`, `describe`, `snapshots`: right, light, and creating nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ldp_core.catalogs import LocalIcebergCatalog
from ldp_core.commands import tables as commands
from ldp_core.commands.catalog import catalog
from ldp_core.commit.base import load_base
from ldp_core.errors import CatalogError, ConfigError, LDPError, TableNotFound, UsageError
from ldp_core.testing.builders import append, new_table

CONFIG = {
    "identifier": "rides",
    "metadata": {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {
            "name": "rides",
            "format": "ICEBERG",
            "catalog": {"identifier": "nyc", "warehouse_path": "wh"},
        },
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(CONFIG))
    return tmp_path


def load(folder: Path, *names: str) -> None:
    cat = LocalIcebergCatalog("nyc", folder / "wh")
    for name in names:
        for n in range(2):
            append(load_base(cat, ("nyc", name), new_table(partitioned=True)), f"{name}{n}", [n, n + 1])


def run(command: Any, *args: str) -> Result:
    result = CliRunner().invoke(command, list(args))
    if isinstance(result.exception, LDPError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_nothing_is_created_by_looking(folder: Path) -> None:
    for command, *args in (
        (catalog, "test", "c.json"),
        (commands.tables, "c.json"),
        (commands.describe, "c.json"),
        (commands.snapshots, "c.json"),
        (commands.describe, "nyc.rides"),
    ):
        with pytest.raises(TableNotFound):
            run(command, *args)
    assert "(0 rows)" in run(commands.tables).output
    assert [path.name for path in folder.iterdir()] == ["c.json"]


def test_catalog_test(folder: Path) -> None:
    load(folder, "rides")
    assert run(catalog, "test", "c.json").output.splitlines() == [
        "catalog type: local",
        'spec: {"identifier": "nyc", "warehouse_path": "wh"}',
        "catalog name: nyc",
        "namespaces (1): nyc",
        "tables in nyc (1): nyc.rides",
        "ok",
    ]
    body = json.loads(run(catalog, "test", "c.json", "--json").output)
    assert body["namespaces"] == {"nyc": ["rides"]}
    assert body["ok"] is True
    (folder / "s.yaml").write_text("identifier: nyc\nwarehouse_path: wh\n")
    assert run(catalog, "test", "s.yaml").output.endswith("ok\n")


def test_catalog_test_of_a_bad_spec(folder: Path) -> None:
    (folder / "s.json").write_text('{"type": "sql", "uri": "postgresql://u:pw@h/db", "namespace": "n"}')
    result = CliRunner().invoke(catalog, ["test", "s.json"])
    assert result.output.splitlines()[:2] == [
        "catalog type: sql",
        'spec: {"namespace": "n", "type": "sql", "uri": "postgresql://u:***@h/db"}',
    ]
    assert isinstance(result.exception, ConfigError)
    assert "embeds a password" in str(result.exception)
    (folder / "s.json").write_text('{"type": "local", "identifier": "nyc", "warehouse": "wh"}')
    with pytest.raises(ConfigError, match="warehouse_path"):
        run(catalog, "test", "s.json")


def test_tables(folder: Path) -> None:
    load(folder, "rides", "drivers")
    listed = json.loads(run(commands.tables, "--json").output)["tables"]
    assert [row["table"] for row in listed] == ["nyc.drivers", "nyc.rides"]
    assert [(row["rows"], row["files"], row["snapshots"]) for row in listed] == [(4, 2, 2)] * 2
    assert isinstance(listed[0]["snapshot_id"], str)
    assert run(commands.tables, "c.json").output == run(commands.tables, ".").output
    with pytest.raises(UsageError):
        run(commands.tables, "none")


def test_describe_agrees_with_pyiceberg(folder: Path) -> None:
    load(folder, "rides")
    table = LocalIcebergCatalog("nyc", folder / "wh").load_table("nyc.rides")
    for word in ("c.json", "rides", "nyc.rides"):
        body = json.loads(run(commands.describe, word, "--json").output)
        assert [column["column"] for column in body["columns"]] == table.schema().column_names
        assert body["snapshot"]["snapshot_id"] == str(table.current_snapshot().snapshot_id)
        assert body["rows"] == table.scan().to_arrow().num_rows
        assert body["bytes"] == sum(f["file_size_in_bytes"] for f in table.inspect.files().to_pylist())
        assert body["properties"] == table.properties
        assert body["partitioned_by"] == ["city"]
    text = run(commands.describe, "rides").output
    assert "partitioned by: city" in text
    with pytest.raises(TableNotFound, match=r"there are: nyc\.rides"):
        run(commands.describe, "ride")


def test_snapshots(folder: Path) -> None:
    load(folder, "rides")
    body = json.loads(run(commands.snapshots, "c.json", "--json").output)
    first, second = body["snapshots"]
    assert first["parent_id"] is None
    assert second["parent_id"] == first["snapshot_id"]
    assert (second["total_records"], second["added_records"], second["deleted_records"]) == (4, 2, None)
    assert (first["current"], second["current"]) == (False, True)
    assert second["refs"] == ["main"]
    lines = run(commands.snapshots, "c.json").output.splitlines()
    assert lines[0] == "Snapshots of Iceberg table nyc.rides, oldest first:"
    assert lines[1].split() == [
        "snapshot_id", "parent_id", "committed_at_utc", "operation",
        "total_records", "added_records", "deleted_records",
    ]  # fmt: skip
    assert lines[-1] == "(2 rows)"


def test_a_moved_table_spoils_no_list(folder: Path) -> None:
    load(folder, "rides")
    (folder / "wh").rename(folder / "moved")
    result = CliRunner().invoke(commands.tables, ["moved"])
    assert result.exit_code == 0
    assert "ln -s" in result.output
    with pytest.raises(CatalogError, match="moved"):
        run(commands.describe, "rides", "--in", "moved")


def test_a_bare_name_in_two_catalogs_is_refused(folder: Path) -> None:
    load(folder, "rides")
    other = LocalIcebergCatalog("bkk", folder / "wh2")
    append(load_base(other, ("bkk", "rides"), new_table()), "r", [1])
    with pytest.raises(UsageError, match="more than one table"):
        run(commands.describe, "rides")
    assert run(commands.describe, "bkk.rides").output
    assert run(commands.describe, "rides", "--in", "wh2").output


def test_a_file_target_is_no_table(folder: Path) -> None:
    body = json.loads(json.dumps(CONFIG))
    body["metadata"]["target"] = {"name": "x", "format": "CSV", "path": "x.csv"}
    (folder / "c.json").write_text(json.dumps(body))
    with pytest.raises(ConfigError, match="not an Iceberg table"):
        run(commands.describe, "c.json")


def test_looking_imports_nothing_heavy(folder: Path) -> None:
    load(folder, "rides")
    code = """
import sys
from click.testing import CliRunner
from ldp_core.commands import tables
for command, args in ((tables.tables, []), (tables.describe, ["c.json"]), (tables.snapshots, ["c.json"])):
    assert CliRunner().invoke(command, args).exit_code == 0
heavy = {"pyarrow", "pyiceberg", "duckdb", "sqlalchemy", "jsonschema", "rich"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, env=dict(os.environ))
