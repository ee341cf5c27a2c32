"""``ldp init``: a config drawn from all of the data, that loads and runs as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from ldp_core.commands.init import init
from ldp_core.config import Config
from ldp_core.errors import SourceError, SourceNotFound, UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(init, list(arguments), catch_exceptions=False, standalone_mode=False)


def rides(path: Path, rows: int = 300) -> None:
    lines = [
        f"{n},2026-{1 + n % 12:02d}-01 10:00:00,{'NYC' if n % 3 else 'BKK'},{n % 97:05d},{n % 7}.50,"
        for n in range(rows)
    ]
    path.write_text("ride_id,pickup_ts,city,zip,fare,none\n" + "\n".join(lines) + "\n")


def test_the_config_has_types_keys_partition_and_checks_with_evidence(here: Path) -> None:
    rides(here / "Rides 2026.csv")
    result = run("Rides 2026.csv", "--json")
    found = json.loads(result.output)
    assert found["config"] == "rides_2026.yaml"
    assert found["rows"] == 300
    assert found["keys"] == [["ride_id"]]
    assert found["partition"]["column"] == "pickup_ts"
    assert found["partition"]["transform"] == "month"
    kinds = [(check["check"], check.get("column")) for check in found["checks"]]
    assert kinds == [
        ("row_count", None),
        ("not_null", None),
        ("unique", None),
        ("accepted_values", "city"),
        ("regex", "zip"),
        ("range", "fare"),
    ]
    text = (here / "rides_2026.yaml").read_text()
    assert "# only 2 different values occur" in text
    assert "none: text  # no value at all" in text
    config = Config.from_file(here / "rides_2026.yaml")
    assert [str(p) for p in config.problems() if p.severity == "error"] == []
    columns = config.spec("source").get("columns")
    assert columns == {
        "ride_id": "long",
        "pickup_ts": "timestamp",
        "city": "text",
        "zip": "text",
        "fare": "decimal(18,2)",
        "none": "text",
    }


def test_the_written_config_runs_unedited(here: Path) -> None:
    from ldp_core.run.runner import run as load

    (here / "data").mkdir()
    rides(here / "data/rides.csv")
    run("data/rides.csv", "-o", "conf/my.yaml", "--name", "trips")
    result = load(Config.from_file(here / "conf/my.yaml"))
    assert result.rows_written == 300


def test_an_existing_config_is_left_alone(here: Path) -> None:
    rides(here / "rides.csv")
    (here / "rides.yaml").write_text("mine")
    with pytest.raises(UsageError, match=r"rides\.yaml is there already"):
        run("rides.csv")
    assert (here / "rides.yaml").read_text() == "mine"
    run("rides.csv", "--force")
    assert "identifier: rides" in (here / "rides.yaml").read_text()


@pytest.mark.parametrize("name", ["a b", "select", "#x", "yes", "é: y", 'q"uote', "- {", "null", "1"])
def test_any_column_name_makes_a_config_that_loads(here: Path, name: str) -> None:
    import csv
    import io

    out = io.StringIO()
    csv.writer(out).writerows([[name, "b"], ["x\ny", "1"], ["z", "2"]])
    (here / "t.csv").write_text(out.getvalue())
    run("t.csv")
    config = Config.from_file(here / "t.yaml")
    assert [str(p) for p in config.problems() if p.severity == "error"] == []
    assert config.spec("source").get("columns") == {name: "text", "b": "long"}


def test_the_whole_input_is_looked_at(here: Path) -> None:
    body = "\n".join("123456" for _ in range(40_000))
    (here / "t.csv").write_text(f"v\n{body}\n1.5\n{body}\n")
    found = json.loads(run("t.csv", "--json").output)
    assert found["columns"][0]["type"] == "DOUBLE"
    assert found["rows"] == 80_001


def test_a_folder_of_other_kinds_too_is_read_by_its_main_kind(here: Path) -> None:
    (here / "drops").mkdir()
    (here / "drops/a.csv").write_text("a;b\n1;2\n")
    (here / "drops/b.csv").write_text("a;b\n3;4\n")
    (here / "drops/readme.md").write_text("hello")
    found = json.loads(run("drops", "--json").output)
    assert (found["format"], found["rows"]) == ("CSV", 2)
    source = Config.from_file(here / "drops.yaml").spec("source")
    assert source.get("path") == "drops/*.csv"
    assert source.get("delimiter") == ";"


@pytest.mark.parametrize(
    ("name", "write", "kind"),
    [
        ("t.parquet", lambda path: pq.write_table(pa.table({"a": [1, 2]}), path), "PARQUET"),
        ("t.jsonl", lambda path: path.write_text('{"a": 1, "n": {"x": 1}}\n'), "JSONL"),
        ("t.tsv", lambda path: path.write_text("a\tb\n1\t2\n"), "CSV"),
    ],
)
def test_other_formats(here: Path, name: str, write: Any, kind: str) -> None:
    write(here / name)
    assert json.loads(run(name, "--json").output)["format"] == kind
    config = Config.from_file(here / "t.yaml")
    assert [str(p) for p in config.problems() if p.severity == "error"] == []


def test_what_cannot_be_looked_at_is_one_clear_line(here: Path) -> None:
    with pytest.raises(SourceNotFound, match=r"no file found: no\.csv"):
        run("no.csv")
    (here / "t.md").write_text("x")
    with pytest.raises(SourceError, match=r"the format of t\.md is not known"):
        run("t.md")
    (here / "t.csv").write_text("a\n1\n")
    with pytest.raises(UsageError, match=r"must end in \.yaml"):
        run("t.csv", "-o", "t.json")
    assert not (here / "t.yaml").exists()


def test_a_named_catalog(here: Path) -> None:
    (here / "t.csv").write_text("a\n1\n")
    run("t.csv", "--catalog", "prod")
    assert "catalog: prod" in (here / "t.yaml").read_text()


def test_a_pair_of_columns_may_be_the_key(here: Path) -> None:
    (here / "t.csv").write_text(
        "day,city,n\n" + "".join(f"2026-01-{d:02d},{c},1\n" for d in range(1, 29) for c in "ABC")
    )
    found = json.loads(run("t.csv", "--json").output)
    assert found["keys"] == [["day", "city"]]
    assert {
        "check": "unique",
        "columns": ["day", "city"],
        "evidence": "all 84 rows differ in the pair",
    } in found["checks"]


def loads(config: str) -> int:
    from ldp_core.run.runner import run as load

    return int(load(Config.from_file(Path(config))).rows_written)


def test_numbers_that_are_none_are_in_no_range(here: Path) -> None:
    pq.write_table(
        pa.table({"a": [1, 2], "f": [1.5, float("nan")], "g": [0.5, float("inf")]}), here / "t.parquet"
    )
    found = json.loads(run("t.parquet", "--json").output)
    assert [check["column"] for check in found["checks"] if check["check"] == "range"] == ["g"]
    assert loads("t.yaml") == 2


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_with_other_columns_are_put_together_by_name(here: Path, kind: str) -> None:
    (here / "in").mkdir()
    for name, columns in (("a", {"id": [1], "v": [2]}), ("b", {"w": ["x"], "id": [2]})):
        if kind == "csv":
            row = ",".join(str(value[0]) for value in columns.values())
            (here / f"in/{name}.csv").write_text(f"{','.join(columns)}\n{row}\n")
        else:
            pq.write_table(pa.table(columns), here / f"in/{name}.parquet")
    found = json.loads(run("in", "--json").output)
    assert [column["name"] for column in found["columns"]] == ["id", "v", "w"]
    assert Config.from_file(here / "in.yaml").spec("source").get("files") == {"union": "by_name"}
    assert loads("in.yaml") == 2


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_an_encoding_is_guessed_and_that_is_told(here: Path, encoding: str) -> None:
    (here / "t.csv").write_bytes("id,nm\n1,é\n".encode(encoding))
    assert f"encoding {encoding} is a guess" in run("t.csv").output
    config = Config.from_file(here / "t.yaml")
    assert config.spec("source").get("encoding") == encoding
    assert loads("t.yaml") == 1


def test_files_that_are_left_out_are_told(here: Path) -> None:
    (here / "in").mkdir()
    (here / "in/a.csv").write_text("id\n1\n")
    pq.write_table(pa.table({"id": [1]}), here / "in/b.parquet")
    found = json.loads(run("in", "--json").output)
    assert found["warnings"] == ["only .parquet files are read, not a.csv"]
    assert "# Look at this: only .parquet files are read, not a.csv" in (here / "in.yaml").read_text()


def test_no_type_is_drawn_from_no_row(here: Path) -> None:
    (here / "t.csv").write_text("id,v\n")
    run("t.csv")
    assert Config.from_file(here / "t.yaml").spec("source").get("columns") is None
    (here / "t.csv").write_text("id,v\n1,2\n")
    assert loads("t.yaml") == 1
