"""``ldp maintain config``: files are written, checked and explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ldp_cli.main import main
from ldp_maintenance import TableConfig
from ldp_maintenance.testing import builders

SQL = ("--uri", "sqlite:///catalog.db", "--warehouse", "warehouse", "--catalog", "test")


@pytest.fixture(autouse=True)
def _lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = builders.catalog(tmp_path)
    builders.table(catalog, "one", properties={"history.expire.max-snapshot-age-ms": str(2 * 86_400_000)})
    builders.table(catalog, "two", properties={"ldp.maintenance.min_input_files": "9"})


def test_a_generated_file_is_right_and_means_what_held(tmp_path: Path) -> None:
    assert main(["maintain", "config", "generate", "--all", *SQL, "-o", "t.json"]) == 0
    found = TableConfig.from_file(tmp_path / "t.json")
    assert sorted(found.tables) == [("db", "one"), ("db", "two")]
    one, two = found.section(("db", "one")), found.section(("db", "two"))
    assert one is not None
    assert two is not None
    assert one["retention"]["expire_snapshots"]["max_snapshot_age_days"] == 2
    assert two["min_input_files"] == 9
    assert main(["maintain", "--table-config", "t.json", *SQL]) == 0


def test_a_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.yaml").write_text("version: 2\nwarehouse: w\ndefaults:\n  min_input_file: 3\n")
    assert main(["maintain", "config", "validate", "t.yaml"]) == 1
    _, err = capsys.readouterr()
    assert err == (
        "ldp: error: t.yaml:4: defaults.min_input_file: unknown key; did you mean min_input_files?\n"
    )
    (tmp_path / "t.yaml").write_text("version: 2\nwarehouse: w\n")
    assert main(["maintain", "config", "validate", "t.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": "t.yaml",
        "ok": True,
        "warehouse": "w",
        "tables": [],
    }


def test_each_setting_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["maintain", "config", "explain", "db.one", *SQL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["db.one"]
    assert found["retention.expire_snapshots.max_snapshot_age_days"] == {"value": 2, "from": "properties"}
    assert found["min_input_files"] == {"value": 2, "from": "defaults"}
    data = {"version": 2, "warehouse": "w", "namespaces": {"db": {"tables": {"one": {"min_input_files": 4}}}}}
    (tmp_path / "t.json").write_text(json.dumps(data))
    assert main(["maintain", "config", "explain", "t.json"]) == 0
    out = capsys.readouterr().out
    assert "min_input_files" in out
    assert "table" in out


def test_settings_come_from_a_singer_catalog(tmp_path: Path) -> None:
    stream = {"stream": "one", "x-iceberg": {"min_input_files": 3}}
    (tmp_path / "catalog.json").write_text(json.dumps({"streams": [stream]}))
    words = [
        "maintain",
        "config",
        "import-singer",
        "catalog.json",
        "--namespace",
        "db",
        "--warehouse",
        "warehouse",
    ]
    assert main([*words, "-o", "t.json", "--no-evolution"]) == 0
    assert main(["maintain", "config", "validate", "t.json"]) == 0
    section = TableConfig.from_file(tmp_path / "t.json").section(("db", "one"))
    assert section == {"partition_evolution": {"enabled": False}, "min_input_files": 3}
