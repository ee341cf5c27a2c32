"""``ldp maintain config``: files are written, checked and explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main
from ldp_maintenance import Doing, TableConfig, Target, resolve
from ldp_maintenance.expire import limits_of
from ldp_maintenance.testing import builders

FILE = ("--table-config", "d.json")
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


def _generated(tmp_path: Path, properties: dict[str, str]) -> dict[str, Any]:
    """The section that is written for a table of these properties."""
    builders.table(builders.catalog(tmp_path), "own", properties=properties)
    assert main(["maintain", "config", "generate", "db.own", *SQL, "-o", "t.json"]) == 0
    assert main(["maintain", "config", "validate", "t.json"]) == 0
    section = TableConfig.from_file(tmp_path / "t.json").section(("db", "own"))
    assert section is not None
    return dict(section)


def test_a_generated_file_has_what_the_table_says_of_its_metadata_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("write.metadata.previous-versions-max", "write.metadata.delete-after-commit.enabled")
    found = _generated(tmp_path, dict(zip(names, ("7", "TRUE"), strict=True)))
    assert found["retention"]["metadata"] == {"previous_versions_max": 7, "delete_after_commit": True}
    capsys.readouterr()
    assert main(["maintain", "config", "explain", "db.own", *SQL, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)["db.own"]
    assert explained["retention.metadata.previous_versions_max"] == {"value": 7, "from": "properties"}
    words = ("maintain", "apply-properties", "db.own", *SQL, "--table-config", "t.json", "--json")
    table = builders.catalog(tmp_path).load_table("db.own")
    with table.transaction() as change:
        change.set_properties({names[0]: "100"})
    assert main([*words, "--yes"]) == 0
    assert json.loads(capsys.readouterr().out)["operations"][0]["set"] == {
        names[0]: "7",
        names[1]: "true",
    }


def test_a_generated_file_leaves_what_no_file_may_say_to_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = {
        "history.expire.max-snapshot-age-ms": "0",
        "history.expire.min-snapshots-to-keep": "-1",
        "history.expire.max-ref-age-ms": "soon",
        "write.metadata.previous-versions-max": "0",
        "write.metadata.delete-after-commit.enabled": "perhaps",
    }
    found = _generated(tmp_path, properties)
    assert found["retention"]["expire_snapshots"] == {"enabled": True}
    assert "metadata" not in found["retention"]
    words = ["maintain", "expire-snapshots", "db.own", *SQL]
    capsys.readouterr()
    told = []
    for more in ((), ("--table-config", "t.json")):
        assert main([*words, *more]) == 1
        told.append(capsys.readouterr().err)
    assert told[0] == told[1]


@pytest.mark.parametrize("age", [1, 86_400_000, 400_000_005, 2**63 - 1])
def test_a_generated_age_is_that_of_the_table_to_the_millisecond(tmp_path: Path, age: int) -> None:
    _generated(tmp_path, {"history.expire.max-snapshot-age-ms": str(age)})
    file = TableConfig.from_file(tmp_path / "t.json")
    catalog = builders.catalog(tmp_path)
    metadata = catalog.load_table("db.own").metadata
    target = Target(catalog, ("db", "own"), resolve(table=file.section(("db", "own"))))
    assert limits_of(target, metadata, Doing()).max_age_ms == age


def test_a_file_of_one_table_is_for_that_table_and_one_of_all_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.json").write_text(json.dumps({"version": 2, "warehouse": "warehouse", "defaults": {}}))
    for number, words in enumerate((("db.one",), ("--all", "--namespace", "db"), ("--all",), FILE)):
        assert main(["maintain", "config", "generate", *words, *SQL, "-o", "t.json", "--force"]) == 0
        later = builders.table(builders.catalog(tmp_path), f"later{number}").name()
        capsys.readouterr()
        assert main(["maintain", "--table-config", "t.json", *SQL, "--json"]) == 0
        meant = [one["table"] for one in json.loads(capsys.readouterr().out)["tables"]]
        assert "db.one" in meant
        assert ("db.two" in meant) == (number > 0)
        assert (".".join(later) in meant) == (number > 1)


@pytest.mark.parametrize(
    "words",
    [
        ("generate", "--all", *SQL),
        ("import-singer", "catalog.json", "--namespace", "db", "--warehouse", "warehouse"),
    ],
    ids=lambda words: words[0],
)
def test_a_file_that_is_there_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    stream = {"stream": "one", "x-iceberg": {"min_input_files": 3}}
    (tmp_path / "catalog.json").write_text(json.dumps({"streams": [stream]}))
    mine = tmp_path / "t.json"
    mine.write_text("mine")
    assert main(["maintain", "config", *words, "-o", "t.json"]) == 1
    assert capsys.readouterr().err == (
        "ldp: error: t.json is there already; give another -o, or --force to overwrite it\n"
    )
    assert mine.read_text() == "mine"
    assert main(["maintain", "config", *words, "-o", "t.json", "--force"]) == 0
    assert TableConfig.from_file(mine).tables
    assert main(["maintain", "config", *words, "-o", "below/t.json"]) == 0
    assert TableConfig.from_file(tmp_path / "below" / "t.json").tables
    capsys.readouterr()
    assert main(["maintain", "config", *words, "-o", "t.json/t.json"]) == 1
    assert capsys.readouterr().err.startswith("ldp: error: t.json/t.json: cannot be written: ")


def test_a_singer_catalog_without_a_block_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "catalog.json").write_text('{"streams": [{"stream": "one"}]}')
    words = ("import-singer", "catalog.json", "--namespace", "db", "--warehouse", "warehouse")
    assert main(["maintain", "config", *words]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["namespaces"] == {"db": {"tables": {}}}
    assert "no stream of catalog.json that is selected has an x-iceberg block" in err
