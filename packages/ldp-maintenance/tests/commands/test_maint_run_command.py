"""``ldp maintain`` and ``ldp health``: what is printed where, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ldp_cli.main import main
from ldp_core.events.jsonl import read
from ldp_maintenance.testing import builders, looks

Ldp = Callable[..., tuple[int, str, str]]
SQL = ("--uri", "sqlite:///catalog.db", "--warehouse", "warehouse", "--catalog", "test")


@pytest.fixture
def ldp(capsys: pytest.CaptureFixture[str]) -> Ldp:
    """Runs a command line: its exit code and what it printed."""

    def run(*args: str) -> tuple[int, str, str]:
        code = main([*args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def rides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ldp: Ldp) -> Path:
    """A folder with ``c.json``, whose table ``nyc.rides`` was loaded three times."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("ride_id,fare\n1,5.5\n2,7.5\n")
    catalog = {"identifier": "nyc", "warehouse_path": "wh"}
    metadata: dict[str, Any] = {
        "source": {"name": "rides", "format": "CSV", "path": "r.csv"},
        "target": {"name": "rides", "format": "ICEBERG", "write_mode": "append", "catalog": catalog},
    }
    (tmp_path / "c.json").write_text(json.dumps({"identifier": "rides", "metadata": metadata}))
    for _ in range(3):
        assert ldp("run", "c.json")[0] == 0
    return tmp_path


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalog with ``db.one`` and ``db.two``, three small files each; the folder is worked in."""
    monkeypatch.chdir(tmp_path)
    catalog = builders.catalog(tmp_path)
    for name in ("one", "two"):
        builders.small_files(builders.table(catalog, name), 3)
    return tmp_path


def _rows(folder: Path) -> int:
    found = (folder / ".ldp" / "events.jsonl").exists()
    return len(list(read(folder / ".ldp" / "events.jsonl"))) if found else 0


def test_a_preview_says_what_it_would_do_and_does_nothing(rides: Path, ldp: Ldp) -> None:
    code, out, err = ldp("maintain", "c.json")
    assert code == 0
    assert out.startswith("Maintenance of Iceberg table nyc.rides (dry run)\n")
    assert "rewrite-data-files       to do\n" in out
    assert err == "nothing was changed; --yes commits it\n"
    assert not (rides / ".ldp").exists()
    assert ldp("maintain", "run", "c.json")[1].splitlines()[0] == out.splitlines()[0]


@pytest.mark.parametrize("flag", ["--yes", "--apply"])
def test_committing_tells_one_event_and_the_next_run_does_nothing(rides: Path, ldp: Ldp, flag: str) -> None:
    code, out, err = ldp("maintain", "c.json", flag, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert list(found)[:5] == ["table", "dry_run", "operations", "before", "after"]
    assert (found["before"]["data_files"], found["after"]["data_files"]) == (3, 1)
    events = list(read(rides / ".ldp" / "events.jsonl"))
    assert [event["type"] for event in events] == ["table.maintained"]
    payload = events[0]["payload"]
    assert (payload["operation"], payload["pipeline"], payload["table"]) == ("maintain", "rides", "nyc.rides")
    assert {one["operation"] for one in payload["operations"]} == {"rewrite-data-files", "rewrite-manifests"}
    assert payload["snapshots"] == [
        item for one in found["operations"] for item in one.get("snapshot_ids", [])
    ]
    again = json.loads(ldp("maintain", "c.json", flag, "--json")[1])
    assert {one["status"] for one in again["operations"]} <= {"nothing", "skipped"}
    assert len(list(read(rides / ".ldp" / "events.jsonl"))) == 1


def test_expiry_alone_in_the_old_words(rides: Path, ldp: Ldp) -> None:
    words = ("maintain", "c.json", "--expire", "0", "--retain-last", "1")
    code, out, _ = ldp(*words, "--json")
    found = json.loads(out)
    assert (code, found["dry_run"], found["orphans"]) == (0, True, None)
    assert [one["operation"] for one in found["operations"]] == ["expire-snapshots"]
    assert len(found["expire"]["expired_snapshot_ids"]) == 2
    kept = found["expire"]["protected_snapshot_ids"]
    assert {name for name, ids in kept.items() if ids} == {"current", "refs", "retain_last"}
    code, out, _ = ldp(*words, "--apply")
    assert code == 0
    assert out.startswith("Maintenance of Iceberg table nyc.rides (applied)\n")
    assert "expired 2 of 3 snapshots" in out
    lines = [json.loads(line) for line in (rides / ".ldp" / "deleted.jsonl").read_text().splitlines()]
    assert lines
    assert {line["operation"] for line in lines} == {"expire-snapshots"}
    assert not [line for line in lines if Path(line["path"].removeprefix("file://")).exists()]


def test_expiry_and_orphans_alone(rides: Path, ldp: Ldp) -> None:
    stray = rides / "wh" / "nyc" / "rides" / "data" / "00000-0-stray.parquet"
    stray.write_bytes(b"x")
    for flags, ran in (
        (("--orphans",), ["remove-orphans"]),
        (("--orphans", "--expire", "3"), ["expire-snapshots", "remove-orphans"]),
    ):
        found = json.loads(ldp("maintain", "c.json", *flags, "--json")[1])
        assert [one["operation"] for one in found["operations"]] == ran
    assert ldp("maintain", "c.json", "--orphans", "--orphan-age-hours", "0", "--apply")[0] == 0
    assert not stray.exists()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--expire", "-1"), "-1 is not 0 or more"),
        (("--expire", "soon"), "'soon' is not a number"),
        (("--expire", "nan"), "not a finite number"),
        (("--retain-last", "-2"), "-2 is not 0 or more"),
        (("--retain-last", "1.5"), "not a whole number"),
        (("--orphan-age-hours", "-0.5"), "-0.5 is not 0 or more"),
        (("--orphan-age-hours", "inf"), "not a finite number"),
        (("--target-size", "12XB"), "is no size"),
        (("--target-size", "0"), "not above 0"),
        (("--order-by", "a b"), "is no order"),
        (("--order-by", "a, a"), "twice"),
        (("--zorder", "a"), "at least two columns"),
        (("--zorder", "a,a"), "twice"),
        (("--skip-newest", "some"), "not a whole number"),
        (("--jobs", "0"), "not above 0"),
        (("--budget-seconds", "0"), "not above 0"),
        (("--deletes-per-second", "-1"), "not above 0"),
        (("--expire", "1", "--max-snapshot-age-days", "2"), "say the same thing"),
        (("--orphans", "--keep-metadata-versions", "2"), "belongs to the expiry"),
        (("--order-by", "a", "--zorder", "a,b"), "say the same thing"),
        (("--nosuch",), "nosuch"),
        (("other.json",), "unexpected extra argument"),
    ],
)
def test_a_bad_number_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ldp: Ldp, options: tuple[str, ...], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text("{}")
    code, out, err = ldp("maintain", "c.json", *options)
    assert (code, out) == (1, "")
    assert part in err
    assert len(err.splitlines()) == 1


def test_a_mistyped_command(ldp: Ldp) -> None:
    code, _, err = ldp("maintain", "compcat", "c.json")
    assert code == 1
    assert (
        err == "ldp: error: 'compcat' is neither a command nor a table or a config; did you mean compact?\n"
    )


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("rewrite-data-files", "rewrite-data-files"),
        ("compact", "rewrite-data-files"),
        ("evolve-partitions", "evolve-partitions"),
        ("expire-snapshots", "expire-snapshots"),
        ("expire", "expire-snapshots"),
        ("remove-orphans", "remove-orphans"),
        ("remove-dangling-deletes", "remove-dangling-deletes"),
        ("rewrite-manifests", "rewrite-manifests"),
        ("apply-properties", "apply-properties"),
    ],
)
def test_each_operation_is_a_command(lake: Path, ldp: Ldp, name: str, operation: str) -> None:
    code, out, _ = ldp("maintain", name, "db.one", *SQL, "--json")
    found = json.loads(out)
    assert (code, found["table"], found["dry_run"]) == (0, "db.one", True)
    assert [one["operation"] for one in found["operations"]] == [operation]


def test_options_reach_the_operation(lake: Path, ldp: Ldp) -> None:
    table = builders.catalog(lake).load_table("db.one")
    rows = sorted(looks.rows(table))
    words = ("compact", "db.one", *SQL, "--order-by", "id desc", "--target-size", "1MiB", "--yes")
    code, out, err = ldp("maintain", *words)
    assert (code, err) == (0, "")
    assert "3 data files became 1" in out
    table = builders.catalog(lake).load_table("db.one")
    assert sorted(looks.rows(table)) == rows
    assert not (lake / ".ldp").exists()  # no config, so no ledger; and nothing was deleted


def test_every_table_of_a_catalog(lake: Path, ldp: Ldp) -> None:
    code, out, err = ldp("maintain", "--all", *SQL, "--yes", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert [one["table"] for one in found["tables"]] == ["db.one", "db.two"]
    assert [one["after"]["data_files"] for one in found["tables"]] == [1, 1]


def test_a_missing_table_does_not_stop_the_others(lake: Path, ldp: Ldp) -> None:
    data = {"version": 2, "warehouse": "warehouse", "namespaces": {"db": {"tables": {"gone": {}, "two": {}}}}}
    (lake / "t.json").write_text(json.dumps(data))
    code, out, err = ldp("maintain", "--table-config", "t.json", *SQL, "--yes", "--json")
    found = json.loads(out)
    assert code == 1
    assert [one["table"] for one in found["tables"]] == ["db.two"]
    assert found["error"]["code"] == "table_not_found"
    assert found["lost"][0]["table"] == "db.gone"
    assert err == "ldp: error: t.json: table db.gone does not exist in catalog test\n"
    code, out, err = ldp("maintain", "db.gone", *SQL)
    assert (code, out) == (1, "")
    assert err.startswith("ldp: error: table db.gone does not exist in catalog test")


def test_a_safety_abort_has_its_code(lake: Path, ldp: Ldp) -> None:
    catalog = builders.catalog(lake)
    own = catalog.load_table("db.one").location()
    catalog.create_table(("db", "inside"), builders.SCHEMA, location=f"{own}/inside")
    code, out, err = ldp("maintain", "remove-orphans", "db.one", *SQL, "--yes", "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "safety_abort"
    assert err.startswith("ldp: error: db.one: remove-orphans: ")


def test_a_table_of_two_names_loses_no_file_under_either(lake: Path, ldp: Ldp) -> None:
    catalog = builders.catalog(lake)
    two = catalog.load_table("db.two")
    zwei = catalog.register_table("db.zwei", two.metadata_location)
    kept = looks.referenced_files(two)
    words = ("maintain", "expire", "db.two", *SQL, "--max-snapshot-age-days", "0")
    for flags in ((), ("--yes",)):
        code, out, err = ldp(*words, *flags, "--json")
        assert (code, json.loads(out)["error"]["code"]) == (1, "safety_abort")
        assert err.startswith("ldp: error: db.two: expire-snapshots: db.two and db.zwei are two names")
    code, out, _ = ldp("maintain", "--all", *SQL, "--max-snapshot-age-days", "0", "--yes", "--json")
    wrong = {
        (table["table"], one["operation"]): one["error"]["code"]
        for table in json.loads(out)["tables"]
        for one in table["operations"]
        if "error" in one
    }
    deleting = ("expire-snapshots", "remove-orphans")
    assert code == 1
    assert wrong == {(f"db.{name}", one): "safety_abort" for name in ("two", "zwei") for one in deleting}
    assert kept <= looks.files_on_disk(two)
    assert len(looks.rows(zwei)) == 30


def test_a_table_that_cannot_be_told_of_does_not_stop_the_others(lake: Path, ldp: Ldp) -> None:
    table = builders.catalog(lake).load_table("db.one")
    with table.transaction() as change:
        change.set_properties({"ldp.maintenance.min_input_file": "3"})
    code, out, err = ldp("maintain", "--all", *SQL, "--json")
    found = json.loads(out)
    assert code == 1
    assert [one["table"] for one in found["tables"]] == ["db.two"]
    assert "did you mean min_input_files?" in err


def test_an_engine_that_is_not_there(lake: Path, ldp: Ldp) -> None:
    code, out, err = ldp("maintain", "compact", "db.one", *SQL, "--engine", "sprak")
    assert code == 1
    assert "sprak" in err
    assert "refused" in out


def test_progress_is_told_where_it_is_asked_for(lake: Path, ldp: Ldp) -> None:
    code, _, err = ldp("maintain", "compact", "db.one", *SQL, "--progress", "--yes")
    assert code == 0
    assert "rewrite-data-files: " in err


def test_a_budget_is_shared_by_the_tables(lake: Path, ldp: Ldp) -> None:
    code, out, _ = ldp("maintain", "--all", *SQL, "--budget-bytes", "1", "--yes", "--json")
    assert code == 0
    for one in json.loads(out)["tables"]:
        rewrite = next(item for item in one["operations"] if item["operation"] == "rewrite-data-files")
        assert rewrite["status"] == "skipped"


def test_where_there_is_a_budget_most_is_won_first(lake: Path, ldp: Ldp) -> None:
    builders.small_files(builders.catalog(lake).load_table("db.two"), 4, first=100)
    found = json.loads(ldp("maintain", "--all", *SQL, "--budget-seconds", "600", "--json")[1])
    assert [one["table"] for one in found["tables"]] == ["db.two", "db.one"]


def test_health_grades(lake: Path, ldp: Ldp) -> None:
    code, out, _ = ldp("health", "db.one", *SQL)
    assert code == 0
    assert out.startswith("db.one: ")
    assert "rewrite-data-files would win 2 files" in out
    found = json.loads(ldp("maintain", "health", "--all", *SQL, "--json")[1])
    assert [one["table"] for one in found["tables"]] == ["db.one", "db.two"]
    assert ldp("health", "db.gone", *SQL)[0] == 1


def test_engines_from_their_code(ldp: Ldp) -> None:
    found = json.loads(ldp("maintain", "engines", "--json")[1])
    assert found["local"]["rewrite-data-files"]["can"] is True
    assert ldp("maintain", "engines")[1].splitlines()[0].split() == [
        "engine",
        "operation",
        "can",
        "previews",
        "refuses",
    ]
